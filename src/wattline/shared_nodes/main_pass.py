"""The main pass: jobs in their order are started while they can be.

sched_config.html and slurm.conf, SchedulerParameters: default_queue_depth (how many a quick pass
looks at), partition_job_depth, bf_min_age_reserve, bf_min_prio_reserve. A job that cannot start
holds back those behind it in its partition, and all jobs on the nodes of that partition; one that
names its nodes holds back those nodes alone; one that a cap has no room for nobody: set_aside.py.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.attempt import array_has_room, attempt, licences_free
from wattline.shared_nodes.limits import may_run
from wattline.shared_nodes.preemption import make_room
from wattline.shared_nodes.reserving import (
    close_nodes,
    fail_reservation,
    must_wait,
    open_nodes,
)
from wattline.shared_nodes.set_aside import is_set_aside
from wattline.shared_nodes.state import BUSY, QUEUED, STARTED, UP, Books


@kernel_part
def main_pass(st: Books, full: bool) -> bool:
    """Whether jobs gave way to one that started, so that the pass has to begin again."""
    rules = st.rules[0]
    clock = st.clock[0]
    open_ = _begin_pass(st)
    depth = 0
    place = 0
    while place < clock.queue and open_ > 0:
        entry = st.queue[place]
        place += 1
        row = st.entry[entry]
        if st.live[row.job].phase != QUEUED or not array_has_room(st, row.job):
            continue
        if rules.part_depth > 0:
            st.tried[row.partition] += 1
            if st.tried[row.partition] > rules.part_depth:
                clock.cut_short = 1
                continue
        depth += 1
        if not full and depth > rules.depth + 1:
            clock.cut_short = 1
            break
        if st.part[row.partition].up == 0 or (
                st.failed[row.partition] != 0 and st.ask[row.job].reservation < 0):
            continue
        if len(st.resv) > 0 and must_wait(st, row.job):
            continue
        if rules.enforce_limits != 0 and not may_run(st, entry):
            continue
        if st.ask[row.job].any_licence != 0 and not licences_free(st, row.job):
            if rules.bf_licences != 0:
                break
            continue
        if len(st.resv) > 0:
            close_nodes(st, entry)
        result = attempt(st, entry)
        if result == BUSY and rules.preempt != 0 and make_room(st, entry):
            result = attempt(st, entry)
            if result == STARTED:
                return True
            # Those that gave way stand in the queue now, which moved under this loop.
            place = _place_after(st, entry)
        if len(st.resv) > 0:
            result = open_nodes(st, entry, result)
        if result == STARTED:
            clock.stale += 1
        elif result == BUSY and is_set_aside(st, entry):
            depth -= 1
        elif result == BUSY and _hold_back(st, entry):
            open_ -= 1
    return False


@kernel_part
def _begin_pass(st: Books) -> int:
    """Open all nodes that are up, and all partitions; in how many of these jobs wait."""
    rules = st.rules[0]
    st.clock[0].passes += 1
    st.clock[0].cut_short = 0
    for node in range(rules.nodes):
        st.mask[node] = st.node_state[node] == UP
    open_ = 0
    for partition in range(rules.partitions):
        st.failed[partition] = 0
        st.tried[partition] = 0
        open_ += 1 if st.part[partition].waiting > 0 else 0
    return open_


@kernel_part
def _place_after(st: Books, entry: int) -> int:
    """The place in the queue behind this entry."""
    place = 0
    while place < st.clock[0].queue and st.queue[place] != entry:
        place += 1
    return place + 1


@kernel_part
def _hold_back(st: Books, entry: int) -> bool:
    """Keep others from the nodes of a job that could not start; whether by its partition."""
    rules = st.rules[0]
    row = st.entry[entry]
    ask = st.ask[row.job]
    if ask.required >= 0 and ask.required_nodes >= ask.min_nodes:
        for node in range(rules.nodes):
            if st.required[ask.required * rules.nodes + node]:
                st.mask[node] = False
        return False
    if ask.reservation >= 0:
        fail_reservation(st, row.job)
        return False
    if not holds_nodes(st, row.job):
        return False
    st.failed[row.partition] = 1
    for node in range(rules.nodes):
        if st.part_nodes[row.partition * rules.nodes + node]:
            st.mask[node] = False
    return True


@kernel_part
def holds_nodes(st: Books, job: int) -> bool:
    """Whether a job is old and important enough to keep nodes from others."""
    rules = st.rules[0]
    live = st.live[job]
    waited_s = st.clock[0].now_s - live.eligible_s
    return bool(waited_s >= rules.bf_min_age_reserve_s
                and live.priority >= rules.bf_min_prio_reserve)
