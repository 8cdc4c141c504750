"""The book of an energy budget: what each period gives, has drawn, and has promised.

Periods of one length follow each other without end, each with the same joules. Only two of them
have to be looked at for a start: jobs end and none is promised to begin, so no later period is
promised more than the next one. Where unspent joules are carried on, later ones may draw on what
earlier ones leave; then the sum is followed until a period keeps within its own joules.

The functions take the parameters of a budget (`budget.Budget`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel import kernel
from wattline.physics.budget import Offer, has_room
from wattline.physics.budget_periods import (
    Used,
    begin_s,
    gives_j,
    last_slot,
    left_over_j,
    slot_begin_s,
    slot_edge_s,
    slot_of,
    slot_power_w,
    template,
)
from wattline.physics.budget_terms import ALLOW, CHARGE_NOW, KEEP, MOST_PERIODS
from wattline.policies.admission.levels import fits_alone_at, held_rise_w, highest, lowest
from wattline.policies.admission.power import idle_machine_w
from wattline.policies.committed import held_above_idle_w
from wattline.policies.memory import Memory
from wattline.policies.state import BLOCK, RUNNING, State

PLAN = np.dtype(
    [
        ("plan_w", "f8"),  # the power that the slot is planned with
        ("begun_j", "f8"),  # energy of the machine when the period began
        ("saved_j", "f8"),  # carried over from the periods before
        ("charged_j", "f8"),  # to this period, for jobs that started in it
        ("pending_j", "f8"),  # for the job that was admitted last, and is perhaps not placed
        ("pending", "i8"),
        ("slot_end_s", "f8"),  # 0 before the first plan
        ("period", "i8"),
        ("seen_s", "f8"),  # the last decision, and the energy of the machine then
        ("seen_j", "f8"),
        ("idle_since_s", "f8"),  # nothing runs, and nothing else has happened, since then...
        ("idle_cap_w", "f8"),  # ...under this cap...
        ("idle_queue", "i8"),  # ...and with so many that wait
        ("summed", "i8"),  # the two sums hold while so many jobs run; -1: they do not
        ("here_j", "f8"),  # joules that nothing is promised yet: of this period...
        ("next_j", "f8"),  # ...and of the next
    ]
)


class BudgetMemory(Memory):
    """The book and the plan as they stand: one record."""

    FIELDS = ("plan",)
    plan: Any


# ---- periods ----------------------------------------------------------------------------------


@kernel
def period_at(budget: Any, time_s: float) -> int:
    """The period that holds at a time; the first one before it begins."""
    period = max(int((time_s - budget.start_s) // budget.length_s), 0)
    while time_s >= begin_s(budget, period + 1):
        period += 1
    while period > 0 and time_s < begin_s(budget, period):
        period -= 1
    return period


@kernel
def turn_page(st: State, budget: Any) -> None:
    """Close the periods that are over, and plan the slot that has begun since the last decision.

    Power was the same since then.
    """
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    period = period_at(budget, clock.now_s)
    if plan.slot_end_s == 0.0:
        plan.period = period
        plan.begun_j = clock.energy_j
        plan.pending = -1
        plan.seen_s = clock.now_s
        plan.seen_j = clock.energy_j
    while plan.period < period:
        edge_j = _energy_at_j(st, budget, begin_s(budget, plan.period + 1))
        used = Used(plan.saved_j, edge_j - plan.begun_j, plan.charged_j, clock.power_w)
        plan.saved_j = left_over_j(budget, used)
        plan.begun_j = edge_j
        plan.charged_j = 0.0
        plan.period += 1
    if clock.now_s >= plan.slot_end_s:
        _plan_slot(st, budget)
    plan.seen_s = clock.now_s
    plan.seen_j = clock.energy_j


@kernel
def _energy_at_j(st: State, budget: Any, time_s: float) -> float:
    """What the machine had drawn by a time since the last decision."""
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    since_s = clock.now_s - plan.seen_s
    part = (time_s - plan.seen_s) / since_s if since_s > 0.0 else 1.0
    return float(plan.seen_j + min(max(part, 0.0), 1.0) * (clock.energy_j - plan.seen_j))


@kernel
def _plan_slot(st: State, budget: Any) -> None:
    """Plan the slot that holds now as it was when it began, or when all of this did."""
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    slot = slot_of(budget, plan.period, clock.now_s)
    from_s = max(slot_begin_s(budget, plan.period, slot), plan.seen_s)
    power_w = clock.power_w
    if from_s < clock.now_s:
        power_w = (clock.energy_j - plan.seen_j) / (clock.now_s - plan.seen_s)
    drawn_j = _energy_at_j(st, budget, from_s) - plan.begun_j
    used = Used(plan.saved_j, drawn_j, plan.charged_j, power_w)
    plan.plan_w = slot_power_w(budget, plan.period, slot, from_s, used)
    plan.slot_end_s = slot_begin_s(budget, plan.period, slot + 1)


# ---- what is promised -------------------------------------------------------------------------


@kernel
def settle_pending(st: State, budget: Any) -> None:
    """The job that was admitted last is charged if it was placed."""
    plan = budget.memory.plan[0]
    if plan.pending >= 0 and st.live[plan.pending].state == RUNNING:
        plan.charged_j += plan.pending_j
    plan.pending = -1


@kernel
def promised_j(st: State, budget: Any, from_s: float, until_s: float) -> float:
    """What the machine may draw in a time that begins now or later, by the requests of its jobs.

    A job that is overdue counts as running on, and one that draws less than idle units as they do.
    """
    clock = st.clock[0]
    above_w = 0.0
    jobs_j = 0.0
    for place in range(clock.blocks):
        block = st.blocks[place].order
        for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
            live = st.live[st.releases[index].job]
            rise_w = held_above_idle_w(st, st.releases[index].job)
            expected_s = st.releases[index].expected_s
            ends_s = expected_s if expected_s >= clock.now_s else until_s
            above_w += live.power_w - live.idle_w
            jobs_j += rise_w * max(min(ends_s, until_s) - from_s, 0.0)
    return jobs_j + promised_beside_j(st, budget, above_w, until_s - from_s)


@kernel
def promised_beside_j(st: State, budget: Any, above_w: float, time_s: float) -> float:
    """What units without jobs may draw in so much time, where jobs draw `above_w` above idle."""
    clock = st.clock[0]
    # Units that are off, or on the way there, may be wanted again: then they boot and idle.
    base_w = clock.power_w - above_w + clock.off * (clock.idle_w - clock.off_w)
    base_w += max(clock.changing * clock.idle_w - clock.changing_w, 0.0)
    booting_j = (clock.off + clock.changing) * max(clock.boot_w - clock.idle_w, 0.0) * clock.boot_s
    return float(max(base_w, budget.min_w) * time_s + booting_j)


@kernel
def left_here_j(st: State, budget: Any, still_j: float) -> float:
    """What this period has left, where so much of it is promised."""
    plan = budget.memory.plan[0]
    given_j = budget.energy_j + plan.saved_j
    if budget.carry == CHARGE_NOW:
        return float(given_j - budget.min_w * budget.length_s - plan.charged_j)
    return float(given_j - (st.clock[0].energy_j - plan.begun_j) - still_j)


@kernel
def sum_up(st: State, budget: Any) -> None:
    """Find what this period and the next have left, unless it is known."""
    clock = st.clock[0]
    plan = budget.memory.plan[0]
    settle_pending(st, budget)
    if plan.summed == clock.running:
        return
    plan.summed = clock.running
    if budget.carry == CHARGE_NOW:
        plan.here_j = left_here_j(st, budget, 0.0)
        plan.next_j = gives_j(budget)
        return
    end_s = begin_s(budget, plan.period + 1)
    plan.here_j = left_here_j(st, budget, promised_j(st, budget, clock.now_s, end_s))
    plan.next_j = budget.energy_j - promised_j(st, budget, end_s, end_s + budget.length_s)


@kernel
def time_at(st: State, budget: Any, job: int, level: int) -> float:
    return float(st.live[job].requested_s * budget.slowest / budget.adaptive.speed[level])


@kernel
def has_joules(st: State, budget: Any, job: int, level: int) -> bool:
    """Whether all periods that a job touches if it starts now keep their budget."""
    plan = budget.memory.plan[0]
    sum_up(st, budget)
    rise_w = held_rise_w(st, job) * budget.adaptive.dynamic[level]
    left_s = begin_s(budget, plan.period + 1) - st.clock[0].now_s
    time_s = time_at(st, budget, job, level)
    slack_j = 1e-9 * budget.energy_j
    if budget.carry == CHARGE_NOW:
        return bool(rise_w * time_s <= plan.here_j + slack_j)
    room_j = plan.here_j + slack_j - rise_w * min(time_s, left_s)
    if room_j < 0.0 or budget.carry == ALLOW:
        return bool(room_j >= 0.0)
    rest_s = time_s - left_s
    next_j = plan.next_j - rise_w * max(min(rest_s, budget.length_s), 0.0)
    if budget.unspent != KEEP:
        return bool(rest_s <= 0.0 or next_j + slack_j >= 0.0)
    return _later_keep(st, budget, rise_w, rest_s, room_j, next_j)


@kernel
def _later_keep(
    st: State, budget: Any, rise_w: float, rest_s: float, room_j: float, next_j: float
) -> bool:
    """Whether what is left over and what periods give together lasts for all that is promised."""
    period = budget.memory.plan[0].period + 1
    while next_j < 0.0:
        room_j += next_j
        if room_j < 0.0:
            return False
        rest_s -= budget.length_s
        period += 1
        edge_s = begin_s(budget, period)
        next_j = budget.energy_j - promised_j(st, budget, edge_s, edge_s + budget.length_s)
        next_j -= rise_w * max(min(rest_s, budget.length_s), 0.0)
    return True


# ---- jobs that would be alone -----------------------------------------------------------------


@kernel
def fits_alone(
    st: State, budget: Any, job: int, planned: int, slot: int, saved_j: float
) -> bool:
    """Whether an otherwise idle machine has the joules for a job at the beginning of a slot.

    And a little later, when units that were off are on again.
    """
    left_s = budget.length_s - slot_edge_s(budget, planned, slot)
    gives = gives_j(budget) - budget.switching_j
    at_once = Offer(gives + saved_j, gives, left_s, budget.length_s, budget.carry, budget.unspent)
    later = Offer(gives + saved_j, gives, left_s - budget.switching_s, budget.length_s,
                  budget.carry, budget.unspent)
    if later.left_s <= 0.0:
        return False
    for level in range(lowest(budget.adaptive, job), highest(budget.adaptive, job) + 1):
        rise_w = held_rise_w(st, job) * budget.adaptive.dynamic[level]
        time_s = time_at(st, budget, job, level)
        if (fits_alone_at(st, budget.adaptive, job, level, st.clock[0].cap_w_max,
                          idle_machine_w(st))
                and has_room(at_once, rise_w, time_s) and has_room(later, rise_w, time_s)):
            return True
    return False


@kernel
def no_room(st: State, budget: Any, job: int) -> bool:
    """Whether no period, not even an empty one, has the joules for a job.

    It must start in the period that repeats: earlier ones may be over when its turn comes.
    """
    planned = budget.first.size - 2
    saved_j = MOST_PERIODS * gives_j(budget) if budget.unspent == KEEP else 0.0
    for slot in range(last_slot(budget, planned), -1, -1):
        if fits_alone(st, budget, job, planned, slot, saved_j):
            return False
    return True


@kernel
def last_call(st: State, budget: Any, job: int) -> bool:
    """Whether a job that does not start in this slot finds no other slot of this period.

    Then the slot's price does not hold it back: it would wait for ever.
    """
    plan = budget.memory.plan[0]
    planned = template(budget, plan.period)
    slot_now = slot_of(budget, plan.period, st.clock[0].now_s)
    for slot in range(last_slot(budget, planned), slot_now, -1):
        if fits_alone(st, budget, job, planned, slot, plan.saved_j):
            return False
    return True
