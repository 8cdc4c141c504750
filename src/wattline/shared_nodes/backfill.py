"""The backfill cycle: jobs behind one that waits are started where they delay nobody before them.

slurm.conf, SchedulerParameters: bf_window, bf_resolution, bf_max_job_test, bf_max_job_user,
bf_max_job_part, bf_max_job_assoc, bf_max_job_start, bf_max_job_array_resv, bf_min_age_reserve,
bf_min_prio_reserve, bf_licenses, bf_one_resv_per_job; sacctmgr: Flags=NoReserve of a QOS. Jobs are
taken in their order; one that cannot start now gets a reservation of the nodes that it could have
first.

Jobs of each of the site's reservations are a group, and come before those of none. What is planned
lasts for the cycle only: all that a cycle leaves behind is the jobs it started. So its last group
is ended where no job behind could start even if nothing were reserved.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.attempt import (
    array_has_room,
    array_may_hold,
    count_held_task,
    licences_free,
    start_picked,
)
from wattline.shared_nodes.bounds import forget_left, hold_in_parts
from wattline.shared_nodes.cap import hold_watts
from wattline.shared_nodes.fitting import enough
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.joules import joules_allow
from wattline.shared_nodes.licence_plan import (
    hold_licences,
    licences_from,
    plans_licences,
)
from wattline.shared_nodes.limits import may_be_held, may_run
from wattline.shared_nodes.main_pass import holds_nodes
from wattline.shared_nodes.offers import cpus_needed, forget_ready, offers_now, slot_of
from wattline.shared_nodes.part_room import list_part_room, take_for_start
from wattline.shared_nodes.planned_times import JUST_AFTER_S, overlaps, rounded_down
from wattline.shared_nodes.power import picked_watts, woken_watts
from wattline.shared_nodes.replanning import plans_hold_until
from wattline.shared_nodes.reserving import hold_reserved
from wattline.shared_nodes.room import begin_room, first_room_s, has_room_now, take_room
from wattline.shared_nodes.spans import (
    clear_spans,
    first_try,
    hold_picked,
    mask_free_nodes,
)
from wattline.shared_nodes.state import NEVER_S, QUEUED, STARTED, UP, Books
from wattline.shared_nodes.will_run import will_run
from wattline.shared_nodes.within_bounds import has_watts

PLANNED, LEFT = 10, 11
MOST_TRIES = 10_000


@kernel_part
def backfill_cycle(st: Books) -> None:
    clock = st.clock[0]
    clock.backfills += 1
    _clear_counts(st)
    clock.tested = 0
    clock.started = 0
    clock.held = 0
    clock.held_summed = 0
    clock.plans_until_s = NEVER_S
    if st.rules[0].capped != 0:
        begin_room(st)
    for reservation in range(len(st.resv)):
        count = _look_through(st, reservation)
        if count > 0:
            hold_reserved(st, reservation)
            _plan_all(st, count, False)
    count = _look_through(st, -1)
    if len(st.resv) > 0:
        hold_reserved(st, -1)
    _plan_all(st, count, True)


@kernel_part
def _plan_all(st: Books, count: int, is_last_group: bool) -> None:
    """Start or plan for the jobs of `looked`, in their order.

    Only the last group may end with the last job that may start: the jobs that another tests and
    the watts that it plans for count in the groups behind it too.
    """
    rules = st.rules[0]
    clock = st.clock[0]
    last = count - 1
    if is_last_group:
        last = _last_that_may_start(st, last)
    any_may_start = last >= 0
    if rules.bounded != 0 and any_may_start:
        list_part_room(st)
    place = 0
    while place <= last and clock.tested < rules.bf_max_job_test and not (
            0 < rules.bf_max_job_start <= clock.started):
        entry = st.looked[place]
        place += 1
        job = st.entry[entry].job
        if not _may_start_yet(st, entry) or not array_may_hold(st, job):
            continue
        clock.tested += 1
        drawn_w = clock.power_w + clock.booting_w
        result = _plan(st, entry, clock.held)
        if result == PLANNED:
            count_held_task(st, job)
            clock.held += _hold_watts(st, entry, clock.held)
        elif result == STARTED:
            clock.stale += 1
            clock.started += 1
            if rules.capped != 0:
                _take_watts(st, job, clock.power_w + clock.booting_w - drawn_w)
            if rules.bounded != 0:
                take_for_start(st, job)
        if is_last_group and result in (PLANNED, STARTED):
            last = _last_that_may_start(st, last)
    if any_may_start:
        clock.plans_until_s = min(clock.plans_until_s, plans_hold_until(st))


@kernel_part
def _look_through(st: Books, reservation: int) -> int:
    """List the jobs of a reservation (-1: of none) that this cycle looks at; how many.

    In a long queue most are of users with enough jobs before: no more is read of these.
    """
    most = st.rules[0].bf_max_job_user
    queue, entry_user, user_tried = st.queue, st.entry_user, st.user_tried
    count = 0
    for place in range(st.clock[0].queue):
        entry = queue[place]
        user = entry_user[entry]
        if user >= 0 and 0 < most <= user_tried[user]:
            continue
        job = st.entry[entry].job
        if st.ask[job].reservation == reservation and _is_looked_at(st, entry):
            st.looked[count] = entry
            count += 1
    return count


@kernel_part
def _last_that_may_start(st: Books, place: int) -> int:
    """The last of the list, from this one back, that may start in this cycle.

    Within a cycle less and less is free: who cannot start now will not later in it, nor will one
    that asks for the same and may last longer.
    """
    cycle = st.clock[0].backfills
    bounded = st.rules[0].bounded != 0
    while place >= 0:
        entry = st.looked[place]
        row = st.entry[entry]
        limit_s = row.limit_s
        late = st.late_cycle[row.form] == cycle and limit_s >= st.late_limit_s[row.form]
        late = late or (bounded and st.no_watts_cycle[row.ask] == cycle)
        if not late and st.live[row.job].phase == QUEUED:
            if st.rules[0].capped != 0 and not has_room_now(st, entry):
                place -= 1  # others of its form may draw less
                continue
            if _fits_now(st, entry, bounded):
                return place
            if bounded and _fits_now(st, entry, False):
                st.no_watts_cycle[row.ask] = cycle
            else:
                st.late_cycle[row.form] = cycle
                st.late_limit_s[row.form] = limit_s
        place -= 1
    return -1


@kernel_part
def _may_start_yet(st: Books, entry: int) -> bool:
    """Whether what started in this cycle has left the job its array's and its groups' room."""
    row = st.entry[entry]
    return bool(st.live[row.job].phase == QUEUED and array_has_room(st, row.job)
                and (st.rules[0].enforce_limits == 0 or may_run(st, entry)))


@kernel_part
def _fits_now(st: Books, entry: int, with_watts: bool) -> bool:
    """Whether free nodes that are held for nobody may be enough for the job now.

    With watts: those in parts whose limits may have room for it.
    """
    if not offers_now(st, entry):
        return False
    if with_watts:
        forget_left(st)
    row = st.entry[entry]
    nodes = st.rules[0].nodes
    first = slot_of(st, entry) * nodes
    needed = cpus_needed(st, row.job)
    end_s = st.clock[0].now_s + row.limit_s
    fitting = st.clock[0].fitting
    if st.class_has[row.nodes * nodes + fitting] and (
            not with_watts or _has_watts_now(st, entry, fitting)):
        cpus = _free_until(st, fitting, first, needed, end_s)
        if cpus > 0 and enough(st, row.job, 1, cpus, cpus):
            return True  # mostly it is the node that fitted before
    count = 0
    total = 0
    most = 0
    class_nodes = st.class_nodes
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = class_nodes[place]
        cpus = _free_until(st, node, first, needed, end_s)
        if cpus == 0 or (with_watts and not _has_watts_now(st, entry, node)):
            continue
        count += 1
        total += cpus
        most = max(most, cpus)
        if enough(st, row.job, count, total, most):
            st.clock[0].fitting = node
            return True
    return False


@kernel_part
def _has_watts_now(st: Books, entry: int, node: int) -> bool:
    return has_watts(st, entry, node, st.clock[0].now_s, st.clock[0].held)


@kernel_part
def _free_until(st: Books, node: int, first: int, needed: int, end_s: float) -> int:
    """CPUs that a node offers now; 0 where too few, or where it is held before `end_s`."""
    if st.offer[first + node] < needed or st.node_state[node] != UP:
        return 0
    head = st.span_head[node]
    if head >= 0 and st.span_begin[head] <= end_s:
        return 0
    return int(st.offer[first + node])


@kernel_part
def _clear_counts(st: Books) -> None:
    clear_spans(st)
    st.clock[0].licence_holds = 0
    for index in range(len(st.tried)):
        st.tried[index] = 0
    for index in range(len(st.user_tried)):
        st.user_tried[index] = 0
    for index in range(len(st.assoc_tried)):
        st.assoc_tried[index] = 0


@kernel_part
def _is_looked_at(st: Books, entry: int) -> bool:
    """Whether the job is tested in this cycle, by the limits per partition and association."""
    rules = st.rules[0]
    row = st.entry[entry]
    ask = st.ask[row.job]
    if 0 < rules.bf_max_job_part <= st.tried[row.partition]:
        return False
    if ask.association >= 0 and 0 < rules.bf_max_job_assoc <= st.assoc_tried[ask.association]:
        return False
    if st.live[row.job].phase != QUEUED or st.part[row.partition].up == 0:
        return False
    if not array_has_room(st, row.job):
        return False
    if rules.enforce_limits != 0 and not may_run(st, entry):
        return False
    st.tried[row.partition] += 1
    if ask.association >= 0:
        st.assoc_tried[ask.association] += 1
    if ask.user >= 0:
        st.user_tried[ask.user] += 1
    return bool(ask.any_licence == 0 or rules.bf_licences != 0 or licences_free(st, row.job))


@kernel_part
def _plan(st: Books, entry: int, held: int) -> int:
    """Start the job now, or reserve nodes for it (PLANNED), or leave it (LEFT)."""
    clock = st.clock[0]
    cycle = clock.backfills
    row = st.entry[entry]
    ask_as_in_partition(st, entry)
    if st.never_cycle[row.form] == cycle and row.limit_s >= st.never_limit_s[row.form]:
        return LEFT
    bounded = st.rules[0].bounded != 0
    if bounded and st.no_plan_cycle[row.ask] == cycle:
        return LEFT
    window_end_s = clock.now_s + st.rules[0].bf_window_s
    licensed = plans_licences(st, row.job)
    others_times = licensed  # by licences or joules: of no use to others that ask for the same
    # Mostly the job planned before asked for the same: of the nodes that were open for it all are
    # but those that it got, and its watts are looked at where it is planned.
    again = clock.open_ask == row.ask and not licensed
    if not again and st.rules[0].capped != 0 and (
            first_room_s(st, entry, clock.now_s) > window_end_s):
        return LEFT
    if not again and not _open_first(st, entry, _try_from(st, entry)):
        if st.hint_cycle[row.ask] != cycle and not licensed:  # looked for from now on
            if bounded and clock.short_of_watts != 0:
                st.no_plan_cycle[row.ask] = cycle  # others of its form may draw less
            else:
                st.never_cycle[row.form] = cycle
                st.never_limit_s[row.form] = row.limit_s
        return LEFT
    for _ in range(MOST_TRIES):
        at_s, try_s = clock.open_from_s, clock.open_next_s
        start_s = NEVER_S
        if clock.masked >= st.ask[row.job].min_nodes:
            # A start after `try_s` would be left for another try from there.
            start_s = will_run(st, entry, held, min(window_end_s, try_s))
        if start_s < NEVER_S:
            if start_s <= clock.now_s:
                if not licences_free(st, row.job):
                    return LEFT
                if st.rules[0].budgeted == 0 or joules_allow(st, row.job, 0.0, 0):
                    return start_picked(st, entry)  # will_run.py looked at its power
                try_s = st.book[0].slot_end_s
                others_times = True
            elif start_s <= try_s:
                if start_s > window_end_s:
                    return LEFT
                if st.rules[0].enforce_limits != 0 and not may_be_held(st, entry):
                    return LEFT
                if licensed and licences_from(st, entry, start_s) > start_s:
                    try_s = licences_from(st, entry, start_s)
                elif not overlaps(st, entry, start_s):
                    if not others_times:
                        st.hint_cycle[row.ask] = cycle
                        st.hint_s[row.ask] = at_s
                        clock.open_ask = row.ask
                    return _reserve(st, entry)
                else:
                    try_s = start_s if start_s > at_s else try_s
        if try_s >= NEVER_S:
            return LEFT
        if not again:
            mask_free_nodes(st, entry, try_s)
        elif not _open_first(st, entry, try_s):
            return LEFT
        again = False
    return LEFT


@kernel_part
def _try_from(st: Books, entry: int) -> float:
    """From when on a job is tried."""
    ask = st.entry[entry].ask
    now_s = st.clock[0].now_s
    if plans_licences(st, st.entry[entry].job):
        return licences_from(st, entry, now_s)
    if st.hint_cycle[ask] == st.clock[0].backfills:
        # One that asks for the same found nothing earlier, and since then less is free.
        return float(max(now_s, st.hint_s[ask]))
    return float(now_s)


@kernel_part
def _open_first(st: Books, entry: int, from_s: float) -> bool:
    """Mask the nodes for the first try that may find any, if there is one."""
    offers_now(st, entry)
    forget_ready(st, entry)
    try_s = first_try(st, entry, from_s)
    if try_s >= NEVER_S:
        return False
    mask = st.mask
    for node in range(st.rules[0].nodes):
        mask[node] = False
    mask_free_nodes(st, entry, try_s)
    return True


@kernel_part
def _reserve(st: Books, entry: int) -> int:
    """Hold the nodes that were picked, for the times that `overlaps` looked at.

    Unless the job is one for which nothing is held.
    """
    row = st.entry[entry]
    qos = st.ask[row.job].qos
    if qos >= 0 and st.qos_no_reserve[qos]:
        return LEFT
    if not holds_nodes(st, row.job):
        return LEFT
    if st.rules[0].bf_one_resv != 0:
        if st.live[row.job].reserved == st.clock[0].backfills:
            return LEFT
        st.live[row.job].reserved = st.clock[0].backfills
    if st.clock[0].intervals + st.clock[0].picked > len(st.span_begin):
        return LEFT
    hold_picked(st, st.clock[0].held_begin_s, st.clock[0].held_end_s)
    if plans_licences(st, row.job):
        hold_licences(st, row.job, st.clock[0].held_begin_s, st.clock[0].held_end_s)
    return PLANNED


@kernel_part
def _hold_watts(st: Books, entry: int, held: int) -> int:
    """Under a cap or limits, keep the watts of a planned job too; how many rows that took."""
    rules = st.rules[0]
    if (rules.capped == 0 and rules.bounded == 0) or held >= len(st.held_w):
        return 0
    job = st.entry[entry].job
    watts = picked_watts(st, job, 0) + woken_watts(st)
    start_s, end_s = st.clock[0].held_start_s, st.clock[0].held_end_s
    hold_watts(st, held, start_s, end_s, watts)
    if rules.capped != 0:
        take_room(st, start_s, end_s, watts)
    if rules.bounded != 0:
        hold_in_parts(st, held, job)
    return 1


@kernel_part
def _take_watts(st: Books, job: int, drawn_w: float) -> None:
    """Under a cap, take room for a job that started; nodes that it woke draw power after it too."""
    live = st.live[job]
    now_s = st.clock[0].now_s
    over_s = max(rounded_down(st, live.limit_end_s), now_s + JUST_AFTER_S)
    take_room(st, now_s, over_s, live.watts)
    if st.rules[0].suspend_time_s >= 0.0:
        take_room(st, now_s, NEVER_S, drawn_w - live.watts)
