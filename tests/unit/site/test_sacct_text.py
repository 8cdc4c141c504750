"""Records of `sacct --parsable2`: put together where names have broken them, never guessed."""

import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.site.sacct_text import read_records

HEAD = "JobID|JobName|Submit|State|NNodes\n"


def names(text, columns=()):
    return [row["JobName"] for _, row in read_records(text, "dump", columns).rows]


def test_a_record_over_several_lines_is_one():
    text = HEAD + "1|a\nb\n\nc|2024-01-01T00:00:00|COMPLETED|1\n2|d|2024-01-01T00:00:00|FAILED|1\n"
    assert names(text) == ["a\nb\n\nc", "d"]


def test_a_record_that_never_ends_costs_itself_alone():
    text = HEAD + "1|a\n2|b|2024-01-01T00:00:00|COMPLETED|1\n"
    found = read_records(text, "dump")
    assert ([row["JobID"] for _, row in found.rows], found.unreadable) == (["2"], (2,))


def test_a_bar_in_a_name_stays_in_the_name():
    assert names(HEAD + "1|a|b|2024-01-01T00:00:00|CANCELLED by 7|1\n") == ["a|b"]


@pytest.mark.parametrize("end", ["", "|"])
def test_columns_can_be_given_and_lines_may_end_in_a_bar(end):
    text = f"1|a|2024-01-01T00:00:00|COMPLETED|1{end}\n"
    assert names(text, HEAD.strip().split("|")) == ["a"]


def test_a_file_that_is_cut_off_is_refused():
    whole = HEAD + "1|a|2024-01-01T00:00:00|COMPLETED|1\n2|b|2024-01-01T00:00:00|COMPL"
    with pytest.raises(InputError, match="cut off: its last line has 4 of 5"):
        read_records(whole, "dump")


def test_of_a_public_dump_only_a_record_without_its_beginning_is_lost():
    found = read_records(shared("fixtures/slurm/sacct_dump2101.log").read_text(), "dump")
    assert (len(found.rows), found.unreadable) == (14, (16,))
    assert {row["JobName"] for _, row in found.rows} >= {"Job| Name |003", "Jo| bNa| me003"}


WHOLE = "9|ok|2024-01-01T00:00:00|COMPLETED|1\n"


@pytest.mark.parametrize("name", ["x\n" + WHOLE, "x\n" + WHOLE + "y\nz", "x\n" + 3 * WHOLE + "7"])
def test_a_record_that_a_name_holds_is_no_record(name):
    text = HEAD + f"1|{name}|2024-01-01T00:00:00|COMPLETED|1\n2|d|2024-01-01T00:00:00|FAILED|1\n"
    found = read_records(text, "dump")
    assert [row["JobID"] for _, row in found.rows] == ["1", "2"]
    assert found.inside == tuple(range(3, 3 + name.count("9|ok")))
    assert (found.unreadable, found.doubtful) == ((), ())


def test_records_after_one_that_never_ends_are_kept_and_doubtful():
    found = read_records(HEAD + "1|a\n" + 60 * WHOLE + "5|x\ny|2024-01-01T00:00:00|FAILED|1\n",
                         "dump")
    assert (len(found.rows), found.unreadable) == (61, (2,))
    assert found.rows[-1][1]["JobName"] == "x\ny"
    assert found.doubtful == tuple(range(3, 52))
    text = HEAD + "rest|1\n" + WHOLE + "5|x\ny|2024-01-01T00:00:00|FAILED|1\n"
    again = read_records(text, "dump")
    assert [row["JobID"] for _, row in again.rows] == ["9", "5"]
