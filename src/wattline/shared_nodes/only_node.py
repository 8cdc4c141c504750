"""The choice of choosing.py for a job that may have one node alone.

slurm.conf: select/cons_tres, best fit. Of the sets of consecutive nodes of one weight only those
matter that have a node with enough. So the others are not looked at, and of the nodes beside one
with enough only those up to the ends of its set.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.offers import cpus_after, ready_on, slot_of
from wattline.shared_nodes.picking import begin_picking, take
from wattline.shared_nodes.state import Books


@kernel_part
def is_for_one_node(st: Books, job: int) -> bool:
    """Whether the choice for a job is made here."""
    ask = st.ask[job]
    rules = st.rules[0]
    return bool(ask.max_nodes == 1 and ask.required < 0 and ask.by_devices == 0
                and rules.least_loaded == 0 and rules.tree == 0)


@kernel_part
def pick_node_now(st: Books, entry: int) -> bool:
    """Pick a node of `mask` as it is now, in one look at the nodes; `offer` must be up to date."""
    row = st.entry[entry]
    nodes = st.rules[0].nodes
    slot = slot_of(st, entry)
    asked = st.ask[row.job].cpus
    best, best_cpus, best_weight = -1, 0, 0
    total, tightest, tightest_cpus = 0, -1, 0  # of the set that is looked at
    begin, end = st.class_first[row.nodes], st.class_first[row.nodes + 1]
    # Counted from 0 in parts of the tables, which spares a look for negative numbers.
    class_nodes, joins = st.class_nodes[begin:end], st.class_joins[begin:end]
    offer, mask = st.offer[slot * nodes : (slot + 1) * nodes], st.mask
    for place in range(len(class_nodes)):
        node = class_nodes[place]
        cpus = offer[node] if mask[node] else 0
        if cpus == 0 or not joins[place]:
            if tightest >= 0:
                weight = st.node_weight[tightest]
                if best < 0 or weight < best_weight or (
                        weight == best_weight and total < best_cpus):
                    best, best_cpus, best_weight = tightest, total, weight
            total, tightest = 0, -1
        total += cpus
        if cpus >= asked and (tightest < 0 or cpus < tightest_cpus):
            tightest, tightest_cpus = node, cpus
    if tightest >= 0:
        weight = st.node_weight[tightest]
        if best < 0 or weight < best_weight or (weight == best_weight and total < best_cpus):
            best = tightest
    if best < 0:
        return False
    st.avail[best] = offer[best]
    begin_picking(st, row.job)
    take(st, row.job, best)
    return True


@kernel_part
def pick_node_after(st: Books, entry: int, ended: int) -> bool:
    """Pick an open node as it is when running jobs before the place `ended` are over.

    `offer` and `ready` must be up to date.
    """
    row = st.entry[entry]
    slot = slot_of(st, entry)
    first = slot * st.rules[0].nodes
    asked = st.ask[row.job].cpus
    best = -1
    best_cpus = 0
    set_end = -1  # the last node of the set that was looked at last
    open_nodes, node_weight = st.open_nodes, st.node_weight
    for place in range(st.clock[0].masked):
        node = open_nodes[place]
        if node <= set_end or not _may_have_enough(st, entry, first + node, node, ended) or (
                cpus_after(st, entry, slot, node, ended) < asked):
            continue
        cpus, tightest, set_end = _set_around(st, entry, slot, node, ended)
        if best < 0 or node_weight[node] < node_weight[best] or (
                node_weight[node] == node_weight[best] and cpus < best_cpus):
            best = tightest
            best_cpus = cpus
    if best < 0:
        return False
    begin_picking(st, row.job)
    take(st, row.job, best)
    return True


@kernel_part
def _may_have_enough(st: Books, entry: int, at: int, node: int, ended: int) -> bool:
    """Whether the node has enough when the last of those jobs ends, if all that end then are."""
    last_s = st.running_end[ended - 1]
    ready_s = st.ready[at]
    if ready_s <= last_s and not st.is_ready_known[at]:
        ready_s = ready_on(st, entry, node, last_s)
    return bool(ready_s <= last_s)


@kernel_part
def _set_around(
    st: Books, entry: int, slot: int, node: int, ended: int
) -> tuple[int, int, int]:
    """The set of a node with enough, the first of it: its CPUs, its best node and its last."""
    asked = st.ask[st.entry[entry].job].cpus
    total = 0
    beside = node - 1
    cpus = _cpus_in_set(st, entry, slot, beside, node, ended)
    while cpus > 0:
        total += cpus
        beside -= 1
        cpus = _cpus_in_set(st, entry, slot, beside, node, ended)
    tightest = node
    beside = node
    cpus = _cpus_in_set(st, entry, slot, beside, node, ended)
    while cpus > 0:
        total += cpus
        if asked <= cpus < st.avail[tightest]:
            tightest = beside
        beside += 1
        cpus = _cpus_in_set(st, entry, slot, beside, node, ended)
    return total, tightest, beside - 1


@kernel_part
def _cpus_in_set(
    st: Books, entry: int, slot: int, node: int, beside: int, ended: int
) -> int:
    """What a node could give, 0 where it does not belong to the set of the one beside it."""
    nodes = st.rules[0].nodes
    if node < 0 or node >= nodes or not st.mask[node] or (
            not st.class_has[st.entry[entry].nodes * nodes + node]) or (
            st.node_weight[node] != st.node_weight[beside]):
        return 0
    st.avail[node] = cpus_after(st, entry, slot, node, ended)
    return int(st.avail[node])
