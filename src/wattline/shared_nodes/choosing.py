"""Which of the nodes that could serve a job it gets.

slurm.conf: select/cons_tres. Where a choice fails, the nodes with the fewest CPUs are left out and
it is tried again.

A try is given up as soon as it takes a node with which it cannot be completed: one with fewer CPUs
than are missing when all others are the largest that there are (`fewest`).
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.by_devices import choose_by_devices
from wattline.shared_nodes.one_on_tree import choose_one_on_tree, is_for_one_on_tree
from wattline.shared_nodes.one_try import choose_above
from wattline.shared_nodes.scattered import (
    lie_apart,
    part_that_is_enough,
    set_that_is_enough,
)
from wattline.shared_nodes.state import Books
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
    if ask.by_devices != 0:
        return choose_by_devices(st, job)
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
            if choose_above(st, job, least):
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
