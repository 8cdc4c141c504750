"""Whether books leave a job waiting that could start."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.books import Books, CapChanged, Ended, Measured
from wattline.policies.contract import holds
from wattline.policies.state import ASIDE, QUEUED

MOST_STEPS = 2_000


def stuck(books: Books, cap_w: float = np.inf, planned_s: float = -np.inf) -> list[str]:
    """Jobs that wait for ever: under the highest cap, whoever fits on nodes in order has to start.

    Up to `planned_s` steps of the cap are planned, for which a policy may let jobs wait; they are
    over when somebody says so, and these books have nobody else to do it.

    Whatever runs is ended again and again until nothing does and no timer is left. Jobs that the
    policy holds because it never has room for them (`holds`) do not count. Nor is anything said
    where nodes are out of order and placement finds none for a job among the others, as where those
    have no watts: whoever is behind it may have to wait with it. The books are used up by it: give
    a copy.
    """
    free_since_s = books.now_s
    events: list[Any] = [CapChanged(cap_w), Measured(0.0)]
    for _ in range(MOST_STEPS):
        running = books.state.running[: books.state.clock[0].running]
        if not len(running) and not events and books.next_s() == np.inf:
            if books.now_s >= planned_s:
                break
            books.step(planned_s, [CapChanged(cap_w)])
            continue
        ends = [Ended(books.roll.key(int(row))) for row in running]
        wait_s = 1.0 if len(running) or events else max(books.next_s() - books.now_s, 0.0)
        books.step(books.now_s + wait_s, [*ends, *events])
        if ends:
            free_since_s = books.now_s
        events = []
    else:
        return ["there is no end of it"]
    clock, live = books.state.clock[0], books.state.live[: len(books.roll)]
    left = clock.units - clock.down - clock.down_owed - clock.reserved
    waiting = np.isin(live.state, (QUEUED, ASIDE)) & (live.units <= left)
    if left < clock.units and (live.unplaced_s[waiting] >= free_since_s).any():
        return []
    return [f"job {books.roll.key(row)} waits for ever" for row in np.flatnonzero(waiting).tolist()
            if live.state[row] == QUEUED or not holds(books.state, books.policy.admission, row)]
