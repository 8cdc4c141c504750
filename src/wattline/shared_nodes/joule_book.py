"""The book of an energy budget: what the period gives, has drawn, and plans for the slot of now.

Not a rule of Slurm's: it is the budget of whole nodes (policies/admission/budget.py) with the watts
of shared ones. Each period has its joules; all nodes count with their idle power until its end,
also those that sleep. When a slot begins, what is left is planned anew, the cheapest slots first
(physics/budget.py), and the queue is looked at at once where a job found no joules before.

Slots are waited for where such a job is in the queue; not for ever where nothing else happens.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.physics.budget import Offer, Slots, has_room, planned_power
from wattline.physics.budget_terms import CHARGE_NOW, KEEP, MOST_PERIODS
from wattline.shared_nodes.state import NEVER_S, Books
from wattline.shared_nodes.waking import something_changed


@kernel_part
def begin_of(st: Books, period: int) -> float:
    return float(st.book[0].start_s + period * st.book[0].length_s)


@kernel_part
def gives_j(st: Books) -> float:
    """What a period has above idle power."""
    return float(st.book[0].energy_j - st.book[0].min_w * st.book[0].length_s)


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


@kernel_part
def _close_period(st: Books) -> None:
    book = st.book[0]
    counted_j = book.drawn_j
    if book.carry == CHARGE_NOW:
        counted_j = book.min_w * book.length_s + book.charged_j
    if book.unspent == KEEP:
        book.saved_j = max(book.energy_j + book.saved_j - counted_j, 0.0)
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
    book = st.book[0]
    begun_s = begin_of(st, book.period)
    planned = _template(st)
    begin, end = st.slot_first[planned], st.slot_first[planned + 1]
    edges = st.slot_edge_s[begin + planned : end + planned + 1]
    slot = _slot_of_now(st)
    since_s = max(st.clock[0].now_s - begun_s, edges[slot])
    free_w = book.min_w
    left_j = book.energy_j + book.saved_j - book.drawn_j
    if book.carry == CHARGE_NOW:
        # What runs is paid for; the plan is of what may be added to it.
        free_w = max(st.clock[0].power_w + st.clock[0].booting_w, book.min_w)
        left_j = gives_j(st) + book.saved_j - book.charged_j
        left_j += book.min_w * (book.length_s - since_s)
    given_w = planned_power(Slots(edges, st.slot_order[begin:end]), since_s, left_j, book.min_w,
                            book.max_w)
    book.plan_w = free_w + given_w - book.min_w if given_w < book.max_w else NEVER_S
    book.slot_end_s = begun_s + edges[slot + 1]
    if slot + 1 == end - begin:
        book.slot_end_s = begin_of(st, book.period + 1)


@kernel_part
def _template(st: Books) -> int:
    """The planned period whose slots this one has."""
    return int(min(st.book[0].period, len(st.slot_first) - 2))


@kernel_part
def _slot_of_now(st: Books) -> int:
    planned = _template(st)
    begun_s = begin_of(st, st.book[0].period)
    first = st.slot_first[planned] + planned
    slot = st.slot_first[planned + 1] - st.slot_first[planned] - 1
    while slot > 0 and begun_s + st.slot_edge_s[first + slot] > st.clock[0].now_s:
        slot -= 1
    return int(slot)


# ---- a job that would be alone ------------------------------------------------------------------


@kernel_part
def _fits_alone(
    st: Books, planned: int, slot: int, saved_j: float, watts: float, time_s: float
) -> bool:
    """Whether an otherwise idle machine has the joules for a job at the beginning of a slot."""
    book = st.book[0]
    left_s = book.length_s - st.slot_edge_s[st.slot_first[planned] + planned + slot]
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
    for slot in range(st.slot_first[planned + 1] - st.slot_first[planned] - 1, -1, -1):
        if _fits_alone(st, planned, slot, saved_j, watts, time_s):
            return False
    return True


@kernel_part
def is_last_call(st: Books, watts: float, time_s: float) -> bool:
    """Whether a job that does not start in this slot finds no other slot of this period.

    Then the slot's price does not hold it back: it would wait for ever.
    """
    planned = _template(st)
    last = st.slot_first[planned + 1] - st.slot_first[planned] - 1
    for slot in range(last, _slot_of_now(st), -1):
        if _fits_alone(st, planned, slot, st.book[0].saved_j, watts, time_s):
            return False
    return True
