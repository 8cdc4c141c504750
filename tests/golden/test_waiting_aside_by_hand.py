"""WAIT: jobs that a cap has no room for step aside, worked out by hand.

Four nodes under 800 W: two of them may be busy. A job that draws no more than its idle node, 100 W,
always has room.
"""

from __future__ import annotations

import pytest

from tests.golden.lab import play, spans, table
from tests.support.workloads import compose
from wattline.model.signal import Signal
from wattline.policies.admission.wait import Wait


def starts(wait: Wait, *rows: tuple, power_w: list[float]) -> list[float]:
    run = play(table(*rows, power_w=power_w), compose(admission=wait),
               cap_w=Signal.constant(800.0, "W"))
    return [start_s for start_s, _ in spans(run)]


@pytest.mark.parametrize(("slots", "last_s"), [(1, 10), (2, 3)])
def test_so_many_may_wait_aside_and_the_next_stops_all_behind_it(slots: int, last_s: float) -> None:
    """A has the watts until 10. B and C, of 300 W, find none; D would have room at once."""
    found = starts(Wait(1000.0, slots), (0, 2, 10), (1, 1, 5), (2, 1, 5), (3, 1, 5),
                   power_w=[600.0, 300.0, 300.0, 100.0])
    assert found == [0, 10, 10, last_s]


@pytest.mark.parametrize(("submit_s", "start_s"), [(4, 4), (5, 5), (6, 10)])
def test_a_job_that_waited_aside_for_longer_than_it_may_lets_nobody_pass(
    submit_s: float, start_s: float
) -> None:
    """B steps aside at 1 and may wait there for four seconds: from then on it blocks all."""
    found = starts(Wait(4.0, 3), (0, 2, 10), (1, 1, 5), (submit_s, 1, 2),
                   power_w=[600.0, 300.0, 100.0])
    assert found == [0, 10, start_s]
