"""Nodes on as few leaf switches as possible.

slurm.conf: TopologyPlugin=topology/tree ("best-fit logic over a hierarchical network"): nodes of
the lowest Weight that are enough, on the leaf with the fewest of them that is large enough, else on
the largest leaf, then on further ones.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking import cpus_missing, done, take
from wattline.shared_nodes.state import Books


@kernel_part
def choose_on_tree(st: Books, job: int, least: int) -> bool:
    """Pick nodes of `near` that could give more than `least` CPUs, leaf by leaf."""
    from_weight = -(1 << 60)
    to_weight = _weight_that_is_enough(st, job, least)
    # All nodes of lower weights are taken, then those of the last weight that is needed.
    while True:
        weight = _next_weight(st, from_weight, least)
        if weight >= to_weight:
            break
        if not _take_weight(st, job, weight, least):
            return False
        from_weight = weight
    return _leaf_by_leaf(st, job, to_weight, least)


@kernel_part
def _weight_that_is_enough(st: Books, job: int, least: int) -> int:
    """The weight up to which nodes have to be taken."""
    ask = st.ask[job]
    nodes = ask.min_nodes - st.clock[0].picked
    cpus = cpus_missing(st, job)
    weight = -(1 << 60)
    while True:
        following = _next_weight(st, weight, least)
        if following == 1 << 60:
            return weight
        weight = following
        for place in range(st.clock[0].near):
            node = st.near[place]
            if _open(st, node, least) and st.node_weight[node] == weight:
                nodes -= 1
                cpus -= st.avail[node]
        if nodes <= 0 and cpus <= 0:
            return weight


@kernel_part
def _open(st: Books, node: int, least: int) -> bool:
    return bool(st.chosen[node] == 0 and st.avail[node] > least)


@kernel_part
def _next_weight(st: Books, after: int, least: int) -> int:
    found = 1 << 60
    for place in range(st.clock[0].near):
        node = st.near[place]
        if _open(st, node, least) and st.node_weight[node] > after:
            found = min(found, st.node_weight[node])
    return found


@kernel_part
def _take_weight(st: Books, job: int, weight: int, least: int) -> bool:
    for place in range(st.clock[0].near):
        node = st.near[place]
        if _open(st, node, least) and st.node_weight[node] == weight:
            if st.clock[0].picked >= st.ask[job].max_nodes:
                return False
            take(st, job, node)
    return True


@kernel_part
def _leaf_by_leaf(st: Books, job: int, weight: int, least: int) -> bool:
    switches = st.rules[0].switches
    for leaf in range(switches + 1):
        st.switch_nodes[leaf] = 0
        st.switch_used[leaf] = 0
    for place in range(st.clock[0].picked):
        st.switch_used[_leaf_of(st, st.pick[place])] = 1
    for place in range(st.clock[0].near):
        node = st.near[place]
        if _open(st, node, least) and st.node_weight[node] == weight:
            st.switch_nodes[_leaf_of(st, node)] += 1
    while st.clock[0].picked < st.ask[job].max_nodes:
        leaf = _best_leaf(st, job)
        if leaf < 0:
            return False
        for place in range(st.clock[0].near):
            node = st.near[place]
            if st.clock[0].picked >= st.ask[job].max_nodes:
                break
            if _leaf_of(st, node) != leaf or not _open(st, node, least) or (
                    st.node_weight[node] != weight):
                continue
            take(st, job, node)
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
