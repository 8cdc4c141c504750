"""What each node could give to jobs of one form: how much now, and when enough.

Jobs of one form (they ask for the same, but for how long) find the same on every node. So it is
worked out once per form and node, and again where a job came onto the node or left it since. A job
for which too few nodes have enough is refused without a look at the nodes.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.fitting import cpus_for
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.later import copy_after, copy_node, let_row_end
from wattline.shared_nodes.state import NEVER_S, Books

UNKNOWN_S = -2.0 * NEVER_S
"""In `ready`: to be worked out when it is asked for. Before all times, so that it is.

Where `is_ready_known` is not set, `ready` is a time before which the node has not enough.
"""


NOW_S = -NEVER_S
"""In `ready`: the node has enough as it is."""


@kernel_part
def node_moved(st: Books, node: int) -> None:
    """Write down that a job came onto a node or left it, or that its limit ends at another time."""
    clock = st.clock[0]
    st.moved_node[clock.moved % len(st.moved_node)] = node
    clock.moved += 1


@kernel_part
def cpus_needed(st: Books, job: int) -> int:
    """CPUs of one node without which it is of no use to the job, whatever others give."""
    ask = st.ask[job]
    return int(max(ask.cpus - (ask.max_nodes - 1) * st.rules[0].largest_node, 1))


@kernel_part
def slot_of(st: Books, entry: int) -> int:
    """Where the offers to a job's form stand; those of another form there are forgotten."""
    form = st.entry[entry].form
    slot = form % len(st.slot_form)
    if st.slot_form[slot] != form:
        st.slot_form[slot] = form
        st.slot_offers[slot] = -1
        st.slot_readys[slot] = -1
    return int(slot)


@kernel_part
def offers_now(st: Books, entry: int) -> bool:
    """Bring `offer` up to date for a job's form; whether enough nodes have enough now."""
    ask_as_in_partition(st, entry)
    row = st.entry[entry]
    slot = slot_of(st, entry)
    known = st.slot_offers[slot]
    if _too_old(st, row.nodes, known):
        st.slot_able[slot] = 0
        for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
            at = slot * st.rules[0].nodes + st.class_nodes[place]
            st.offer[at] = 0
            _look_now(st, entry, slot, st.class_nodes[place])
    else:
        for number in range(known, st.clock[0].moved):
            node = st.moved_node[number % len(st.moved_node)]
            if st.class_has[row.nodes * st.rules[0].nodes + node]:
                _look_now(st, entry, slot, node)
    st.slot_offers[slot] = st.clock[0].moved
    return bool(st.slot_able[slot] >= st.ask[row.job].min_nodes)


@kernel_part
def _too_old(st: Books, nodes: int, known: int) -> bool:
    """Whether it is as quick, or the only way, to look at all nodes of the class."""
    return bool(known < 0 or st.clock[0].moved - known > min(
        len(st.moved_node), st.class_first[nodes + 1] - st.class_first[nodes]))


@kernel_part
def _look_now(st: Books, entry: int, slot: int, node: int) -> None:
    row = st.entry[entry]
    at = slot * st.rules[0].nodes + node
    needed = cpus_needed(st, row.job)
    cpus = cpus_for(st, row.job, row.partition, 0, node)
    if st.offer[at] >= needed:
        st.slot_able[slot] -= 1
    if cpus >= needed:
        st.slot_able[slot] += 1
    st.offer[at] = cpus


@kernel_part
def ready_by(st: Books, entry: int, time_s: float) -> bool:
    """Whether enough open nodes have enough by then, if running jobs end at their limits.

    Without this the job cannot start; with it, it may.
    """
    first = slot_of(st, entry) * st.rules[0].nodes
    missing = st.ask[st.entry[entry].job].min_nodes
    open_nodes, ready, known = st.open_nodes, st.ready, st.is_ready_known
    for place in range(st.clock[0].masked):
        node = open_nodes[place]
        if ready[first + node] <= time_s and (
                known[first + node] or ready_on(st, entry, node, time_s) <= time_s):
            missing -= 1
            if missing <= 0:
                return True
    return False


@kernel_part
def first_ready_s(st: Books, entry: int) -> float:
    """When the first open node has enough; NOW_S where one has it now."""
    first = slot_of(st, entry) * st.rules[0].nodes
    found_s = NEVER_S
    open_nodes, ready, known = st.open_nodes, st.ready, st.is_ready_known
    for place in range(st.clock[0].masked):
        node = open_nodes[place]
        if ready[first + node] < found_s:
            ready_s = ready[first + node]
            if not known[first + node]:
                ready_s = ready_on(st, entry, node, found_s)
            found_s = min(found_s, ready_s)
            if found_s <= NOW_S:
                break
    return float(found_s)


@kernel_part
def forget_ready(st: Books, entry: int) -> None:
    """Forget of a job's form what is no longer so in `ready`; `offer` must be up to date."""
    row = st.entry[entry]
    slot = slot_of(st, entry)
    first = slot * st.rules[0].nodes
    known = st.slot_readys[slot]
    if _too_old(st, row.nodes, known):
        for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
            st.ready[first + st.class_nodes[place]] = UNKNOWN_S
            st.is_ready_known[first + st.class_nodes[place]] = False
            st.after_from[first + st.class_nodes[place]] = NEVER_S
    else:
        for number in range(known, st.clock[0].moved):
            node = st.moved_node[number % len(st.moved_node)]
            st.ready[first + node] = UNKNOWN_S
            st.is_ready_known[first + node] = False
            st.after_from[first + node] = NEVER_S
    st.slot_readys[slot] = st.clock[0].moved


@kernel_part
def ready_on(st: Books, entry: int, node: int, until_s: float) -> float:
    """When a node has enough: worked out, and kept until a job comes onto it or leaves it.

    Where the first job on it ends after `until_s`, that end is given, and no more worked out.
    """
    row = st.entry[entry]
    at = slot_of(st, entry) * st.rules[0].nodes + node
    needed = cpus_needed(st, row.job)
    held = st.node_first[node]
    if st.offer[at] >= needed:
        st.ready[at] = NOW_S
    elif held < 0:
        st.ready[at] = NEVER_S
    elif st.row_end[held] > until_s:
        st.ready[at] = st.row_end[held]
        return float(st.ready[at])
    else:
        st.ready[at] = _look_later(st, entry, node)
    st.is_ready_known[at] = True
    return float(st.ready[at])


@kernel_part
def _look_later(st: Books, entry: int, node: int) -> float:
    """When the node has enough, as one job after the other ends; NEVER_S not even when empty."""
    row = st.entry[entry]
    needed = cpus_needed(st, row.job)
    copy_node(st, node)
    held = st.node_first[node]
    copy = st.rules[0].nodes + node
    most_beside = 0 if st.ask[row.job].exclusive != 0 else len(st.ask)
    while held >= 0:
        let_row_end(st, held)
        # Only where it may have enough is it looked at in detail.
        if st.cpus_free[copy] >= needed and st.jobs_on[copy] <= most_beside and (
                cpus_for(st, row.job, row.partition, 1, node) >= needed):
            return float(st.row_end[held])
        held = st.row_next[held]
    return NEVER_S


@kernel_part
def cpus_after(st: Books, entry: int, slot: int, node: int, ended: int) -> int:
    """CPUs of a node when running jobs before the place `ended` are over."""
    at = slot * st.rules[0].nodes + node
    # At the very time at which a job on the node ends, not all that end then may be over.
    last_s = st.running_end[ended - 1]
    if not st.after_from[at] < last_s < st.after_to[at]:
        _look_after(st, entry, at, node, ended)
    return int(st.after_cpus[at])


@kernel_part
def _look_after(st: Books, entry: int, at: int, node: int, ended: int) -> None:
    row = st.entry[entry]
    last = copy_after(st, node, ended)
    following = st.node_first[node]
    st.after_from[at] = -NEVER_S
    st.after_cpus[at] = st.offer[at]
    if last >= 0:
        following = st.row_next[last]
        st.after_from[at] = st.row_end[last]
        st.after_cpus[at] = cpus_for(st, row.job, row.partition, 1, node)
    st.after_to[at] = st.row_end[following] if following >= 0 else NEVER_S
