"""Figures of jobs that wait, from the state as it stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.timers import ELIGIBLE
from wattline.policies.state import ASIDE, CANCELLED, DONE, HELD, OVER, QUEUED, REFUSED, State

if TYPE_CHECKING:
    from wattline.books.books import Books


def waiting_rows(books: Books) -> list[int]:
    """Jobs that wait: those in the queue in its order, then those set aside, then those held."""
    state, rows = books.state, len(books.roll)
    held = np.flatnonzero(state.live.state[:rows] == HELD)
    return [*queued_rows(state), *(int(row) for row in held)]


def queued_rows(state: State) -> list[int]:
    clock = state.clock[0]
    queue = state.queue.job[int(clock.queue_first): int(clock.queue_last)]
    rows = np.concatenate([queue, state.aside.job[: int(clock.aside)]])
    found: list[int] = rows[np.isin(state.live.state[rows], (QUEUED, ASIDE))].tolist()
    return found


def ahead_of(state: State, row: int) -> list[int]:
    """Rows of the jobs that stand before one in the queue."""
    rows = queued_rows(state)
    return rows[: rows.index(row)] if row in rows else []


def added_w(state: State, row: int) -> float:
    """What a job adds to the power of now if it starts at the level of now."""
    return added_each_w(state, [row])[0]


def added_each_w(state: State, rows: Sequence[int]) -> list[float]:
    """The same of several: one after the other takes a hundred times as long."""
    live, clock = state.live[rows], state.clock[0]
    least_w = live["units"] * _least_idle_w(state)
    watts = live["watts"] - _counted_twice_w(state, live)
    found: list[float] = (watts * float(clock.power_factor) - least_w).tolist()
    return found


def left_w(state: State) -> float:
    """What the cap leaves above the power of now; infinite without a cap."""
    return float(state.clock[0].cap_w - state.clock[0].power_w)


def alone_w(state: State, row: int) -> float:
    """What the machine would draw with this job alone on it; units that are down count nothing."""
    kinds = state.kinds
    clock = state.clock[0]
    if len(kinds) > 1:
        down = kinds.idle_w[state.nodes.kind[state.node_down != 0]]
        idle_w = float(np.sum(kinds.idle_w * kinds.count) - np.sum(down))
    else:
        idle_w = float((clock.units - clock.down) * clock.idle_w)
    least_w = state.live[row].units * _least_idle_w(state)
    live = state.live[[row]]
    return idle_w + float(live["watts"][0] - _counted_twice_w(state, live)[0] - least_w)


def _counted_twice_w(state: State, live: Any) -> Any:
    """A job without watts of its own is taken to draw the first class's idle power, and the rise of
    the hungriest above that; on other nodes it draws their idle power instead."""
    beneath_w = float(state.clock[0].idle_w) - _least_idle_w(state)
    return np.where(live["own_watts"] != 0, 0.0, live["units"] * beneath_w)


def _least_idle_w(state: State) -> float:
    return float(np.min(state.kinds.idle_w)) if len(state.kinds) > 1 else float(
        state.clock[0].idle_w)


def before_of(state: State, row: int) -> int | None:
    """The job that a job waits for, where that one is not over."""
    before = int(state.jobs[row].after)
    over = before < 0 or int(state.live[before].state) in (DONE, REFUSED, CANCELLED)
    return None if over else before


def eligible_s(books: Books, row: int) -> float | None:
    """From when on a held job may be queued, where that is known."""
    timers = books.state.timers[: int(books.record.meter[0].timers)]
    mine = timers.time_s[(timers.kind == int(ELIGIBLE)) & (timers.arg == row)]
    return float(mine.min()) if len(mine) else None


def reserving(books: Books) -> list[str]:
    """Names of the reservations that hold now or are to come."""
    return [name for name, row in books.reservations.items()
            if int(books.state.windows[row].stage) != OVER]


def needed_j(books: Books, row: int) -> float:
    """What a job would draw above idle in this period of an energy budget, if it started now."""
    budget: Any = books.policy.admission
    if joules_left(books) is None:
        return 0.0
    period = int(budget.memory.plan[0].period)
    left_s = float(budget.start_s + (period + 1) * budget.length_s) - books.now_s
    return added_w(books.state, row) * min(float(books.state.live[row].requested_s), left_s)


def joules_left(books: Books) -> float | None:
    """What an energy budget has left of this period and promised nobody; None without a budget."""
    plan = getattr(getattr(books.policy.admission, "memory", None), "plan", None)
    if plan is None or "here_j" not in (plan.dtype.names or ()):
        return None
    left_j = float(plan[0].here_j)
    return left_j if math.isfinite(left_j) else None
