"""A policy that waits for the time to pass is called at the earliest time that it asked for."""

from __future__ import annotations

from tests.support.workloads import compose

from wattline.books import Books, Submitted, Terms
from wattline.model.machine import Machine
from wattline.policies.admission.ramp import wake_up


def test_the_earliest_call_that_was_asked_for_counts_until_it_is_over() -> None:
    """At 0 s calls at 50, 30 and 40 s are asked for: the one at 30 s is kept. At 30 s it is over,
    and the next one counts, however late."""
    books = Books.open(Machine.uniform(4), compose(), Terms())
    books.step(0, [Submitted("a", 1, 10.0)])
    clock = books.state.clock[0]
    asked_s = []
    for time_s in (50.0, 30.0, 40.0):
        wake_up(books.state, time_s, -1)
        asked_s.append(float(clock.wake_s))
    assert asked_s == [50.0, 30.0, 30.0]
    assert int(clock.actions) == 2
    clock.now_s = 30.0
    wake_up(books.state, 60.0, -1)
    assert float(clock.wake_s) == 60.0
