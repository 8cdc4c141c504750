"""An energy budget: joules for each period, spent where they cost least, and never more.

Two rules together. The *plan* gives every slot of the period a power, by cost, and is made anew
when a slot begins, from what is left (see `wattline.physics.budget`); under it jobs are admitted
as under a cap, by frequency, idling and switching off. The *book* (`budget_book`) lets a job start
only if every period that its requested time touches has the joules for it beside those that idle
nodes and running jobs are promised there. So no period draws more unless jobs run longer than they
asked for; then the excess is reported. `carry` may say otherwise.

A job for which this slot is the last of the period that could have it is not held back by the
plan's power: what is planned for later would never be of use to it. A job that no period has room
for is refused or held at its submission. Periods have no end: the last planned one repeats.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.cap_slack import fits
from wattline.model.kernel import implement, kernel
from wattline.model.promises import BUDGET
from wattline.physics.budget_terms import ALLOW, CHARGE_NOW, KEEP, MOST_PERIODS
from wattline.policies.admission.adaptive import Adaptive, admit_at, start_level
from wattline.policies.admission.budget_book import (
    BudgetMemory,
    has_joules,
    last_call,
    no_room,
    settle_pending,
    sum_up,
    time_at,
    turn_page,
)
from wattline.policies.admission.level_rule import WAIT as NO_LEVEL
from wattline.policies.admission.levels import (
    exceeds_at_lowest,
    held_rise_w,
    held_watts,
    highest,
    lowest,
    never_fits,
    no_room_for_any,
    reach_under,
    time_at_level,
    watts_at_level,
)
from wattline.policies.admission.ramp import wake_up
from wattline.policies.admission.switching import settle_under
from wattline.policies.admission.windows import (
    after_windows_s,
    first_end_s,
    held_at,
    keeps_windows,
    spares_at,
    windows_known,
)
from wattline.policies.committed import committed_w, held_above_idle_w
from wattline.policies.contract import (
    START,
    WAIT,
    Composition,
    Reach,
    admit,
    before_queue,
    cap_to_come_w,
    carries,
    exceeds,
    exhausted,
    holds,
    not_before_s,
    planned_s,
    reach,
    refuses,
    sets_aside,
    settle,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.control import settings
from wattline.policies.planning import (
    faster_when_full,
    planned_w,
    reserved_s,
    rises_s,
    spares,
)
from wattline.policies.state import BLOCK, State
from wattline.policies.traits import power_wait


class Budget(NamedTuple):
    """Levels of jobs, and the fields of `physics.budget_periods.Periods`."""

    adaptive: Adaptive
    edge_s: Any
    order: Any
    first: Any
    start_s: float
    length_s: float
    energy_j: float
    min_w: float
    max_w: float
    switching_j: float
    """What shutting down and booting all units once costs more than idling."""
    switching_s: float
    """...and how long it takes until they can be used again."""
    slowest: float
    """Times as long as at full speed on the slowest class of nodes."""
    carry: int
    unspent: int
    hold: int
    """1: jobs that no period has room for are held instead of refused."""
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
    """Keep the book up to date, and say when the whole queue is tried.

    When a slot has begun, and wherever time alone moves joules from this period to the next.
    """
    clock = st.clock[0]
    plan = admission.memory.plan[0]
    slot_end_s = plan.slot_end_s
    turn_page(st, admission)
    plan.summed = -1
    if plan.slot_end_s != slot_end_s or admission.carry != CHARGE_NOW:
        clock.examined = 0
        clock.stopped = 0
    return True


@kernel
def level_now(st: State, budget: Budget, job: int) -> int:
    """The level at which plan and book let a job start now, or NO_LEVEL."""
    level = _level_under(st, budget, job, plan_w(st, budget))
    if level == NO_LEVEL and last_call(st, budget, job):
        level = _level_under(st, budget, job, st.clock[0].cap_w)
    return level


@kernel
def _level_under(st: State, budget: Budget, job: int, cap_w: float) -> int:
    """The level that the cap asks for or, where there are no joules for it, the next that has them.

    Lower ones come first.
    """
    chosen = start_level(st, budget.adaptive, job, cap_w)
    if chosen == NO_LEVEL:
        return NO_LEVEL
    for level in range(chosen, lowest(budget.adaptive, job) - 1, -1):
        if _may_take(st, budget, job, level, cap_w):
            return level
    for level in range(chosen + 1, highest(budget.adaptive, job) + 1):
        if _may_take(st, budget, job, level, cap_w):
            return level
    return NO_LEVEL


@kernel
def _may_take(st: State, budget: Budget, job: int, level: int, cap_w: float) -> bool:
    clock = st.clock[0]
    rise_w = held_rise_w(st, job) * budget.adaptive.dynamic[level]
    return (
        has_joules(st, budget, job, level)
        and fits(rise_w, cap_w - committed_w(st))
        and keeps_windows(st, budget.adaptive, job, clock.now_s, level, False)
    )


@implement(admit, Budget)
@kernel
def _admit(st: State, admission: Budget, policy: Composition, job: int) -> int:
    level = level_now(st, admission, job)
    if level == NO_LEVEL:
        return WAIT
    verdict = admit_at(st, admission.adaptive, job, level)
    if verdict == START:
        plan = admission.memory.plan[0]
        rise_w = held_rise_w(st, job) * admission.adaptive.dynamic[level]
        plan.pending = job
        plan.pending_j = rise_w * time_at(st, admission, job, level)
    return verdict


@implement(carries, Budget)
@kernel
def _carries(st: State, admission: Budget, job: int) -> bool:
    return level_now(st, admission, job) != NO_LEVEL


@implement(refuses, Budget)
@kernel
def _refuses(st: State, admission: Budget, job: int) -> bool:
    return never_fits(st, admission.adaptive, job) or (
        admission.hold == 0 and no_room(st, admission, job))


@implement(sets_aside, Budget)
@kernel
def _sets_aside(st: State, admission: Budget) -> bool:
    return True


@implement(exceeds, Budget)
@kernel
def _exceeds(st: State, admission: Budget, job: int, cap_w: float, idle_w: float) -> bool:
    return exceeds_at_lowest(st, admission.adaptive, job, cap_w, idle_w)


@implement(cap_to_come_w, Budget)
@kernel
def _cap_to_come_w(st: State, admission: Budget) -> float:
    return float(st.clock[0].cap_w + held_at(st, admission.adaptive, st.clock[0].now_s))


@implement(holds, Budget)
@kernel
def _holds(st: State, admission: Budget, job: int) -> bool:
    return admission.hold == 1 and no_room(st, admission, job)


@implement(settle, Budget)
@kernel
def _settle(st: State, admission: Budget, policy: Composition) -> None:
    settle_pending(st, admission)
    admission.memory.plan[0].summed = -1
    settle_under(st, admission.adaptive, policy, _useful_w(st, admission), 0.0,
                 _most_off(st, admission))
    _ask_for_next_slot(st, admission)


@kernel
def _useful_w(st: State, budget: Budget) -> float:
    """The power for which units are kept on: the plan's, or what the first job may have at once."""
    clock = st.clock[0]
    if (budget.adaptive.shut == 1 and clock.running == 0 and clock.queue_last > clock.queue_first
            and last_call(st, budget, st.queue[clock.queue_first].job)):
        return float(st.clock[0].cap_w)
    return plan_w(st, budget)


@kernel
def _most_off(st: State, budget: Budget) -> int:
    """So many units may be switched off that there are joules to shut them down and boot them."""
    clock = st.clock[0]
    if budget.adaptive.shut == 0 or budget.switching_j == 0.0:
        return int(clock.units)
    sum_up(st, budget)
    spare_j = budget.memory.plan[0].here_j
    if budget.carry != ALLOW:
        spare_j = min(spare_j, budget.memory.plan[0].next_j)
    return int(max(spare_j, 0.0) / (budget.switching_j / clock.units))


@kernel
def _ask_for_next_slot(st: State, budget: Budget) -> None:
    """While jobs wait, be called when the next slot begins.

    Not for ever: where nothing runs and nothing happens for as long as the plan goes (a cap that no
    job fits under), the next event from outside is waited for.
    """
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    waiting = clock.queue_last - clock.queue_first
    if clock.running > 0 or waiting != plan.idle_queue or clock.cap_w != plan.idle_cap_w:
        plan.idle_since_s = clock.now_s
        plan.idle_queue = waiting
        plan.idle_cap_w = clock.cap_w
    periods = MOST_PERIODS if budget.unspent == KEEP else budget.first.size
    if waiting > 0 and clock.now_s - plan.idle_since_s <= (periods + 2) * budget.length_s:
        wake_up(st, plan.slot_end_s, -1)


@implement(planned_s, Budget)
@kernel
def _planned_s(st: State, admission: Budget, job: int, requested_s: float) -> float:
    return time_at_level(admission.adaptive, level_now(st, admission, job), requested_s)


@implement(planned_w, Budget)
@kernel
def _planned_w(st: State, admission: Budget, job: int) -> float:
    level = level_now(st, admission, job)
    return watts_at_level(st, admission.adaptive, job, level)


@implement(reserved_s, Budget)
@kernel
def _reserved_s(st: State, admission: Budget, job: int, requested_s: float) -> float:
    return time_at_level(admission.adaptive, lowest(admission.adaptive, job), requested_s)


@implement(spares, Budget)
@kernel
def _spares(st: State, admission: Budget, job: int, head: int) -> bool:
    if windows_known(st, admission.adaptive) == 0:
        return True
    level = level_now(st, admission, job)
    return level == NO_LEVEL or spares_at(st, admission.adaptive, job, level, head)


@implement(faster_when_full, Budget)
@kernel
def _faster_when_full(st: State, admission: Budget) -> bool:
    """The optimal level is higher where fewer units are idle."""
    return True


@implement(exhausted, Budget)
@kernel
def _exhausted(st: State, admission: Budget) -> bool:
    return no_room_for_any(st, admission.adaptive, st.clock[0].cap_w)


@implement(reach, Budget)
@kernel
def _reach(st: State, admission: Budget) -> Reach:
    return reach_under(st, admission.adaptive, st.clock[0].cap_w)


@implement(watts_available, Budget)
@kernel
def _watts_available(st: State, admission: Budget) -> float:
    return float(plan_w(st, admission) - committed_w(st))


@implement(watts_at, Budget)
@kernel
def _watts_at(st: State, admission: Budget, time_s: float) -> float:
    """In a later slot as much as the cap has: what the plan then gives is not known."""
    limit_w = plan_w(st, admission) if time_s <= st.clock[0].now_s else st.clock[0].cap_w
    return float(limit_w - committed_w(st))


@implement(watts_of, Budget)
@kernel
def _watts_of(st: State, admission: Budget, job: int) -> float:
    return held_watts(st, admission.adaptive, job)


@implement(not_before_s, Budget)
@kernel
def _not_before_s(st: State, admission: Budget, job: int, from_s: float) -> float:
    """Where this slot lacks its watts to the end, or its joules now, the next slot is hoped for."""
    start_s = after_windows_s(st, admission.adaptive, job, from_s)
    slot_end_s = admission.memory.plan[0].slot_end_s
    left_w = plan_w(st, admission) - committed_w(st) + _released_before_w(st, slot_end_s)
    if not fits(held_watts(st, admission.adaptive, job), left_w) or (
            not _joules_at_any_level(st, admission, job)):
        start_s = max(start_s, slot_end_s)
    return float(start_s)


@implement(rises_s, Budget)
@kernel
def _rises_s(st: State, admission: Budget, after_s: float) -> float:
    return first_end_s(st, admission.adaptive, after_s)


@kernel
def _released_before_w(st: State, time_s: float) -> float:
    """What running jobs draw above idle that are over before a time, by their requests."""
    watts = 0.0
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            if st.releases[index].expected_s >= time_s:
                return watts
            watts += held_above_idle_w(st, st.releases[index].job)
    return watts


@kernel
def _joules_at_any_level(st: State, budget: Budget, job: int) -> bool:
    for level in range(lowest(budget.adaptive, job), highest(budget.adaptive, job) + 1):
        if has_joules(st, budget, job, level):
            return True
    return False


@settings.register
def _settings(axis: Budget, st: State, job: int) -> dict[str, Any]:
    return settings(axis.adaptive, st, job)


@power_wait.register
def _power_wait(admission: Budget) -> str | None:
    return None if power_wait(admission.adaptive) is None else BUDGET
