"""Which nodes of `mask` a job gets: now, or when some of the running jobs are over."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.by_devices import see_devices_of
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import enough, gather, gather_copies, has_required
from wattline.shared_nodes.later import copy_after
from wattline.shared_nodes.offers import cpus_after, cpus_needed, slot_of
from wattline.shared_nodes.one_node import NOT_ONE, PICKED, pick_one_node
from wattline.shared_nodes.only_node import is_for_one_node, pick_node_after, pick_node_now
from wattline.shared_nodes.state import Books


@kernel_part
def place_on_any(st: Books, entry: int, ended: int, bank: int) -> bool:
    """Choose nodes: now (`ended` below 0), after the ends of running jobs, or in the copy."""
    if bank != 0:
        return gather_copies(st, entry) and choose(st, st.entry[entry].job)
    if ended >= 0:
        return place_after(st, entry, ended)
    return place_now(st, entry)


@kernel_part
def place_now(st: Books, entry: int) -> bool:
    """Choose nodes for a job as they are now; `offer` must be up to date."""
    job = st.entry[entry].job
    # Which nodes join to a set is written down once, by weights that a node loses while it sleeps.
    if st.rules[0].suspend_time_s < 0.0 and is_for_one_node(st, job):
        return pick_node_now(st, entry)
    one = pick_one_node(st, entry)
    if one != NOT_ONE:
        return bool(one == PICKED)
    return gather(st, entry) and choose(st, job)


@kernel_part
def place_after(st: Books, entry: int, ended: int) -> bool:
    """Choose nodes as they are when running jobs before the place `ended` are over.

    `offer` and `ready` must be up to date.
    """
    row = st.entry[entry]
    if is_for_one_node(st, row.job):
        return pick_node_after(st, entry, ended)
    if not list_near_after(st, entry, ended):
        return False
    if st.ask[row.job].by_devices != 0:
        _see_devices_after(st, entry, ended)
    return choose(st, row.job)


@kernel_part
def _see_devices_after(st: Books, entry: int, ended: int) -> None:
    """Look at the devices of the nodes of `near` when those jobs are over."""
    for place in range(st.clock[0].near):
        node = st.near[place]
        bank = 1 if copy_after(st, node, ended) >= 0 else 0
        see_devices_of(st, entry, bank, node)


@kernel_part
def list_near_after(st: Books, entry: int, ended: int) -> bool:
    """List the open nodes with CPUs when those jobs are over; whether they may be enough."""
    job = st.entry[entry].job
    slot = slot_of(st, entry)
    first = slot * st.rules[0].nodes
    last_s = st.running_end[ended - 1]
    # Where every CPU is of use, a node that is not ready has none.
    all_of_use = cpus_needed(st, job) <= 1
    count, total, most = 0, 0, 0
    open_nodes, avail, near, ready = st.open_nodes, st.avail, st.near, st.ready
    after_from, after_to, after_cpus = st.after_from, st.after_to, st.after_cpus
    for place in range(st.clock[0].masked):
        node = open_nodes[place]
        at = first + node
        if all_of_use and ready[at] > last_s:
            continue
        if after_from[at] < last_s < after_to[at]:
            cpus = after_cpus[at]
        else:
            cpus = cpus_after(st, entry, slot, node, ended)
        if cpus > 0:
            avail[node] = cpus
            near[count] = node
            count += 1
            total += cpus
            most = max(most, cpus)
    st.clock[0].near = count
    return enough(st, job, count, total, most) and bool(
        st.ask[job].required < 0 or has_required(st, job))
