"""The event loop: the next time at which something happens, and what happens then.

At one instant ends come first, then nodes that fail and return, submissions, priorities, the main
pass and the backfill cycle, in this order.
"""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.shared_nodes.arriving import (
    end_job,
    may_begin,
    submit_job,
    tell_dependents,
)
from wattline.shared_nodes.backfill import backfill_cycle
from wattline.shared_nodes.cap import ROUNDING_W, cap_at
from wattline.shared_nodes.failing import node_fails, node_returns
from wattline.shared_nodes.giving_up import give_up
from wattline.shared_nodes.joule_book import begin_slot, draw_until, next_slot_s
from wattline.shared_nodes.main_pass import main_pass
from wattline.shared_nodes.preemption import grace_is_over
from wattline.shared_nodes.priority import renew_priorities
from wattline.shared_nodes.queueing import sweep_queue
from wattline.shared_nodes.reserving import hold_jobs_of_ended
from wattline.shared_nodes.sleeping import node_sleeps
from wattline.shared_nodes.starting import nodes_are_up
from wattline.shared_nodes.state import (
    BEGIN,
    BLOCKED,
    END,
    GRACE,
    NEVER_S,
    NODE_READY,
    NODE_SLEEPS,
    Books,
)
from wattline.shared_nodes.timers import drop_first_timer
from wattline.shared_nodes.waking import cycle_from, cycle_takes_s, something_changed

ROOM = 4
"""Rows of the log that one instant may take, at most."""


@kernel
def advance(st: Books, instants: int) -> None:
    """Simulate so many instants, or until all is over or a list is full."""
    clock = st.clock[0]
    for _ in range(instants):
        if clock.over != 0 or not _has_room(st):
            return
        next_s = _next_time(st)
        if next_s >= NEVER_S:
            give_up(st)
            clock.over = 1
            return
        _pass_time(st, next_s)
        _happen(st)
        _decide(st)
        _write_log(st)
        if clock.overfull != 0:
            return


@kernel_part
def _has_room(st: Books) -> bool:
    """Whether whatever happens in one instant can be written down."""
    clock = st.clock[0]
    of_jobs = 2 if st.rules[0].suspend_time_s >= 0.0 else 1  # its end, and when its nodes are up
    timers = clock.timers + of_jobs * len(st.ask) + len(st.node_cpus) + len(st.wait)
    # A job may lose its nodes by an outage and, started again, in a pass.
    is_lost = st.rules[0].preempt != 0 or len(st.out_start) > 0
    gaps = clock.gaps + 2 * len(st.ask) if is_lost else 0
    stays = clock.stays + 2 * st.rules[0].cpus if is_lost else 0  # a CPU at least on each node
    return bool(clock.log + ROOM <= len(st.log_s) and timers <= len(st.timers)
                and gaps <= len(st.gap) and stays <= len(st.stay)
                and (len(st.page) == 0 or clock.pages < len(st.page)))


@kernel_part
def _next_time(st: Books) -> float:
    clock = st.clock[0]
    next_s = min(clock.pass_s, clock.full_s, clock.backfill_s)
    if clock.next_submit < len(st.ask):
        next_s = min(next_s, st.ask[clock.next_submit].submit_s)
    if clock.timers > 0:
        next_s = min(next_s, st.timers[0].time_s)
    waits = clock.queued > 0 or clock.running > 0 or clock.next_submit < len(st.ask)
    if waits or clock.timers > 0:
        if clock.next_outage < len(st.out_start):
            next_s = min(next_s, st.out_start[clock.next_outage])
        if clock.next_cap < len(st.cap_s):
            next_s = min(next_s, st.cap_s[clock.next_cap])
        if clock.next_resv < len(st.resv_s):
            next_s = min(next_s, st.resv_s[clock.next_resv])
        if clock.next_fall < len(st.fall_s):
            next_s = min(next_s, st.fall_s[clock.next_fall])
    if (waits or clock.pending > 0) and clock.next_return < len(st.back_s):
        next_s = min(next_s, st.back_s[clock.next_return])
    if st.rules[0].budgeted != 0:
        next_s = min(next_s, next_slot_s(st))
    if next_s < NEVER_S:  # else nothing is left that time alone could bring about
        next_s = min(next_s, clock.replan_s)
        if st.rules[0].multifactor != 0:
            next_s = min(next_s, clock.priority_s)
    return float(max(next_s, clock.now_s))


@kernel_part
def _pass_time(st: Books, next_s: float) -> None:
    clock = st.clock[0]
    if st.rules[0].capped != 0 and clock.power_w > cap_at(st, clock.now_s) + ROUNDING_W:
        clock.above_s += next_s - clock.now_s
    if st.rules[0].budgeted != 0:
        draw_until(st, next_s)
    clock.now_s = next_s


@kernel_part
def _happen(st: Books) -> None:
    """Everything of this instant but decisions."""
    clock = st.clock[0]
    now_s = clock.now_s
    while clock.timers > 0 and st.timers[0].time_s <= now_s:
        timer = st.timers[0]
        kind, job, generation = timer.kind, timer.job, timer.generation
        drop_first_timer(st)
        _fire(st, kind, job, generation)
    while clock.next_outage < len(st.out_start) and st.out_start[clock.next_outage] <= now_s:
        node_fails(st, st.out_node[clock.next_outage], bool(st.out_drain[clock.next_outage]))
        clock.next_outage += 1
    while clock.next_return < len(st.back_s) and st.back_s[clock.next_return] <= now_s:
        node_returns(st, st.back_node[clock.next_return])
        clock.next_return += 1
    while clock.next_cap < len(st.cap_s) and st.cap_s[clock.next_cap] <= now_s:
        clock.next_cap += 1
        something_changed(st)
    while clock.next_resv < len(st.resv_s) and st.resv_s[clock.next_resv] <= now_s:
        clock.next_resv += 1
        something_changed(st)
        hold_jobs_of_ended(st)
    while clock.next_fall < len(st.fall_s) and st.fall_s[clock.next_fall] <= now_s:
        clock.next_fall += 1
        something_changed(st)
    while clock.next_submit < len(st.ask) and st.ask[clock.next_submit].submit_s <= now_s:
        submit_job(st, clock.next_submit)
        clock.next_submit += 1


@kernel_part
def _fire(st: Books, kind: int, job: int, generation: int) -> None:
    if kind == NODE_SLEEPS:
        if st.node_generation[job] == generation:
            node_sleeps(st, job)
        return
    if st.live[job].generation != generation:
        return
    if kind == END:
        end_job(st, job)
    elif kind == NODE_READY:
        nodes_are_up(st, job)
    elif kind == GRACE:
        grace_is_over(st, job)
    elif kind == BEGIN and st.live[job].phase == BLOCKED:
        may_begin(st, job)


@kernel_part
def _decide(st: Books) -> None:
    clock = st.clock[0]
    rules = st.rules[0]
    now_s = clock.now_s
    if rules.budgeted != 0:
        begin_slot(st)
    if rules.multifactor != 0 and now_s >= clock.priority_s:
        ordered_anew = renew_priorities(st)
        if ordered_anew or rules.bf_min_prio_reserve > 0:
            something_changed(st)
    full = now_s >= clock.full_s
    quick = now_s >= clock.pass_s
    if full or quick or clock.end_pass != 0:
        changed = clock.changed if full else clock.changed_quick
        # Before the pass, in which jobs may give way: that is a change again.
        clock.changed_quick = 0
        if full:
            clock.changed = 0
            clock.full_s = NEVER_S
            clock.last_full_s = now_s
        if clock.queued > 0 and changed != 0:
            gone = clock.gone
            while main_pass(st, full):
                clock.stale += 1
            if clock.cut_short != 0 and clock.gone > gone:
                something_changed(st)  # the next one goes further
        if full or quick:
            clock.last_pass_s = now_s
            clock.pass_s = NEVER_S
        clock.end_pass = 0
    if now_s >= min(clock.backfill_s, clock.replan_s):
        clock.last_backfill_s = now_s
        clock.backfill_s = NEVER_S
        clock.replan_s = NEVER_S
        if clock.queued > 0:
            clock.last_backfill_s += cycle_takes_s(st, clock.queued)
            gone = clock.gone
            backfill_cycle(st)
            if clock.gone > gone:
                something_changed(st)  # who held others back in a main pass may be gone
            if clock.plans_until_s < NEVER_S:
                clock.replan_s = cycle_from(st, clock.plans_until_s)
    while clock.told > 0:
        clock.told -= 1
        tell_dependents(st, st.told[clock.told])
    if clock.stale > 64 + clock.queue // 8:
        sweep_queue(st)
        clock.stale = 0


@kernel_part
def _write_log(st: Books) -> None:
    """One row for an instant at which anything changed."""
    clock = st.clock[0]
    if clock.log > 0 and clock.power_w == clock.logged_power_w and (
            clock.busy_cpus == clock.logged_busy and clock.queued == clock.logged_queued):
        return
    row = clock.log
    if row > 0 and st.log_s[row - 1] == clock.now_s:
        row -= 1
    st.log_s[row] = clock.now_s
    st.log_w[row] = clock.power_w
    st.log_busy[row] = clock.busy_cpus
    clock.log = row + 1
    clock.logged_power_w = clock.power_w
    clock.logged_busy = clock.busy_cpus
    clock.logged_queued = clock.queued
