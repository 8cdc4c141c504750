"""Which of the nodes that could serve a job it gets.

slurm.conf: select/cons_tres ("best fit": the smallest set of consecutive nodes of the lowest Weight
that is large enough, and in it, for one node, the node with the fewest CPUs left over); CR_LLN (the
least loaded nodes first). Where a choice fails, the nodes with the fewest CPUs are left out and it
is tried again.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking import cpus_missing, done, take
from wattline.shared_nodes.state import Books
from wattline.shared_nodes.tree import choose_on_tree

HUGE = 1 << 60


@kernel_part
def choose(st: Books, job: int) -> bool:
    """Choose among the nodes of `near`; the choice stands in `pick` and `pick_cpus`."""
    least = 0
    while True:
        if _choose_above(st, job, least):
            return True
        higher = HUGE
        left = 0
        near, avail = st.near, st.avail
        for place in range(st.clock[0].near):
            cpus = avail[near[place]]
            if cpus > least:
                left += 1
                higher = min(higher, cpus)
        if higher == HUGE or left <= st.ask[job].min_nodes:
            return False
        least = higher
        if not _still_enough(st, job, least):
            return False


@kernel_part
def _still_enough(st: Books, job: int, least: int) -> bool:
    count = 0
    total = 0
    near, avail = st.near, st.avail
    for place in range(st.clock[0].near):
        cpus = avail[near[place]]
        if cpus > least:
            count += 1
            total += cpus
    return bool(count >= st.ask[job].min_nodes and total >= st.ask[job].cpus)


@kernel_part
def _choose_above(st: Books, job: int, least: int) -> bool:
    """Choose among the nodes that could give more than `least` CPUs."""
    clock = st.clock[0]
    clock.picked = 0
    near, chosen = st.near, st.chosen
    for place in range(clock.near):
        chosen[near[place]] = 0
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
            take(st, job, node)
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
        if best < 0:
            return False
        take(st, job, best)
        if done(st, job):
            return True
    return False


@kernel_part
def _consecutive(st: Books, job: int, least: int) -> bool:
    sets = _find_sets(st, least)
    ask = st.ask[job]
    while st.clock[0].picked < ask.max_nodes:
        best = _best_set(st, job, sets)
        if best < 0:
            return False
        _take_from_set(st, job, best, least)
        if done(st, job):
            return True
        st.set_nodes[best] = 0
    return False


@kernel_part
def _find_sets(st: Books, least: int) -> int:
    """Runs of consecutive nodes of one weight; how many."""
    sets = 0
    last = -2
    for place in range(st.clock[0].near):
        node = st.near[place]
        if st.avail[node] <= least or st.chosen[node] != 0:
            continue
        weight = st.node_weight[node]
        if last != node - 1 or st.set_weight[sets - 1] != weight:
            st.set_start[sets] = place
            st.set_cpus[sets] = 0
            st.set_nodes[sets] = 0
            st.set_weight[sets] = weight
            sets += 1
        st.set_end[sets - 1] = place
        st.set_cpus[sets - 1] += st.avail[node]
        st.set_nodes[sets - 1] += 1
        last = node
    return sets


@kernel_part
def _best_set(st: Books, job: int, sets: int) -> int:
    """Lowest weight, then the tightest that is sufficient, else the largest."""
    ask = st.ask[job]
    nodes = ask.min_nodes - st.clock[0].picked
    cpus = cpus_missing(st, job)
    best = -1
    best_fits = False
    for index in range(sets):
        if st.set_nodes[index] == 0:
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
def _take_from_set(st: Books, job: int, index: int, least: int) -> None:
    ask = st.ask[job]
    cpus = cpus_missing(st, job)
    if ask.min_nodes - st.clock[0].picked <= 1:
        best = -1
        for place in range(st.set_start[index], st.set_end[index] + 1):
            node = st.near[place]
            if st.avail[node] > least and st.chosen[node] == 0 and st.avail[node] >= cpus and (
                    best < 0 or st.avail[node] < st.avail[best]):
                best = node
        if best >= 0:
            take(st, job, best)
            return
    for place in range(st.set_start[index], st.set_end[index] + 1):
        if st.clock[0].picked >= ask.max_nodes or done(st, job):
            return
        node = st.near[place]
        if st.avail[node] <= least or st.chosen[node] != 0:
            continue
        if st.clock[0].picked == ask.max_nodes - 1 and st.avail[node] < cpus:
            continue
        take(st, job, node)
        cpus -= st.pick_cpus[st.clock[0].picked - 1]
