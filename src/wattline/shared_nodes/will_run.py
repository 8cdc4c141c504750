"""When and where a job could start, if running jobs end at their limits.

select_plugins.html, "will run": the job is tried now; then running jobs are let end in the order of
their limits, those that end close together at once (within 30 seconds, doubled after every try),
and the job is tried after each group.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.cap import cap_allows
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import gather
from wattline.shared_nodes.power import picked_watts
from wattline.shared_nodes.starting import release
from wattline.shared_nodes.state import NEVER_S, Books

FIRST_WINDOW_S = 30.0


@kernel_part
def will_run(st: Books, entry: int, held: int, until_s: float) -> float:
    """The earliest start on nodes of `mask`, NEVER_S where none is before `until_s`."""
    now_s = st.clock[0].now_s
    job = st.entry[entry].job
    if gather(st, entry, 0) and choose(st, job) and _watts_fit(st, job, now_s, held):
        return float(now_s)
    _copy_nodes(st, entry)
    running = st.clock[0].running
    window_s = FIRST_WINDOW_S
    edge_s = -1.0
    place = 0
    while place < running:
        last = -1
        while place < running:
            other = st.running[place]
            place += 1
            if not _touches(st, other):
                continue
            end_s = st.live[other].limit_end_s
            if end_s > until_s:
                return NEVER_S
            if edge_s < 0.0:
                past_s = (end_s + st.rules[0].unix_s) % FIRST_WINDOW_S
                edge_s = end_s + FIRST_WINDOW_S - past_s
            release(st, other, 1, True)
            last = other
            if place < running and (
                    st.live[st.running[place]].limit_end_s > edge_s + window_s):
                break
        if last < 0:
            return NEVER_S
        window_s *= 2.0
        while place < running and st.live[st.running[place]].limit_end_s > edge_s + window_s:
            window_s *= 2.0
        start_s = max(st.live[last].limit_end_s, now_s + 1.0)
        if gather(st, entry, 1) and choose(st, job) and _watts_fit(st, job, start_s, held):
            return float(start_s)
    return NEVER_S


@kernel_part
def _watts_fit(st: Books, job: int, start_s: float, held: int) -> bool:
    return bool(st.rules[0].capped == 0 or cap_allows(
        st, picked_watts(st, job), start_s, start_s + st.ask[job].limit_s, held))


@kernel_part
def _touches(st: Books, job: int) -> bool:
    """Whether a running job is on a node of `mask`."""
    first = st.ask[job].first_row
    found = False
    for index in range(first, first + st.live[job].nodes):
        found |= bool(st.mask[st.row_node[index]])
    return found


@kernel_part
def _copy_nodes(st: Books, entry: int) -> None:
    """Bank 1 becomes what the candidate nodes are now."""
    nodes = st.rules[0].nodes
    kinds = st.rules[0].kinds
    row = st.entry[entry]
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        copy = nodes + node
        st.cpus_free[copy] = st.cpus_free[node]
        st.memory_free[copy] = st.memory_free[node]
        st.jobs_on[copy] = st.jobs_on[node]
        st.user_on[copy] = st.user_on[node]
        for kind in range(kinds):
            st.gres_free[copy * kinds + kind] = st.gres_free[node * kinds + kind]
