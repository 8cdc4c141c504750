"""Whether an energy budget lets a job start: joules for as long as it may last, and a slot's power.

Every period that the job may touch must have the joules for it beside what was drawn, the idle
power of all nodes, and what running jobs may draw there until they are over at the latest. Jobs
end and none is promised to begin, so that no later period is promised more than the next one; where
unspent joules are carried on, the sum is followed until a period keeps within its own.

Joules are asked for at the start alone. A backfill cycle plans nodes for a job without joules from
the next slot on, and keeps no joules for it, as for whole nodes.
"""

from __future__ import annotations

from wattline.model.cap_slack import fits
from wattline.model.kernel import kernel_part
from wattline.physics.budget_terms import ALLOW, CHARGE_NOW, KEEP
from wattline.shared_nodes.cap import over_at
from wattline.shared_nodes.joule_book import begin_of, gives_j, is_last_call
from wattline.shared_nodes.power import picked_watts, woken_watts
from wattline.shared_nodes.state import Books

ROUNDING = 1e-9
"""Of a period's joules."""


@kernel_part
def joules_allow(st: Books, job: int, freed_w: float, bank: int) -> bool:
    """Whether the job may start now on the nodes that were picked, as free as in `bank`.

    In bank 1 running jobs with `leaves` set are gone, and with them `freed_w`.
    """
    allowed = _is_allowed(st, job, freed_w, bank)
    if not allowed:
        st.book[0].denied = 1
    return allowed


@kernel_part
def _is_allowed(st: Books, job: int, freed_w: float, bank: int) -> bool:
    clock = st.clock[0]
    watts = picked_watts(st, job, bank)
    time_s = over_at(st, job, clock.now_s) - clock.now_s
    if not _has_joules(st, watts, time_s, bank):
        return False
    drawn_w = clock.power_w + clock.booting_w - freed_w
    if fits(watts + woken_watts(st), st.book[0].plan_w - drawn_w):
        return True
    return is_last_call(st, watts, longest_s(st, job))


@kernel_part
def longest_s(st: Books, job: int) -> float:
    """How long a job may last at most, whenever it starts."""
    rules = st.rules[0]
    late_s = 2.0 * rules.kill_late_s
    if rules.suspend_time_s >= 0.0:
        late_s += rules.resume_timeout_s + 2.0 * rules.kill_late_s
    return float(st.ask[job].limit_s - st.live[job].held_s + rules.over_limit_s + late_s)


@kernel_part
def _has_joules(st: Books, watts: float, time_s: float, bank: int) -> bool:
    """Whether all periods that a job touches if it starts now keep their budget."""
    book = st.book[0]
    _sum_up(st, bank)
    slack_j = ROUNDING * book.energy_j
    if book.carry == CHARGE_NOW:
        return bool(watts * time_s <= book.here_j + slack_j)
    left_s = begin_of(st, book.period + 1) - st.clock[0].now_s
    room_j = book.here_j + slack_j - watts * min(time_s, left_s)
    if room_j < 0.0 or book.carry == ALLOW:
        return bool(room_j >= 0.0)
    rest_s = time_s - left_s
    next_j = book.next_j - watts * max(min(rest_s, book.length_s), 0.0)
    if book.unspent != KEEP:
        return bool(rest_s <= 0.0 or next_j + slack_j >= 0.0)
    return _later_keep(st, watts, rest_s, room_j, next_j, bank)


@kernel_part
def _later_keep(
    st: Books, watts: float, rest_s: float, room_j: float, next_j: float, bank: int
) -> bool:
    """Whether what is left over and what periods give together lasts for all that is promised."""
    length_s = st.book[0].length_s
    period = st.book[0].period + 1
    while next_j < 0.0:
        room_j += next_j
        if room_j < 0.0:
            return False
        rest_s -= length_s
        period += 1
        edge_s = begin_of(st, period)
        next_j = gives_j(st) - _promised_j(st, edge_s, edge_s + length_s, bank)
        next_j -= watts * max(min(rest_s, length_s), 0.0)
    return True


@kernel_part
def _sum_up(st: Books, bank: int) -> None:
    """Find what this period and the next have left, unless it is known."""
    book = st.book[0]
    clock = st.clock[0]
    if bank == 0 and book.summed_s == clock.now_s and book.summed_moves == clock.moved:
        return
    book.summed_s = clock.now_s
    book.summed_moves = clock.moved if bank == 0 else -1
    if book.carry == CHARGE_NOW:
        book.here_j = gives_j(st) + book.saved_j - book.charged_j
        return
    end_s = begin_of(st, book.period + 1)
    book.here_j = book.energy_j + book.saved_j - book.drawn_j - book.min_w * (end_s - clock.now_s)
    book.here_j -= _promised_j(st, clock.now_s, end_s, bank)
    book.next_j = gives_j(st) - _promised_j(st, end_s, end_s + book.length_s, bank)


@kernel_part
def _promised_j(st: Books, from_s: float, until_s: float, bank: int) -> float:
    """What running jobs may draw above idle power in a time that begins now or later."""
    total_j = 0.0
    for place in range(st.clock[0].running):
        live = st.live[st.running[st.clock[0].first_running + place]]
        if bank == 0 or live.leaves == 0:
            begin_s = max(from_s, live.up_s)
            total_j += live.watts * max(min(live.latest_s, until_s) - begin_s, 0.0)
    return total_j


@kernel_part
def charge_start(st: Books, job: int) -> None:
    """Where the period of a start pays for all of a job, by its request: let it."""
    book = st.book[0]
    if book.carry != CHARGE_NOW:
        return
    live = st.live[job]
    charged_j = live.watts * (live.latest_s - live.up_s)
    book.charged_j += charged_j
    clock = st.clock[0]
    if clock.pages == 0 or st.page[clock.pages - 1].period != book.period:
        st.page[clock.pages].period = book.period
        clock.pages += 1
    st.page[clock.pages - 1].charged_j += charged_j
