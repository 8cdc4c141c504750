"""Which nodes of `mask` a job gets: now, or when some of the running jobs are over."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import gather, list_near
from wattline.shared_nodes.offers import cpus_after, slot_of
from wattline.shared_nodes.one_node import NOT_ONE, PICKED, pick_one_node
from wattline.shared_nodes.only_node import is_for_one_node, pick_only_node
from wattline.shared_nodes.state import Books


@kernel_part
def place_now(st: Books, entry: int) -> bool:
    """Choose nodes for a job as they are now; `offer` must be up to date."""
    job = st.entry[entry].job
    if is_for_one_node(st, job):
        return pick_only_node(st, entry, 0)
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
        return pick_only_node(st, entry, ended)
    slot = slot_of(st, entry)
    class_nodes, mask, avail = st.class_nodes, st.mask, st.avail
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = class_nodes[place]
        if mask[node]:
            avail[node] = cpus_after(st, entry, slot, node, ended)
    return list_near(st, entry) and choose(st, row.job)
