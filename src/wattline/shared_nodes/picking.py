"""Putting a node into a choice, and whether the choice is complete."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def done(st: Books, job: int) -> bool:
    """Whether what was picked is what the job asks for."""
    picked = st.clock[0].picked
    return bool(picked >= st.ask[job].min_nodes and cpus_missing(st, job) <= 0)


@kernel_part
def cpus_missing(st: Books, job: int) -> int:
    missing = st.ask[job].cpus
    for place in range(st.clock[0].picked):
        missing -= st.pick_cpus[place]
    return int(missing)


@kernel_part
def take(st: Books, job: int, node: int) -> None:
    """Pick a node, with all CPUs that are still needed but one task for each node to come."""
    ask = st.ask[job]
    picked = st.clock[0].picked
    cpus = st.avail[node]
    if ask.exclusive == 0:
        to_come = max(ask.min_nodes - picked - 1, 0)
        missing = cpus_missing(st, job) - to_come * ask.cpus_per_task
        cpus = max(min(cpus, missing), ask.cpus_per_task)
    st.pick[picked] = node
    st.pick_cpus[picked] = cpus
    st.chosen[node] = 1
    st.clock[0].picked = picked + 1
