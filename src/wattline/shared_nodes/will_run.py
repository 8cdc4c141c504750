"""When and where a job could start, if running jobs end at their limits.

select_plugins.html, "will run": the job is tried now; then running jobs are let end in the order of
their limits, those that end close together at once (within 30 seconds, doubled after every try),
and the job is tried after each group.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.cap import cap_allows
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import cpus_for, enough, gather
from wattline.shared_nodes.power import picked_watts
from wattline.shared_nodes.state import NEVER_S, Books

FIRST_WINDOW_S = 30.0


@kernel_part
def will_run(st: Books, entry: int, held: int, until_s: float) -> float:
    """The earliest start on nodes of `mask`, NEVER_S where none is before `until_s`."""
    clock = st.clock[0]
    now_s = clock.now_s
    job = st.entry[entry].job
    if gather(st, entry, 0) and choose(st, job) and _watts_fit(st, job, now_s, held):
        return float(now_s)
    _copy_nodes(st, entry)
    window_s = FIRST_WINDOW_S
    edge_s = -1.0
    place = 0
    while place < clock.running:
        last_s = -1.0
        while place < clock.running:
            other = st.running[place]
            end_s = st.live[other].limit_end_s
            if end_s > until_s and (last_s < 0.0 or _any_touches(st, place)):
                return NEVER_S
            place += 1
            if not _let_end(st, entry, other):
                continue
            if edge_s < 0.0:
                past_s = (end_s + st.rules[0].unix_s) % FIRST_WINDOW_S
                edge_s = end_s + FIRST_WINDOW_S - past_s
            last_s = end_s
            if place < clock.running and (
                    st.live[st.running[place]].limit_end_s > edge_s + window_s):
                break
        if last_s < 0.0:
            return NEVER_S
        window_s *= 2.0
        while place < clock.running and (
                st.live[st.running[place]].limit_end_s > edge_s + window_s):
            window_s *= 2.0
        start_s = max(last_s, now_s + 1.0)
        if enough(st, job, clock.near, clock.near_cpus, clock.near_most) and (
                gather(st, entry, 1) and choose(st, job)) and _watts_fit(st, job, start_s, held):
            return float(start_s)
    return NEVER_S


@kernel_part
def _watts_fit(st: Books, job: int, start_s: float, held: int) -> bool:
    return bool(st.rules[0].capped == 0 or cap_allows(
        st, picked_watts(st, job), start_s, start_s + st.ask[job].limit_s, held))


@kernel_part
def _any_touches(st: Books, place: int) -> bool:
    """Whether any running job from this place on is on a node of `mask`."""
    found = False
    while not found and place < st.clock[0].running:
        job = st.running[place]
        first = st.ask[job].first_row
        for index in range(first, first + st.live[job].nodes):
            found |= bool(st.mask[st.row_node[index]])
        place += 1
    return found


@kernel_part
def _let_end(st: Books, entry: int, other: int) -> bool:
    """Let a running job end in bank 1, on nodes of `mask`; whether it is on any.

    The sums over nodes that could serve are kept up to date: nodes are looked at one by one only
    when they may be enough.
    """
    rules = st.rules[0]
    clock = st.clock[0]
    row = st.entry[entry]
    first = st.ask[other].first_row
    touched = False
    for index in range(first, first + st.live[other].nodes):
        node = st.row_node[index]
        if not st.mask[node]:
            continue
        touched = True
        place = rules.nodes + node
        st.cpus_free[place] += st.row_cpus[index]
        st.memory_free[place] += st.row_memory[index]
        st.jobs_on[place] -= 1
        if st.jobs_on[place] == 0:
            st.user_on[place] = -1
        for kind in range(rules.kinds):
            st.gres_free[place * rules.kinds + kind] += st.row_gres[index * rules.kinds + kind]
        cpus = cpus_for(st, row.job, row.partition, 1, node)
        if cpus > 0 and st.avail[node] == 0:
            clock.near += 1
        clock.near_cpus += cpus - st.avail[node]
        clock.near_most = max(clock.near_most, cpus)
        st.avail[node] = cpus
    return touched


@kernel_part
def _copy_nodes(st: Books, entry: int) -> None:
    """Bank 1 becomes what the candidate nodes are now."""
    nodes = st.rules[0].nodes
    kinds = st.rules[0].kinds
    row = st.entry[entry]
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        if not st.mask[node]:
            continue
        copy = nodes + node
        st.cpus_free[copy] = st.cpus_free[node]
        st.memory_free[copy] = st.memory_free[node]
        st.jobs_on[copy] = st.jobs_on[node]
        st.user_on[copy] = st.user_on[node]
        for kind in range(kinds):
            st.gres_free[copy * kinds + kind] = st.gres_free[node * kinds + kind]
