"""The choice of tree.py for a job that may have one node alone.

slurm.conf: TopologyPlugin=topology/tree. Such a job gets the first node, of the lowest weight, on
the leaf with the fewest such nodes. Where that has too few CPUs the try has failed, and as in
choosing.py the nodes with the fewest CPUs are left out of the next. So each try is one look at the
nodes, and the weights behind the lowest one never matter.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking import begin_picking, take
from wattline.shared_nodes.state import Books


@kernel_part
def is_for_one_on_tree(st: Books, job: int) -> bool:
    """Whether the choice for a job is made here."""
    ask = st.ask[job]
    rules = st.rules[0]
    return bool(ask.max_nodes == 1 and ask.required < 0 and ask.by_devices == 0
                and rules.least_loaded == 0 and rules.tree != 0)


@kernel_part
def choose_one_on_tree(st: Books, job: int) -> bool:
    """Choose one of the nodes of `near`."""
    asked = st.ask[job].cpus
    least = 0
    while True:
        node, least = _first_on_tightest_leaf(st, least)
        if node < 0:
            return False
        if st.avail[node] >= asked:
            begin_picking(st, job)
            take(st, job, node)
            return True


@kernel_part
def _first_on_tightest_leaf(st: Books, least: int) -> tuple[int, int]:
    """Of the nodes with more than `least` CPUs: the one (or -1), and the fewest CPUs of any."""
    near, avail, node_weight, node_leaf = st.near, st.avail, st.node_weight, st.node_leaf
    on_leaf, first = st.switch_nodes, st.switch_first
    switches = st.rules[0].switches
    fewest = len(st.with_cpus)
    rank = len(st.rank_nodes)
    for place in range(st.clock[0].near):
        node = near[place]
        if avail[node] <= least:
            continue
        fewest = min(fewest, avail[node])
        if node_weight[node] > rank:
            continue
        if node_weight[node] < rank:
            rank = node_weight[node]
            for leaf in range(switches + 1):
                on_leaf[leaf] = 0
        leaf = node_leaf[node] if node_leaf[node] >= 0 else switches
        if on_leaf[leaf] == 0:
            first[leaf] = node
        on_leaf[leaf] += 1
    if rank == len(st.rank_nodes):
        return -1, least
    best = -1
    for leaf in range(switches + 1):
        if on_leaf[leaf] > 0 and (best < 0 or on_leaf[leaf] < on_leaf[best]):
            best = leaf
    return int(first[best]), int(fewest)
