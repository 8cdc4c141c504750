"""A choice of nodes that follow each other.

slurm.conf: select/cons_tres, best fit: the smallest set of consecutive nodes of the lowest Weight
that is large enough, and in it, for one node, the node with the fewest CPUs left over.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking import done, take
from wattline.shared_nodes.picking_devices import devices_suffice
from wattline.shared_nodes.state import Books


@kernel_part
def consecutive(st: Books, job: int, least: int) -> bool:
    sets = _find_sets(st, job, least)
    ask = st.ask[job]
    while st.clock[0].picked < ask.max_nodes:
        best = _best_set(st, job, sets)
        if best < 0 or not _take_from_set(st, job, best, least):
            return False
        if done(st, job):
            return True
        st.set_nodes[best] = 0
    return False


@kernel_part
def _find_sets(st: Books, job: int, least: int) -> int:
    """Runs of consecutive nodes of one weight; how many.

    Tries that fail take most of the time of a choice, and this most of theirs: a set is added up
    in variables and written down when it ends.
    """
    near, avail, chosen, node_weight = st.near, st.avail, st.chosen, st.node_weight
    if st.ask[job].by_devices != 0:
        node_weight = st.near_rank
    sets = 0
    last = -2
    weight, start, end, cpus, nodes, most = 0, 0, 0, 0, 0, 0
    for place in range(st.clock[0].near):
        node = near[place]
        given = avail[node]
        if given <= least or chosen[node] != 0:
            continue
        if last != node - 1 or weight != node_weight[node]:
            if sets > 0:
                _write_set(st, sets - 1, start, end, cpus, nodes, weight, most)
            sets += 1
            weight, start, cpus, nodes, most = node_weight[node], place, 0, 0, 0
        end = place
        cpus += given
        nodes += 1
        most = max(most, given)
        last = node
    if sets > 0:
        _write_set(st, sets - 1, start, end, cpus, nodes, weight, most)
    st.clock[0].sets = sets
    return sets


@kernel_part
def _write_set(
    st: Books, index: int, start: int, end: int, cpus: int, nodes: int, weight: int, most: int
) -> None:
    st.set_start[index] = start
    st.set_end[index] = end
    st.set_cpus[index] = cpus
    st.set_nodes[index] = nodes
    st.set_weight[index] = weight
    st.set_most[index] = most


@kernel_part
def _best_set(st: Books, job: int, sets: int) -> int:
    """Lowest weight, then the tightest that is sufficient, else the largest.

    Where only one node more may be taken, sets without one that completes the choice are passed.
    """
    ask = st.ask[job]
    nodes = ask.min_nodes - st.clock[0].picked
    cpus = st.clock[0].missing
    last = st.clock[0].picked == ask.max_nodes - 1
    best = -1
    best_fits = False
    for index in range(sets):
        if st.set_nodes[index] == 0 or (last and st.set_most[index] < cpus):
            continue
        fits = bool(st.set_cpus[index] >= cpus and st.set_nodes[index] >= nodes)
        if fits and ask.by_devices != 0:
            fits = devices_suffice(st, job, st.set_start[index], st.set_end[index])
        better = best < 0 or st.set_weight[index] < st.set_weight[best]
        if not better and st.set_weight[index] == st.set_weight[best]:
            if fits:
                better = not best_fits or st.set_cpus[index] < st.set_cpus[best]
            else:
                better = not best_fits and st.set_cpus[index] > st.set_cpus[best]
        if better:
            best = index
            best_fits = fits
    return best


@kernel_part
def _take_from_set(st: Books, job: int, index: int, least: int) -> bool:
    """Take what the job needs of a set; whether its choice can still be completed."""
    ask = st.ask[job]
    cpus = st.clock[0].missing
    if ask.min_nodes - st.clock[0].picked <= 1:
        best = -1
        for place in range(st.set_start[index], st.set_end[index] + 1):
            node = st.near[place]
            if st.avail[node] > least and st.chosen[node] == 0 and st.avail[node] >= cpus and (
                    best < 0 or st.avail[node] < st.avail[best]) and (
                    ask.by_devices == 0 or devices_suffice(st, job, place, place)):
                best = node
        if best >= 0:
            return take(st, job, best)
    for place in range(st.set_start[index], st.set_end[index] + 1):
        if st.clock[0].picked >= ask.max_nodes or done(st, job):
            return True
        node = st.near[place]
        if st.avail[node] <= least or st.chosen[node] != 0:
            continue
        if st.clock[0].picked == ask.max_nodes - 1 and st.avail[node] < cpus:
            continue
        if not take(st, job, node):
            return False
        cpus = st.clock[0].missing
    return True
