"""The book of an energy budget: what the period gives, has drawn, and plans for the slot of now.

Not a rule of Slurm's: it is the budget of whole nodes (policies/admission/budget.py) with the watts
of shared ones. Each period has its joules; all nodes count with their idle power until its end,
also those that sleep. Slots are planned as for whole nodes (physics/budget_periods.py); when one
begins, the queue is looked at at once where a job found no joules before.

Slots are waited for where such a job is in the queue; not for ever where nothing else happens.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.physics.budget import Offer, has_room
from wattline.physics.budget_periods import (
    Periods,
    Used,
    begin_s,
    last_slot,
    left_over_j,
    slot_begin_s,
    slot_edge_s,
    slot_of,
    slot_power_w,
    template,
)
from wattline.physics.budget_periods import gives_j as period_gives_j
from wattline.physics.budget_terms import KEEP, MOST_PERIODS
from wattline.shared_nodes.state import NEVER_S, Books
from wattline.shared_nodes.waking import something_changed


@kernel_part
def periods_of(st: Books) -> Periods:
    book = st.book[0]
    return Periods(st.slot_edge_s, st.slot_order, st.slot_first, book.start_s, book.length_s,
                   book.energy_j, book.min_w, book.max_w, book.carry, book.unspent)


@kernel_part
def begin_of(st: Books, period: int) -> float:
    return begin_s(periods_of(st), period)


@kernel_part
def gives_j(st: Books) -> float:
    """What a period has above idle power."""
    return period_gives_j(periods_of(st))


@kernel_part
def draw_until(st: Books, time_s: float) -> None:
    """Write down what the machine draws from now to a time, with the power of now."""
    book = st.book[0]
    power_w = st.clock[0].power_w
    from_s = st.clock[0].now_s
    while time_s >= begin_of(st, book.period + 1):
        edge_s = begin_of(st, book.period + 1)
        book.drawn_j += power_w * (edge_s - from_s)
        from_s = edge_s
        _close_period(st)
    book.drawn_j += power_w * (time_s - from_s)
    book.drew_w = power_w
    book.drew_booting_w = st.clock[0].booting_w


@kernel_part
def _close_period(st: Books) -> None:
    book = st.book[0]
    used = Used(book.saved_j, book.drawn_j, book.charged_j, st.clock[0].power_w)
    book.saved_j = left_over_j(periods_of(st), used)
    book.drawn_j = 0.0
    book.charged_j = 0.0
    book.period += 1


@kernel_part
def next_slot_s(st: Books) -> float:
    """When the queue is looked at for the sake of joules; NEVER_S: not by itself."""
    book = st.book[0]
    clock = st.clock[0]
    if clock.queued == 0 or book.denied == 0:
        return NEVER_S
    if clock.running == 0 and book.idle_queued == clock.queued and (
            book.idle_events == _events(st)
            and book.slot_end_s - book.idle_since_s > book.patience_s):
        return NEVER_S
    return float(book.slot_end_s)


@kernel_part
def _events(st: Books) -> int:
    """How much has happened but for slots: none of these ever becomes less."""
    clock = st.clock[0]
    return int(clock.next_submit + clock.next_outage + clock.next_return + clock.next_cap
               + clock.next_resv + clock.next_fall + clock.moved + clock.done)


@kernel_part
def begin_slot(st: Books) -> None:
    """Make the plan of the slot that holds now, if it has just begun."""
    book = st.book[0]
    clock = st.clock[0]
    if clock.now_s < book.slot_end_s:
        return
    if clock.running > 0 or book.idle_queued != clock.queued or book.idle_events != _events(st):
        book.idle_since_s = clock.now_s
        book.idle_queued = clock.queued
        book.idle_events = _events(st)
    _plan_slot(st)
    if book.denied != 0:
        book.denied = 0
        something_changed(st)
        clock.end_pass = 1


@kernel_part
def _plan_slot(st: Books) -> None:
    """Plan the slot that holds now as it was when it began."""
    book = st.book[0]
    clock = st.clock[0]
    periods = periods_of(st)
    slot = slot_of(periods, book.period, clock.now_s)
    from_s = slot_begin_s(periods, book.period, slot)
    power_w = clock.power_w + clock.booting_w
    if from_s < clock.now_s:
        power_w = book.drew_w + book.drew_booting_w
    drawn_j = book.drawn_j - book.drew_w * max(clock.now_s - from_s, 0.0)
    used = Used(book.saved_j, drawn_j, book.charged_j, power_w)
    book.plan_w = slot_power_w(periods, book.period, slot, from_s, used)
    book.slot_end_s = slot_begin_s(periods, book.period, slot + 1)


# ---- a job that would be alone ------------------------------------------------------------------


@kernel_part
def _fits_alone(
    st: Books, planned: int, slot: int, saved_j: float, watts: float, time_s: float
) -> bool:
    """Whether an otherwise idle machine has the joules for a job at the beginning of a slot."""
    book = st.book[0]
    left_s = book.length_s - slot_edge_s(periods_of(st), planned, slot)
    each_j = gives_j(st)
    offer = Offer(each_j + saved_j, each_j, left_s, book.length_s, book.carry, book.unspent)
    return bool(left_s > 0.0 and has_room(offer, watts, time_s))


@kernel_part
def no_period_has_room(st: Books, watts: float, time_s: float) -> bool:
    """Whether no period, not even an empty one, has the joules for a job.

    It must start in the period that repeats: earlier ones may be over when its turn comes.
    """
    planned = len(st.slot_first) - 2
    saved_j = MOST_PERIODS * gives_j(st) if st.book[0].unspent == KEEP else 0.0
    for slot in range(last_slot(periods_of(st), planned), -1, -1):
        if _fits_alone(st, planned, slot, saved_j, watts, time_s):
            return False
    return True


@kernel_part
def is_last_call(st: Books, watts: float, time_s: float) -> bool:
    """Whether a job that does not start in this slot finds no other slot of this period.

    Then the slot's price does not hold it back: it would wait for ever.
    """
    periods = periods_of(st)
    period = st.book[0].period
    planned = template(periods, period)
    slot_now = slot_of(periods, period, st.clock[0].now_s)
    for slot in range(last_slot(periods, planned), slot_now, -1):
        if _fits_alone(st, planned, slot, st.book[0].saved_j, watts, time_s):
            return False
    return True
