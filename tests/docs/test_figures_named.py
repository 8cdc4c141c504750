"""Every figure that a command prints is read by some test, which compares its value."""

from __future__ import annotations

import pytest
from tests.support.figures import (
    FORMATS,
    PRINTED,
    SOURCE,
    answer_keys,
    columns_in_tests,
    read_in_tests,
    table_columns,
)
from tests.support.printed import columns

ECHOES = {
    "a scenario": "of a search: the scenario that was given",
    "a seed of the search": "of a search: the seed that was given",
    "constraints": "of a search: those that were given",
    "prune": "of a search: whether to, as given",
    "base_power_w": "of a node: what was given",
    "cap_w_min": "of a device: what was given",
    "lease": "of a site: what was given",
    "mosquitto_conf": "the name of a file",
    "planned_on": "words for the hours that were given",
    "priors": "what was learned, as the file has it that the tests read",
    "put_in": "faults of emulated meters, as given",
    "read_only": "of a key: as declared",
    "skeleton": "whether to leave colours out, as given",
    "statement": "the sentence of a rule",
    "unknown_jobs": "names of jobs, as given",
}
"""Keys that repeat what was given, or name a thing: there is no value to work out."""

NAMES = {
    "example": "the name of a file; those that are shipped are compared elsewhere",
    "what it shows": "the first line of an example, as its file has it",
    "benchmark": "the name of a benchmark",
    "what it measures": "the sentence of a benchmark",
    "what it does": "the sentence of a policy or a placement",
    "what is done": "the sentence of a rule",
    "what it is": "the sentence of a net",
}
"""Columns of names and sentences: there is no value to work out."""
UNREAD = frozenset({
    "90 %", "90 % from", "95 %", "EDP kJs", "EDP x", "GHz", "Gbit/s each", "Gbit/s in all",
    "J lost / million exchanges", "Level-Spread against", "MB", "MPI", "P W", "Q without contract",
    "R W", "Slurm", "Slurm is off", "W claimed", "W/node by request", "a log of Mira",
    "above cap s", "against", "against equal nodes", "assigned", "average W",
    "bandwidth of canaries over that alone", "baselines", "begins", "below by %",
    "below traditional %", "best is faster by", "best time s", "bias", "bias put in", "bidding",
    "bound", "bound W", "bound finds a bid", "bounds", "busy us", "by bound from", "candidate",
    "cap kW", "carbon t", "cases", "channel", "claimed J", "claimed s", "claims off",
    "collectives", "cost (older node = 1)", "cost, published", "counts", "coverage", "daemon",
    "day", "decided", "difference", "directed", "domain", "done later", "drawn", "effective",
    "efficient least in", "efficient lowest in", "energy GJ", "energy J", "energy kJ",
    "energy off", "energy ratio", "entities", "entity", "error of", "factor", "first at",
    "first values", "found", "from", "gain", "gaps", "groups", "hot spots", "hours", "how much",
    "idle to come", "inside groups", "its code", "its large jobs", "its mean (%)", "jobs left out",
    "kJ per job", "killed", "kind", "lag", "lag put in", "large errors", "large jobs",
    "largest gain %", "largest loss %", "largest mean of a bound", "largest with signs",
    "latest submission, s", "left", "load", "load J", "makespan", "makespan s", "mean Q",
    "mean error", "mean stretch", "mean wait", "mean wait, s", "measured J", "measured s",
    "median, s", "meets all", "met (95 %)", "metered", "meters", "method", "metric",
    "miniMD: low-traffic-router better than", "most tokens", "needs", "needs in this period",
    "net", "never run", "node hours", "node-seconds left out (%)", "nodes of the congestor",
    "noise", "noise put in", "of", "of node-seconds (%)", "of peak", "of the log", "on gpn",
    "on lpn", "other hours met (95 %)", "our run (s)", "over", "over budget", "over packed-max",
    "own links us", "own schedule (%)", "p25", "p90, s", "parameter", "parent", "part", "pattern",
    "peak kW", "period", "policy", "power W", "power policy", "power read once a step (%)",
    "power: median", "probability", "promised", "published (%)", "published (min)", "published on",
    "quality", "quantity", "reading", "reduction of communication time", "remark", "reserve W",
    "residual", "role", "runs longer", "runs, least", "runs, most", "saving",
    "saving there (95 %)", "saving where met", "send/recv", "sensitive", "sensor", "set-up",
    "setting", "share lost", "slowdown", "small jobs", "source", "started", "starts kept (%)",
    "starts of the same job", "starts within", "state", "std of the hour", "step", "step (min)",
    "stretch", "synchronizing", "threshold", "thresholds inferred x", "time off", "time s",
    "time us", "time: median", "to", "tokens", "trained on", "turnaround", "turnaround s", "twin",
    "two jobs, two nodes", "type", "under by > 10 %", "under cap from s", "unfinished", "until",
    "usage", "use", "used", "utilisation x", "value", "variant", "verdict", "violations",
    "wait ratio", "wait x", "waits for", "waits longer", "watts for each", "weights", "what",
    "what fails", "where", "while capped", "why", "worst mean Q", "worst under", "x hops",
})
"""Columns that no test reads yet: a new column is no member, and one that is read leaves."""


def test_every_figure_of_an_answer_is_compared_in_some_test() -> None:
    """A figure that no test reads can be wrong for years: `reduction_w` had its sign unguarded."""
    read = read_in_tests()
    unread = {key: sorted(files) for key, files in answer_keys().items()
              if key not in read and key not in ECHOES}
    assert unread == {}


def test_what_needs_no_comparison_is_still_printed_and_still_not_compared() -> None:
    """A key that is gone, or is compared by now, leaves the list."""
    declared, read = answer_keys(), read_in_tests()
    assert {key for key in ECHOES if key not in declared or key in read} == set()


def test_every_column_of_a_printed_table_is_compared_in_some_test() -> None:
    """A cell may be of another row, unit or sign than its heading says, as a key's value may."""
    read = columns_in_tests()
    unread = {heading: sorted(files) for heading, files in table_columns().items()
              if heading not in read and heading not in NAMES and heading not in UNREAD}
    assert unread == {}


def test_columns_of_the_lists_are_still_printed_and_still_not_compared() -> None:
    printed, read = table_columns(), columns_in_tests()
    assert {each for each in (*NAMES, *UNREAD) if each not in printed or each in read} == set()


def test_files_and_classes_of_the_lists_are_there() -> None:
    names = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    assert [each for each in FORMATS if not any(name.startswith(each) for name in names)] == []
    for file, classes in PRINTED.items():
        text = (SOURCE / file).read_text(encoding="utf-8")
        assert [each for each in classes if f"class {each}" not in text] == []


def test_a_value_is_read_where_it_is_taken_or_expected_and_not_where_it_is_only_there() -> None:
    """This text reads one figure of each way, and of another it only asks whether it is there."""
    found = {"one_j": 1, "two_j": 2, "three_j": 3, "four_j": 4}
    assert found["one_j"] == 1
    assert {name: found[name] for name in ("two_j", "three_j")} == {"two_j": 2, "three_j": 3}
    assert "four_j" in found
    read = read_in_tests()
    assert {"one_j", "two_j", "three_j"} <= read
    assert "four" + "_j" not in read


def test_a_column_is_read_with_its_cells_and_not_by_its_heading_or_by_a_key_of_its_name() -> None:
    """Of these columns one is asked for, one stands in a line, one is sought, one is a key."""
    text = "mean one  mean two\n--------  --------\n       1  2\n"
    found = {"mean four": 4}
    assert columns(text, "mean one") == [("1",)]
    assert text.splitlines() == ["mean one  mean two", "--------  --------", "       1  2"]
    assert "mean three" not in text
    assert found["mean four"] == 4
    assert found == {"mean four": 4}
    read = columns_in_tests()
    assert {f"mean {each}" for each in ("one", "two", "three", "four")} & read == {
        f"mean {each}" for each in ("one", "two")}


def test_a_repeated_heading_means_its_columns_in_turn_and_each_cell_its_own_column() -> None:
    text = ("said before\n\nname  off   J  off\n----  ---  --  ---\n"
            "a b     1  20\nc       2   3   -1\nsaid after that\n")
    assert columns(text, "off", "name", "off") == [("1", "a b", ""), ("2", "c", "-1")]
    assert columns(text, "J") == [("20",), ("3",)]
    with pytest.raises(AssertionError, match="no printed table has the columns"):
        columns(text, "J", "J")
