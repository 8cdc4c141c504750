"""Watts that backfill keeps for planned jobs: the sums beside them are those of all plans."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shared import machine, requests

from wattline.model.signal import Signal
from wattline.shared_nodes.cap import _sum_held, cap_allows, hold_watts
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import Rules


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_plans_are_those_added_up_one_by_one(seed: int) -> None:
    draw = np.random.default_rng(seed)
    on = machine(2)
    cap = Signal(np.array([0.0]), np.array([1000.0]), "W")
    books = make_books(on, requests(on, {"tasks": 1}), Rules(), cap, None, 0.0)
    rows: list[tuple[float, float, float]] = []
    for row in range(30):
        begin_s = float(draw.integers(1, 20))
        plan = (begin_s, begin_s + float(draw.integers(0, 9)), float(draw.integers(1, 50)))
        hold_watts(books, row, *plan)
        rows.append(plan)
        if row % (1 + seed % 4) != 0:
            continue  # several plans are made before their sums are asked for
        _sum_held(books, row + 1)
        for at, (time_s, _, _) in enumerate(rows):
            held_w = sum(watts for begin, end, watts in rows if begin <= time_s < end)
            assert books.held_sum[at] == held_w


@pytest.mark.parametrize("room_w", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("begins_s", [0.0, 300.0, 599.0])
def test_a_plan_that_leaves_no_room_keeps_a_job_from_starting(
    room_w: float, begins_s: float
) -> None:
    """Two idle nodes of 100 W, a job of one CPU of 10 W, and plans of 20 W and 30 W at once."""
    on = machine(2)
    cap = Signal(np.array([0.0]), np.array([260.0 + room_w]), "W")
    books = make_books(on, requests(on, {"tasks": 1}), Rules(), cap, None, 0.0)
    hold_watts(books, 0, begins_s, 2000.0, 20.0)
    hold_watts(books, 1, begins_s, 1000.0, 30.0)
    books.clock[0].picked = 1
    books.pick[0], books.pick_cpus[0] = 0, 1
    assert cap_allows(books, 0, 0.0, 2, 0.0, 0) == (room_w >= 0.0)
    assert cap_allows(books, 0, 0.0, 0, 0.0, 0)
