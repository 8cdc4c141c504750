"""An energy budget: joules for a period, spent where they cost least, and never more.

Two rules together. The *plan* gives every slot of the period a power, by cost, and is made anew
when a slot begins, from what is left (see `wattline.physics.budget`); under it jobs are admitted
as under a cap, by frequency, idling and switching off. The *guarantee* lets a job start only if
what was drawn, what the machine draws idle to the end of the period, and what all running jobs may
still draw by their requested times leave room for it. So the budget holds unless jobs run longer
than they asked for; then the excess is reported.

After the last period there is no limit.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from wattline.model.kernel import implement, kernel
from wattline.physics.adaptive import WAIT as NO_LEVEL
from wattline.physics.budget import Slots, planned_power
from wattline.policies.admission.adaptive import Adaptive, admit_under, start_level
from wattline.policies.admission.levels import (
    held_watts,
    never_fits,
    no_room_for_any,
    reach_under,
    rise_of,
    time_at_level,
)
from wattline.policies.admission.ramp import wake_up
from wattline.policies.admission.switching import settle_under
from wattline.policies.admission.windows import after_windows_s
from wattline.policies.contract import (
    WAIT,
    Composition,
    Reach,
    admit,
    before_queue,
    exhausted,
    not_before_s,
    planned_s,
    reach,
    refuses,
    settle,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.control import settings
from wattline.policies.memory import Memory
from wattline.policies.state import BLOCK, State

PLAN = np.dtype(
    [
        ("plan_w", "f8"),  # the power that the slot is planned with
        ("begun_j", "f8"),  # energy of the machine when the period began
        ("slot_end_s", "f8"),  # 0 before the first plan
        ("period", "i8"),
    ]
)


class BudgetMemory(Memory):
    """The plan as it stands: one record."""

    FIELDS = ("plan",)
    plan: Any


class Budget(NamedTuple):
    """The periods one after the other, each `slots` long, with `energy_j` for each."""

    adaptive: Adaptive
    edge_s: Any
    """Edges of the slots of all periods."""
    order: Any
    """Slots of each period by cost, numbered within the period."""
    first: Any
    """First slot of each period, and one past the last slot of all."""
    energy_j: float
    min_w: float
    max_w: float
    memory: BudgetMemory

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@kernel
def plan_w(st: State, budget: Budget) -> float:
    """The cap that holds now: the plan's, or the machine's own where that is lower."""
    return float(min(budget.memory.plan[0].plan_w, st.clock[0].cap_w))


@implement(before_queue, Budget)
@kernel
def _before_queue(st: State, admission: Budget, policy: Composition) -> bool:
    """Make the plan anew when a slot has begun."""
    clock = st.clock[0]
    plan = admission.memory.plan[0]
    if plan.slot_end_s == 0.0 or clock.now_s >= plan.slot_end_s:
        _replan(st, admission)
        clock.examined = 0
        clock.stopped = 0
    return True


@kernel
def _replan(st: State, budget: Budget) -> None:
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    periods = budget.first.size - 1
    if clock.now_s >= budget.edge_s[-1]:
        plan.plan_w = float("inf")
        plan.slot_end_s = float("inf")
        return
    period = 0
    while period + 1 < periods and clock.now_s >= budget.edge_s[budget.first[period + 1]]:
        period += 1
    if plan.slot_end_s == 0.0 or period != plan.period:
        plan.period = period
        plan.begun_j = clock.energy_j
    begin, end = budget.first[period], budget.first[period + 1]
    slots = Slots(budget.edge_s[begin : end + 1], budget.order[begin:end])
    left_j = budget.energy_j - (clock.energy_j - plan.begun_j)
    plan.plan_w = planned_power(slots, clock.now_s, left_j, budget.min_w, budget.max_w)
    slot_end_s = budget.edge_s[-1]
    for edge in range(begin, end + 1):
        if budget.edge_s[edge] > clock.now_s:
            slot_end_s = budget.edge_s[edge]
            break
    plan.slot_end_s = slot_end_s
    wake_up(st, slot_end_s, -1)


@kernel
def left_j(st: State, budget: Budget) -> float:
    """Joules that nothing is promised yet: of the budget less what was and may be drawn."""
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    period = plan.period
    end_s = budget.edge_s[budget.first[period + 1]]
    rest_s = end_s - clock.now_s
    # Units that are off, or on the way there, may be wanted again: then they boot and idle.
    asleep_w = clock.off * (clock.idle_w - clock.off_w)
    asleep_w += max(clock.changing * clock.idle_w - clock.changing_w, 0.0)
    booting_j = (clock.off + clock.changing) * max(clock.boot_w - clock.idle_w, 0.0) * clock.boot_s
    promised_j = (clock.power_w + asleep_w) * rest_s + booting_j
    for place in range(clock.blocks):
        block = st.blocks[place].order
        for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
            expected_s = st.releases[index].expected_s
            if expected_s < end_s and expected_s >= clock.now_s:
                live = st.live[st.releases[index].job]
                promised_j -= (live.power_w - live.idle_w) * (end_s - expected_s)
    drawn_j = clock.energy_j - plan.begun_j
    return float(budget.energy_j - drawn_j - promised_j)


@implement(admit, Budget)
@kernel
def _admit(st: State, admission: Budget, policy: Composition, job: int) -> int:
    clock = st.clock[0]
    cap_w = plan_w(st, admission)
    plan = admission.memory.plan[0]
    if plan.plan_w < float("inf"):
        level = start_level(st, admission.adaptive, job, cap_w)
        if level == NO_LEVEL:
            return WAIT
        end_s = admission.edge_s[admission.first[plan.period + 1]]
        time_s = min(st.live[job].requested_s / admission.adaptive.speed[level],
                     end_s - clock.now_s)
        needed_j = rise_of(st, job) * admission.adaptive.dynamic[level] * time_s
        if needed_j > left_j(st, admission):
            return WAIT
    return admit_under(st, admission.adaptive, job, cap_w)


@implement(refuses, Budget)
@kernel
def _refuses(st: State, admission: Budget, job: int) -> bool:
    return never_fits(st, admission.adaptive, job)


@implement(settle, Budget)
@kernel
def _settle(st: State, admission: Budget, policy: Composition) -> None:
    settle_under(st, admission.adaptive, plan_w(st, admission), 0.0)


@implement(planned_s, Budget)
@kernel
def _planned_s(st: State, admission: Budget, job: int, requested_s: float) -> float:
    level = start_level(st, admission.adaptive, job, plan_w(st, admission))
    return time_at_level(admission.adaptive, level, requested_s)


@implement(exhausted, Budget)
@kernel
def _exhausted(st: State, admission: Budget) -> bool:
    return no_room_for_any(st, admission.adaptive, plan_w(st, admission))


@implement(reach, Budget)
@kernel
def _reach(st: State, admission: Budget) -> Reach:
    return reach_under(st, admission.adaptive, plan_w(st, admission))


@implement(watts_available, Budget)
@kernel
def _watts_available(st: State, admission: Budget) -> float:
    return float(plan_w(st, admission) - st.clock[0].power_w)


@implement(watts_at, Budget)
@kernel
def _watts_at(st: State, admission: Budget, time_s: float) -> float:
    """In a later slot as much as the machine can draw: what the plan then gives is not known."""
    clock = st.clock[0]
    if time_s <= clock.now_s:
        return float(plan_w(st, admission) - clock.power_w)
    return float(min(clock.cap_w, admission.max_w) - clock.power_w)


@implement(watts_of, Budget)
@kernel
def _watts_of(st: State, admission: Budget, job: int) -> float:
    return held_watts(st, admission.adaptive, job)


@implement(not_before_s, Budget)
@kernel
def _not_before_s(st: State, admission: Budget, job: int) -> float:
    """Not while the plan of this slot has no room for it; then the next slot is hoped for."""
    start_s = after_windows_s(st, admission.adaptive, job)
    least_w = held_watts(st, admission.adaptive, job)
    if st.clock[0].running == 0 and least_w > plan_w(st, admission) - st.clock[0].power_w:
        start_s = max(start_s, admission.memory.plan[0].slot_end_s)
    return float(start_s)


@settings.register
def _settings(axis: Budget, st: State, job: int) -> dict[str, Any]:
    return settings(axis.adaptive, st, job)
