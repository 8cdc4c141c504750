"""Every figure that a command prints is read by some test, which compares its value."""

from __future__ import annotations

from types import SimpleNamespace

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
              if heading not in read and heading not in NAMES}
    assert unread == {}


def test_columns_of_names_are_still_printed_and_still_not_compared() -> None:
    printed, read = table_columns(), columns_in_tests()
    assert {each for each in NAMES if each not in printed or each in read} == set()


def test_files_and_classes_of_the_lists_are_there() -> None:
    names = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    assert [each for each in FORMATS if not any(name.startswith(each) for name in names)] == []
    for file, classes in PRINTED.items():
        text = (SOURCE / file).read_text(encoding="utf-8")
        assert [each for each in classes if f"class {each}" not in text] == []


def test_a_value_is_read_where_it_is_taken_or_expected_and_not_where_it_is_only_there() -> None:
    """This text reads one figure of each way; one it asks for, and one it compares with none."""
    found = {"one_j": 1, "two_j": 2, "three_j": 3, "four_j": 4}
    assert found["one_j"] == 1
    assert {name: found[name] for name in ("two_j", "three_j")} == {"two_j": 2, "three_j": 3}
    assert "four_j" in found
    given = SimpleNamespace(five_j=5).five_j
    assert given == 5
    str(SimpleNamespace(six_j=6).six_j)
    read = read_in_tests()
    assert {f"{each}_j" for each in ("one", "two", "three", "four", "five", "six")} - read == {
        f"{each}_j" for each in ("four", "six")}


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
