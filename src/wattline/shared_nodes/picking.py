"""Putting a node into a choice, and whether the choice is complete."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking_devices import (
    begin_devices,
    has_devices,
    take_with_devices,
)
from wattline.shared_nodes.state import Books


@kernel_part
def begin_picking(st: Books, job: int) -> None:
    """Nothing is picked yet."""
    st.clock[0].picked = 0
    st.clock[0].missing = st.ask[job].cpus
    if st.ask[job].by_devices != 0:
        begin_devices(st, job)


@kernel_part
def done(st: Books, job: int) -> bool:
    """Whether what was picked is what the job asks for."""
    return bool(st.clock[0].picked >= st.ask[job].min_nodes and st.clock[0].missing <= 0 and (
        st.ask[job].by_devices == 0 or has_devices(st, job)))


@kernel_part
def take(st: Books, job: int, node: int) -> bool:
    """Pick a node, with all CPUs that are still needed but a task or core for each node to come.

    Whether the choice can still be completed: not where the node has fewer CPUs than every node of
    a complete one (`fewest`).
    """
    ask = st.ask[job]
    if ask.by_devices != 0:
        return take_with_devices(st, job, node)
    clock = st.clock[0]
    picked = clock.picked
    cpus = st.avail[node]
    useful = bool(cpus >= clock.fewest)
    if ask.exclusive == 0:
        to_come = max(ask.min_nodes - picked - 1, 0)
        each = ask.cpus_per_task
        if ask.widens == 0:  # a node to come gives a whole core
            each = max(each, st.node_threads[node])
        cpus = max(min(cpus, clock.missing - to_come * each), ask.cpus_per_task)
    st.pick[picked] = node
    st.pick_cpus[picked] = cpus
    st.chosen[node] = 1
    clock.picked = picked + 1
    clock.missing -= cpus
    return useful
