"""The nodes that stay open for the next job that asks for the same are those of a new look."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import TIMES, costing
from tests.support.shared import machine, requests
from tests.support.shared_busy import busy_columns
from tests.support.shared_slowly import hold_picked as hold_and_forget

from wattline.model.kernel import PLAIN
from wattline.shared_nodes import backfill
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.spans import add_span, clear_spans, hold_picked, mask_free_nodes

SEEDS = range(14) if TIMES > 1 else (3, 4, 6)
"""Cases before a commit keep nodes open, from none to eight of them."""


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@costing(60)
@given(seed=st.integers(0, 100_000))
def test_a_new_look_for_every_job_gives_the_same_schedule(seed: int) -> None:
    wanted = busy_columns(seed, alike=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backfill, "hold_picked", hold_and_forget)
        assert busy_columns(seed, alike=True) == wanted


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
def test_open_nodes_are_kept_as_they_are_found_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    reserve = backfill._reserve
    kept_nodes = []

    def reserve_and_look(books: Any, entry: int) -> int:
        result = reserve(books, entry)
        clock = books.clock[0]
        kept_for = clock.open_ask
        if kept_for >= 0:
            kept = _open(books)
            mask_free_nodes(books, entry, clock.open_from_s)
            assert kept == _open(books)
            clock.open_ask = kept_for
            kept_nodes.append(len(kept[0]))
        return int(result)

    wanted = [busy_columns(seed, alike=True) for seed in SEEDS]
    monkeypatch.setattr(backfill, "_reserve", reserve_and_look)
    assert [busy_columns(seed, alike=True) for seed in SEEDS] == wanted
    assert len(kept_nodes) > 100
    assert len(set(kept_nodes)) > 4


@pytest.mark.skipif(not PLAIN, reason="parts of kernels are called")
@pytest.mark.parametrize(("begin_s", "end_s", "kept", "still_open"), [
    (20.0, 60.0, True, False),  # while the next job would run
    (61.0, 90.0, True, True),  # after it: the node is free again sooner than was known
    (61.0, 100.0, True, True),  # up to when it is held anyway
    (200.0, 260.0, False, True),  # from then on: it said when to try again, and no longer does
])
def test_a_picked_node_is_held_beside_what_it_was_held_for(
    begin_s: float, end_s: float, kept: bool, still_open: bool,
) -> None:
    on = machine(2, cpus=4)
    books = make_books(on, requests(on, {"limit_s": 60.0}), Rules(), None, None, 0.0)
    clock = books.clock[0]
    clear_spans(books)
    add_span(books, 1, 100.0, 200.0)
    mask_free_nodes(books, 0, 0.0)
    assert _open(books) == ([0, 1], [0, 1], 200.0)
    clock.open_ask, clock.picked, books.pick[0] = 0, 1, 1
    hold_picked(books, begin_s, end_s)
    assert bool(clock.open_ask == 0) == kept
    found = _open(books)
    assert found[0] == ([0, 1] if still_open else [0])
    mask_free_nodes(books, 0, 0.0)
    assert (found == _open(books)) == kept


def _open(books: Any) -> tuple[list[int], list[int], float]:
    """The open nodes as a list and as a mask, and when the next one comes free."""
    clock = books.clock[0]
    return (books.open_nodes[: clock.masked].tolist(), books.mask.nonzero()[0].tolist(),
            float(clock.open_next_s))
