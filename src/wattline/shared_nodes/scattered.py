"""Tries of choosing.py that are known to fail: of jobs whose only nodes lie apart.

A job of several nodes takes a set of consecutive nodes that is enough, from its first node on. With
nodes of fewer CPUs than `fewest` its choice fails. So where fewer nodes than the job takes follow
each other without such ones, every try fails in which any set is enough. While nodes with few CPUs
are left out one after the other, it takes a look at one such set to know.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def lie_apart(st: Books, job: int) -> bool:
    """Whether too few nodes of `near` that could complete a choice follow each other."""
    ask = st.ask[job]
    rules = st.rules[0]
    if ask.min_nodes <= 2 or ask.required >= 0 or rules.least_loaded != 0 or rules.tree != 0:
        return False
    near, avail, weight = st.near, st.avail, st.node_weight
    fewest = st.clock[0].fewest
    count = 0
    last = -2
    for place in range(st.clock[0].near):
        node = near[place]
        if avail[node] < fewest:
            continue
        follows = node == last + 1 and weight[node] == weight[last]
        count = count + 1 if follows else 1
        if count >= ask.min_nodes - 1:
            return False
        last = node
    return True


@kernel_part
def set_that_is_enough(st: Books, job: int) -> tuple[int, int]:
    """The largest set of the lowest weight that is: its first node and its last; 0, -1: none is.

    Of the sets of the last try.
    """
    ask = st.ask[job]
    best = -1
    lowest = -1
    for index in range(st.clock[0].sets):
        if lowest < 0 or st.set_weight[index] < st.set_weight[lowest]:
            lowest = index
    for index in range(st.clock[0].sets):
        if st.set_weight[index] == st.set_weight[lowest] and (
                st.set_nodes[index] >= ask.min_nodes and st.set_cpus[index] >= ask.cpus) and (
                best < 0 or st.set_cpus[index] > st.set_cpus[best]):
            best = index
    if best < 0:
        return 0, -1
    return int(st.near[st.set_start[best]]), int(st.near[st.set_end[best]])


@kernel_part
def part_that_is_enough(
    st: Books, job: int, least: int, first: int, last: int
) -> tuple[int, int]:
    """What is left of such a set without nodes of `least` CPUs and fewer, if it is enough still."""
    ask = st.ask[job]
    avail = st.avail
    begin = first
    cpus = 0
    for node in range(first, last + 1):
        if avail[node] <= least:
            begin = node + 1
            cpus = 0
            continue
        cpus += avail[node]
        if cpus >= ask.cpus and node + 1 - begin >= ask.min_nodes:
            end = node
            while end < last and avail[end + 1] > least:
                end += 1
            return begin, end
    return 0, -1
