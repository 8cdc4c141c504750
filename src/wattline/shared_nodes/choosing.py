"""Which of the nodes that could serve a job it gets.

slurm.conf: select/cons_tres ("best fit": the smallest set of consecutive nodes of the lowest Weight
that is large enough, and in it, for one node, the node with the fewest CPUs left over); CR_LLN (the
least loaded nodes first). Where a choice fails, the nodes with the fewest CPUs are left out and it
is tried again.

A try is given up as soon as it takes a node with which it cannot be completed: one with fewer CPUs
than are missing when all others are the largest that there are (`fewest`).
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.one_on_tree import choose_one_on_tree, is_for_one_on_tree
from wattline.shared_nodes.picking import begin_picking, done, take
from wattline.shared_nodes.scattered import (
    lie_apart,
    part_that_is_enough,
    set_that_is_enough,
)
from wattline.shared_nodes.state import Books
from wattline.shared_nodes.tree import choose_on_tree
from wattline.shared_nodes.widening import ask_for_nodes


@kernel_part
def choose(st: Books, job: int) -> bool:
    """Choose among the nodes of `near`; the choice stands in `pick` and `pick_cpus`.

    One that asks for a range of nodes gets as many as there are, if it could start with the fewest.
    """
    if is_for_one_on_tree(st, job):
        return choose_one_on_tree(st, job)
    if st.ask[job].widens == 0:
        return _choose(st, job)
    fewest, cpus = st.ask[job].min_nodes, st.ask[job].cpus
    if not _choose(st, job):
        return False
    found = False
    wanted = min(st.ask[job].max_nodes, st.clock[0].near)
    while not found and wanted >= fewest:
        ask_for_nodes(st, job, wanted)
        found = _choose(st, job)
        wanted -= 1
        st.ask[job].min_nodes = fewest
        st.ask[job].cpus = cpus
    return found


@kernel_part
def _choose(st: Books, job: int) -> bool:
    ask = st.ask[job]
    clock = st.clock[0]
    total = _count_by_cpus(st)
    if not _largest_are_enough(st, job):
        return False
    apart = lie_apart(st, job)
    first, last = 0, -1  # nodes of a set with which every try fails
    clock.picked = 0
    left = clock.near
    least = 0
    while True:
        if first <= last:
            first, last = part_that_is_enough(st, job, least, first, last)
        if first > last:
            if _choose_above(st, job, least):
                return True
            if apart:
                first, last = set_that_is_enough(st, job)
        if left <= ask.min_nodes:
            return False
        least += 1
        while st.with_cpus[least] == 0:
            least += 1
        left -= st.with_cpus[least]
        total -= st.with_cpus[least] * least
        if left < ask.min_nodes or total < ask.cpus:
            return False


@kernel_part
def _count_by_cpus(st: Books) -> int:
    """Count the nodes of `near` by what they could give; all CPUs together."""
    near, avail, chosen, with_cpus = st.near, st.avail, st.chosen, st.with_cpus
    for cpus in range(len(with_cpus)):
        with_cpus[cpus] = 0
    total = 0
    for place in range(st.clock[0].near):
        node = near[place]
        chosen[node] = 0
        with_cpus[avail[node]] += 1
        total += avail[node]
    return total


@kernel_part
def _largest_are_enough(st: Books, job: int) -> bool:
    """Whether as many nodes as the job may have are enough; finds `fewest`."""
    with_cpus = st.with_cpus
    others = st.ask[job].max_nodes - 1
    missing = st.ask[job].cpus
    cpus = len(with_cpus) - 1
    while cpus > 0 and with_cpus[cpus] <= others:
        others -= with_cpus[cpus]
        missing -= with_cpus[cpus] * cpus
        cpus -= 1
    missing -= others * cpus
    st.clock[0].fewest = missing
    return bool(cpus >= missing)


@kernel_part
def _leave_out(st: Books, least: int) -> None:
    """Take the nodes that could give no more than `least` CPUs out of `near`."""
    near, avail = st.near, st.avail
    count = 0
    for place in range(st.clock[0].near):
        node = near[place]
        near[count] = node
        count += 1 if avail[node] > least else 0
    st.clock[0].near = count


@kernel_part
def _choose_above(st: Books, job: int, least: int) -> bool:
    """Choose among the nodes that could give more than `least` CPUs."""
    for place in range(st.clock[0].picked):
        st.chosen[st.pick[place]] = 0
    begin_picking(st, job)
    if least > 0 and st.ask[job].required < 0 and st.ask[job].widens == 0:
        _leave_out(st, least)
    if st.ask[job].required >= 0 and not _take_required(st, job):
        return False
    if done(st, job):
        return True
    if st.rules[0].least_loaded != 0:
        return _least_loaded(st, job, least)
    if st.rules[0].tree != 0:
        return choose_on_tree(st, job, least)
    return _consecutive(st, job, least)


@kernel_part
def _take_required(st: Books, job: int) -> bool:
    first = st.ask[job].required * st.rules[0].nodes
    for place in range(st.clock[0].near):
        node = st.near[place]
        if st.required[first + node]:
            if st.clock[0].picked >= st.ask[job].max_nodes:
                return False
            if not take(st, job, node):
                return False
    return True


@kernel_part
def _least_loaded(st: Books, job: int, least: int) -> bool:
    """The node with the largest part of its CPUs free first."""
    while st.clock[0].picked < st.ask[job].max_nodes:
        best = -1
        for place in range(st.clock[0].near):
            node = st.near[place]
            if st.chosen[node] == 0 and st.avail[node] > least and (
                best < 0 or st.node_weight[node] < st.node_weight[best] or (
                    st.node_weight[node] == st.node_weight[best]
                    and st.cpus_free[node] * st.node_cpus[best]
                    > st.cpus_free[best] * st.node_cpus[node])
            ):
                best = node
        if best < 0 or not take(st, job, best):
            return False
        if done(st, job):
            return True
    return False


@kernel_part
def _consecutive(st: Books, job: int, least: int) -> bool:
    sets = _find_sets(st, least)
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
def _find_sets(st: Books, least: int) -> int:
    """Runs of consecutive nodes of one weight; how many.

    Tries that fail take most of the time of a choice, and this most of theirs: a set is added up
    in variables and written down when it ends.
    """
    near, avail, chosen, node_weight = st.near, st.avail, st.chosen, st.node_weight
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
                    best < 0 or st.avail[node] < st.avail[best]):
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
