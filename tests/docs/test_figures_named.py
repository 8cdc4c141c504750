"""Every figure that a command prints is read by some test, which compares its value."""

from __future__ import annotations

from tests.support.figures import FORMATS, PRINTED, SOURCE, answer_keys, read_in_tests

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
