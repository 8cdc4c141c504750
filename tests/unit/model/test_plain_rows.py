"""Records that Python reads quickly are the records of numpy, under the same memory."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pytest

from wattline.model.kernel import PLAIN
from wattline.model.kernel_arrays import KernelArrays
from wattline.model.plain_rows import Rows, quick_rows
from wattline.model.records import Record, copied


class Place(Record):
    time_s: float
    job: int
    size: int
    """A name that arrays have too; numpy's own do not give it out as a field."""


@pytest.fixture
def both():
    table = Place.table(4)
    table.job = [3, 1, 4, 1]
    table.time_s = 2.5
    return table, quick_rows(table)


def test_values_and_their_types_are_those_of_numpy(both) -> None:
    slow, quick = both
    for at in (0, 3, -1):
        for name in ("time_s", "job", "size"):
            ours, theirs = getattr(quick[at], name), getattr(slow[at], name)
            assert ours == theirs
            assert type(ours) is type(theirs)
    assert type(quick.job) is type(slow.job)
    assert quick.size == slow.size == 4
    np.testing.assert_array_equal(quick[1:3].job, slow[1:3].job)
    assert quick.dtype == slow.dtype


def test_what_is_written_stands_in_the_same_memory(both) -> None:
    slow, quick = both
    quick[2].job = 9.75  # cut off, as numpy does
    quick[0].time_s += 1
    quick[3] = quick[2]
    quick[:2].job = 7
    assert slow.job.tolist() == [7, 7, 9, 9]
    assert slow.time_s.tolist() == [3.5, 2.5, 2.5, 2.5]


def test_a_wrong_name_or_place_is_an_error(both) -> None:
    for table in both:
        with pytest.raises(AttributeError, match="jbo"):
            table[0].jbo = 1
        with pytest.raises(AttributeError, match="jbo"):
            _ = table[0].jbo
        with pytest.raises(AttributeError, match="jbo"):
            _ = table.jbo
        with pytest.raises(IndexError, match="out of bounds"):
            _ = table[4].job


@pytest.mark.parametrize("place", [2, -2, np.int64(2), np.array(2), (2,)])
def test_a_row_is_a_view_by_whatever_it_was_found(both, place) -> None:
    slow, quick = both
    before = quick[place]
    quick[2].job = 11
    slow[2].time_s = 8.5
    assert (before.job, before.time_s) == (11, 8.5)
    before.job = 12
    assert slow[2].job == 12


def test_rows_of_parts_and_copies_are_not_those_of_the_whole(both) -> None:
    _, quick = both
    assert quick[0].job == 3
    part, copy = quick[1:], quick.copy()
    part[0].job = 20
    copy[0].job = 30
    assert [row.job for row in quick] == [3, 20, 4, 1]
    assert copy[0].job == 30
    assert quick.job.tolist() == [3, 20, 4, 1]
    assert copy.job.tolist() == [30, 1, 4, 1]


def test_a_row_does_what_a_record_of_numpys_does(both) -> None:
    slow, quick = both
    for at in range(4):
        assert tuple(quick[at]) == tuple(slow[at])
        assert quick[at]["job"] == slow[at]["job"]
        assert len(quick[at]) == len(slow[at]) == 3
        assert quick[at].item() == slow[at].item()
        assert quick[at] == slow[at]
        assert quick[at] == quick[at].copy()
    assert quick[0] != quick[1]
    quick[1]["job"] = 15
    assert slow[1].job == 15
    slow[3] = quick[0].record()
    assert slow[3] == quick[0]
    slow[1:3] = quick[0]
    assert slow.job.tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("made", [
    lambda quick: quick, lambda quick: quick.copy(), lambda quick: quick[1:],
    lambda quick: quick[quick.job >= 0], lambda quick: quick_rows(quick.copy()),
    lambda quick: quick_rows(quick[1:]), copied])
def test_rows_that_nobody_needs_any_more_are_given_back(made) -> None:
    gone = []
    rows = made(quick_rows(Place.table(4)))
    rows[0].job = 3
    assert (rows[0].job, rows.job[0]) == (3, 3)
    weakref.finalize(rows, gone.append, True)
    del rows
    assert gone == [True]


def test_rows_for_kernels_keep_their_handles_and_columns(both) -> None:
    _, quick = both
    for rows in (quick, quick_rows(quick.copy()), quick_rows(quick[1:]), copied(quick)):
        assert rows[1] is rows[np.int64(1)]
        assert rows.job is rows.job


def test_copies_and_parts_stay_quick_and_another_process_gets_numpys(both) -> None:
    slow, quick = both
    assert type(quick.copy()[0]) is type(quick[1:][0]) is type(quick[0])
    sent = pickle.loads(pickle.dumps(quick))
    assert isinstance(sent, np.recarray)
    assert type(sent[0]) is np.record
    assert sent.tolist() == slow.tolist()


def test_arrays_without_fields_stay_as_they_are() -> None:
    array = np.zeros(3)
    assert quick_rows(array) is array


def test_plain_kernels_get_quick_rows_and_compiled_ones_numpys() -> None:
    class Pair(KernelArrays):
        FIELDS = ("places", "counts")

    pair = Pair(places=Place.table(2), counts=np.zeros(2))
    assert isinstance(pair.places, Rows) == PLAIN
    assert not isinstance(pair.counts, Rows)
