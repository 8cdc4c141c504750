"""Figures of jobs that wait, from the state as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.timers import ELIGIBLE
from wattline.policies.state import ASIDE, CANCELLED, DONE, HELD, OVER, QUEUED, REFUSED, State

if TYPE_CHECKING:
    from wattline.books.books import Books
    from wattline.books.energy_budget import BudgetNow


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
    """Return the power that a job adds to that of now if it starts at the level of now; 0 where it
    draws less than its units idle, which they do again after it."""
    return added_each_w(state, [row])[0]


def added_each_w(state: State, rows: Sequence[int]) -> list[float]:
    """The same of several: one after the other takes a hundred times as long."""
    live, clock = state.live[rows], state.clock[0]
    idle_w, watts = _on_its_units_w(state, live)
    above_w = watts * float(clock.power_factor) - idle_w
    found: list[float] = np.maximum(above_w, 0.0).tolist()
    return found


def left_w(state: State) -> float:
    """Return the power that the cap leaves above what is spoken for; infinite without a cap."""
    clock = state.clock[0]
    return float(clock.cap_w - (clock.power_w + clock.below_idle_w))


def alone_w(state: State, row: int) -> float:
    """What the machine would draw with this job alone on it; units that are down count nothing."""
    kinds = state.kinds
    clock = state.clock[0]
    if len(kinds) > 1:
        down = kinds.idle_w[state.nodes.kind[state.node_down != 0]]
        idle_w = float(np.sum(kinds.idle_w * kinds.count) - np.sum(down))
    else:
        idle_w = float((clock.units - clock.down) * clock.idle_w)
    beneath_w, watts = _on_its_units_w(state, state.live[[row]])
    return idle_w + max(float(watts[0] - beneath_w[0]), 0.0)


def _on_its_units_w(state: State, live: Any) -> tuple[Any, Any]:
    """Idle power of the units that jobs would get, and what they draw there at full speed."""
    if len(state.kinds) > 1:
        return live["idle_w"], live["idle_w"] + live["rise_w"]
    return live["units"] * float(state.clock[0].idle_w), live["watts"]


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


def needed_j(books: Books, row: int, now: BudgetNow) -> float:
    """What a job would draw above idle in this period of an energy budget, if it started now."""
    left_s = min(float(books.state.live[row].requested_s), now.end_s - now.at_s)
    return added_w(books.state, row) * left_s
