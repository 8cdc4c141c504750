"""The choice of choosing.py for a job that one node can serve, in one look at the nodes.

slurm.conf: select/cons_tres, best fit. Most jobs are such, and this is most of the work of a pass.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.picking import begin_picking, take
from wattline.shared_nodes.state import Books

NOT_ONE, NOBODY, PICKED = range(3)


@kernel_part
def pick_one_node(st: Books, entry: int) -> int:
    """PICKED, or NOBODY where no node could serve at all, or NOT_ONE: choose as for several.

    `offer` must be up to date.
    """
    row = st.entry[entry]
    ask = st.ask[row.job]
    if ask.min_nodes > 1 or ask.widens != 0 or ask.exclusive != 0 or ask.required >= 0 or (
            ask.by_devices != 0 or st.rules[0].least_loaded != 0 or st.rules[0].tree != 0):
        return NOT_ONE
    first = row.form % len(st.slot_form) * st.rules[0].nodes
    best_set = -1  # CPUs of the best set of consecutive nodes of one weight
    best_weight = 0
    best_node = -1
    open_set = -1  # the same of the set that is being looked at
    open_weight = 0
    open_node = -1
    last = -2
    class_nodes, offer, mask = st.class_nodes, st.offer, st.mask
    node_weight, avail = st.node_weight, st.avail
    asked = ask.cpus
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = class_nodes[place]
        cpus = offer[first + node]
        if cpus == 0 or not mask[node]:
            continue
        weight = node_weight[node]
        if node != last + 1 or weight != open_weight:
            if open_set >= 0 and _better(asked, open_set, open_weight, best_set, best_weight):
                best_set, best_weight, best_node = open_set, open_weight, open_node
            open_set, open_weight, open_node = 0, weight, -1
        last = node
        open_set += cpus
        avail[node] = cpus
        if cpus >= asked and (open_node < 0 or cpus < avail[open_node]):
            open_node = node
    if open_set < 0:
        return NOBODY
    if _better(asked, open_set, open_weight, best_set, best_weight):
        best_node = open_node
    if best_node < 0:
        return NOT_ONE
    begin_picking(st, row.job)
    take(st, row.job, best_node)
    return PICKED


@kernel_part
def _better(cpus: int, one: int, one_weight: int, other: int, other_weight: int) -> bool:
    """Whether the first set is better: lower weight, tightest that is enough, else largest."""
    if other < 0 or one_weight != other_weight:
        return bool(other < 0 or one_weight < other_weight)
    if one >= cpus:
        return bool(other < cpus or one < other)
    return bool(other < cpus and one > other)
