"""Another policy from now on: what waits is ordered anew, what runs goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wattline.books.keeping import power_up
from wattline.model.errors import InputError
from wattline.policies.contract import (
    Composition,
    cycle_s,
    least_factor,
    never_configured,
    never_placed,
    occupied,
    refuses,
)
from wattline.policies.memory import bound
from wattline.policies.placement.counted import Counted
from wattline.policies.queue import enqueue
from wattline.policies.state import ASIDE, PLAN_STALE, QUEUED, REFUSED, State

if TYPE_CHECKING:
    from wattline.books.books import Books


def under(books: Books, policy: Composition) -> Books:
    """A copy of the books in which this policy decides."""
    if books.state.nodes.size and isinstance(policy.placement, Counted):
        raise InputError("these books know which nodes jobs are on; a policy that only counts "
                         "units cannot go on with them")
    if not books.state.nodes.size and not isinstance(policy.placement, Counted):
        raise InputError("these books do not know which nodes jobs are on; a policy that chooses "
                         "nodes cannot go on with them")
    other = books.copy()
    state = other.state
    other.policy = bound(policy.narrowed(len(state.windows)), len(state.jobs))
    if other.roll.jobs:
        other.annotate_all()
    _forget_plans(state)
    state.clock[0].least_factor = least_factor(state, other.policy.admission)
    for row in state.running[: state.clock[0].running]:
        state.live[row].config = 0
        occupied(state, other.policy.placement, int(row))
    for row in np.flatnonzero(np.isin(state.live.state, (QUEUED, ASIDE))):
        _as_submitted(state, int(row))
        if _never_starts(state, other.policy, int(row)):
            state.live[row].state = REFUSED
            other.record.meter[0].done += 1
        else:
            enqueue(state, other.policy, int(row))
    if state.clock[0].off > 0:  # the next policy may not know how to switch them on
        power_up(state, other.record, int(state.clock[0].off))
    period_s = cycle_s(state, other.policy.regulation)
    other.record.meter[0].next_cycle_s = other.now_s if period_s < np.inf else np.inf
    return other


def _never_starts(state: State, policy: Composition, row: int) -> bool:
    return bool(refuses(state, policy.admission, row)
                or never_configured(state, policy.configuration, row)
                or never_placed(state, policy.placement, row))


def _forget_plans(state: State) -> None:
    """What the last policy had worked out for itself."""
    clock = state.clock[0]
    for name in ("queue_first", "queue_last", "aside", "examined", "stopped", "leaders",
                 "sorted_end", "reached", "planned", "step_first"):
        clock[name] = 0
    clock.step_last = 1
    state.profile[0].time_s = -np.inf
    state.profile[0].free = clock.units
    clock.shadow_s = np.inf
    clock.smallest = clock.units + 1
    clock.replan = PLAN_STALE
    clock.wake_s = 0.0


def _as_submitted(state: State, row: int) -> None:
    live, asked = state.live[row], state.jobs[row]
    live.units, live.requested_s, live.watts = asked.units, asked.requested_s, asked.watts
    live.config, live.stretch, live.level = 0, 1.0, -1
    live.level_stretch, live.level_share = 1.0, 1.0
