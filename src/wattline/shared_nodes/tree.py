"""Nodes on as few leaf switches as possible.

slurm.conf: TopologyPlugin=topology/tree ("best-fit logic over a hierarchical network"): nodes of
the lowest Weight that are enough, on the leaf with the fewest of them that is large enough, else on
the largest leaf, then on further ones.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking import done, take
from wattline.shared_nodes.state import Books


@kernel_part
def choose_on_tree(st: Books, job: int, least: int) -> bool:
    """Pick nodes of `near` that could give more than `least` CPUs, leaf by leaf.

    Weights are those of by_devices.py for a job whose devices count.
    """
    # All nodes of lower weights are taken, then those of the last weight that is needed.
    last = _rank_that_is_enough(st, job, least)
    for rank in range(last):
        if st.rank_nodes[rank] > 0 and not _take_rank(st, job, rank, least):
            return False
    return _leaf_by_leaf(st, job, last, least)


@kernel_part
def _rank_that_is_enough(st: Books, job: int, least: int) -> int:
    """The weight, by its rank, up to which nodes have to be taken; -1 where there are none."""
    ranks = st.rules[0].ranks if st.ask[job].by_devices == 0 else len(st.rank_nodes)
    for rank in range(ranks):
        st.rank_nodes[rank] = 0
        st.rank_cpus[rank] = 0
    near, avail, chosen = st.near, st.avail, st.chosen
    node_weight, rank_nodes, rank_cpus = st.node_weight, st.rank_nodes, st.rank_cpus
    if st.ask[job].by_devices != 0:
        node_weight = st.near_rank
    for place in range(st.clock[0].near):
        node = near[place]
        if chosen[node] == 0 and avail[node] > least:
            rank_nodes[node_weight[node]] += 1
            rank_cpus[node_weight[node]] += avail[node]
    nodes = st.ask[job].min_nodes - st.clock[0].picked
    cpus = st.clock[0].missing
    last = -1
    for rank in range(ranks):
        if st.rank_nodes[rank] > 0:
            last = rank
            nodes -= st.rank_nodes[rank]
            cpus -= st.rank_cpus[rank]
            if nodes <= 0 and cpus <= 0 and (
                    st.ask[job].by_devices == 0 or _has_devices_up_to(st, job, rank)):
                break
    return last


@kernel_part
def _has_devices_up_to(st: Books, job: int, rank: int) -> bool:
    """Whether the nodes up to a rank have all devices that the job still lacks."""
    choices = st.rules[0].choices
    for choice in range(choices):
        missing = st.own_job[job * choices + choice] - st.got[choice]
        if missing <= 0:
            continue
        for place in range(st.clock[0].near):
            node = st.near[place]
            if st.near_rank[node] <= rank and st.chosen[node] == 0:
                missing -= st.has[node * choices + choice]
        if missing > 0:
            return False
    return True


@kernel_part
def _open(st: Books, node: int, least: int) -> bool:
    return bool(st.chosen[node] == 0 and st.avail[node] > least)


@kernel_part
def _take_rank(st: Books, job: int, rank: int, least: int) -> bool:
    node_weight = st.node_weight
    if st.ask[job].by_devices != 0:
        node_weight = st.near_rank
    for place in range(st.clock[0].near):
        node = st.near[place]
        if _open(st, node, least) and node_weight[node] == rank:
            if st.clock[0].picked >= st.ask[job].max_nodes:
                return False
            if not take(st, job, node):
                return False
    return True


@kernel_part
def _leaf_by_leaf(st: Books, job: int, rank: int, least: int) -> bool:
    switches = st.rules[0].switches
    for leaf in range(switches + 1):
        st.switch_nodes[leaf] = 0
        st.switch_used[leaf] = 0
    for place in range(st.clock[0].picked):
        st.switch_used[_leaf_of(st, st.pick[place])] = 1
    near, avail, chosen = st.near, st.avail, st.chosen
    node_weight, node_leaf, switch_nodes = st.node_weight, st.node_leaf, st.switch_nodes
    if st.ask[job].by_devices != 0:
        node_weight = st.near_rank
    for place in range(st.clock[0].near):
        node = near[place]
        if node_weight[node] == rank and chosen[node] == 0 and avail[node] > least:
            leaf = node_leaf[node]
            switch_nodes[leaf if leaf >= 0 else switches] += 1
    while st.clock[0].picked < st.ask[job].max_nodes:
        leaf = _best_leaf(st, job)
        if leaf < 0:
            return False
        for place in range(st.clock[0].near):
            node = near[place]
            if node_weight[node] != rank or avail[node] <= least:
                continue
            if st.clock[0].picked >= st.ask[job].max_nodes:
                break
            if _leaf_of(st, node) != leaf or chosen[node] != 0:
                continue
            if not take(st, job, node):
                return False
            if done(st, job):
                return True
        st.switch_nodes[leaf] = 0
    return False


@kernel_part
def _leaf_of(st: Books, node: int) -> int:
    """The node's leaf; nodes on none share a row of their own."""
    leaf = st.node_leaf[node]
    return int(leaf if leaf >= 0 else st.rules[0].switches)


@kernel_part
def _best_leaf(st: Books, job: int) -> int:
    """A leaf already used, else the tightest that is large enough, else the largest."""
    nodes = st.ask[job].min_nodes - st.clock[0].picked
    best = -1
    for leaf in range(st.rules[0].switches + 1):
        count = st.switch_nodes[leaf]
        if count == 0:
            continue
        if best < 0:
            best = leaf
            continue
        if st.switch_used[leaf] != st.switch_used[best]:
            if st.switch_used[leaf] > st.switch_used[best]:
                best = leaf
            continue
        fits = count >= nodes
        best_fits = st.switch_nodes[best] >= nodes
        if (fits and (not best_fits or count < st.switch_nodes[best])) or (
                not fits and not best_fits and count > st.switch_nodes[best]):
            best = leaf
    return best
