"""Nodes that are reserved: jobs of the reservation run on them alone, and others stay out.

reservations.html: "When cores or nodes are reserved, then jobs using that reservation can use only
those resources and no other jobs can use those resources"; "As the reservation time approaches,
only jobs that can complete by the reservation time will be initiated"; "The job will be canceled
after the reservation reaches its EndTime", or ResvOverRun (slurm.conf) later; "when a reservation
ends the reservation request will be removed from any pending jobs submitted to the reservation and
will be put into a held state". A maintenance (Flags=MAINT) has its nodes before the reservations
that it overlaps, and one with Flags=OVERLAP before all but a maintenance.

In a main pass a job of a reservation that cannot start holds back those of the same reservation
alone; one without that no open node could ever serve holds back nobody. Backfill plans for each
reservation by itself: jobs of one and of others never meet on a node.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.fitting import enough
from wattline.shared_nodes.queueing import count_waiting
from wattline.shared_nodes.spans import add_span, clear_spans
from wattline.shared_nodes.state import BLOCKED, BUSY, QUEUED, RESERVED, Books

JUST_AFTER_S = 1e-6
"""A job may end when a reservation begins; spans count both ends."""
ITS_RESERVATION_IS_OVER = 13


@kernel_part
def must_wait(st: Books, job: int) -> bool:
    """Whether its reservation has not begun, or holds back its other jobs in this pass."""
    row = st.ask[job].reservation
    if row < 0:
        return False
    return bool(st.clock[0].now_s < st.resv[row].start_s
                or st.resv[row].failed == st.clock[0].passes)


@kernel_part
def is_over(st: Books, job: int) -> bool:
    row = st.ask[job].reservation
    return bool(row >= 0 and st.clock[0].now_s >= st.resv[row].end_s)


@kernel_part
def fail_reservation(st: Books, job: int) -> None:
    st.resv[st.ask[job].reservation].failed = st.clock[0].passes


@kernel_part
def _keeps_out(st: Books, row: int, mine: int) -> bool:
    """Whether reservation `row` keeps its nodes from jobs of `mine` (-1: of none)."""
    if row == mine:
        return False
    if mine < 0:
        return True
    return bool(st.resv[mine].maint == 0 and (
        st.resv[mine].overlap == 0 or st.resv[row].maint != 0))


@kernel_part
def close_nodes(st: Books, entry: int) -> None:
    """Take the nodes that others have reserved, while the job would run, out of `mask`."""
    job = st.entry[entry].job
    nodes = st.rules[0].nodes
    now_s = st.clock[0].now_s
    end_s = now_s + st.entry[entry].limit_s
    count = 0
    for row in range(len(st.resv)):
        resv = st.resv[row]
        if resv.start_s >= end_s or resv.end_s <= now_s or not _keeps_out(
                st, row, st.ask[job].reservation):
            continue
        for node in range(nodes):
            if st.resv_nodes[row * nodes + node] and st.mask[node]:
                st.mask[node] = False
                st.closed[count] = node
                count += 1
    st.clock[0].closed = count


@kernel_part
def open_nodes(st: Books, entry: int, result: int) -> int:
    """Put them back; RESERVED where the job could not start for want of them, whatever ended."""
    if result == BUSY and st.clock[0].closed > 0 and not _could_ever_serve(st, entry):
        result = RESERVED
    for place in range(st.clock[0].closed):
        st.mask[st.closed[place]] = True
    st.clock[0].closed = 0
    return result


@kernel_part
def _could_ever_serve(st: Books, entry: int) -> bool:
    """Whether the open nodes of its class may be enough when they are empty."""
    row = st.entry[entry]
    count = 0
    total = 0
    most = 0
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        if st.mask[node]:
            count += 1
            total += st.node_cpus[node]
            most = max(most, st.node_cpus[node])
    return enough(st, row.job, count, total, most)


@kernel_part
def hold_reserved(st: Books, mine: int) -> None:
    """Begin backfill's plan for jobs of a reservation (-1: of none): nodes that are not theirs."""
    clear_spans(st)
    nodes = st.rules[0].nodes
    now_s = st.clock[0].now_s
    for row in range(len(st.resv)):
        resv = st.resv[row]
        if resv.end_s <= now_s:
            continue
        for node in range(nodes):
            if not st.resv_nodes[row * nodes + node]:
                continue
            if row == mine:
                if resv.start_s > now_s:
                    add_span(st, node, now_s - 1.0, resv.start_s - JUST_AFTER_S)
            elif _keeps_out(st, row, mine):
                add_span(st, node, resv.start_s + JUST_AFTER_S, resv.end_s)
    st.clock[0].reserved = st.clock[0].intervals


@kernel_part
def hold_jobs_of_ended(st: Books) -> None:
    """Jobs of reservations that are over wait until somebody lets them go, which nobody does."""
    for place in range(st.clock[0].queue):
        job = st.entry[st.queue[place]].job
        if st.live[job].phase == QUEUED and is_over(st, job):
            st.live[job].phase = BLOCKED
            st.live[job].reason = ITS_RESERVATION_IS_OVER
            st.clock[0].queued -= 1
            count_waiting(st, job, -1)
