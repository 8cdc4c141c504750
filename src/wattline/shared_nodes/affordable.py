"""Nodes that a period of an energy budget has the joules for: who would wait for ever gets others.

Not a rule of Slurm's. Nodes are chosen as ever: by Weight, those that sleep last. Where no period,
not even an empty one, has the joules for the job there, it gets one fewer of the nodes on which it
draws most, and the choice is made anew among the others, until a period has them or none is left.
So a job that was let in finds a start on cheaper nodes. That this period has fewer joules left than
it needs does not move it.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.joule_book import no_period_has_room
from wattline.shared_nodes.joules import longest_s
from wattline.shared_nodes.placing import place_on_any
from wattline.shared_nodes.power import node_watts, picked_watts
from wattline.shared_nodes.state import Books


@kernel_part
def place_affordable(st: Books, entry: int, ended: int, bank: int) -> bool:
    """Choose nodes: now (`ended` below 0), after the ends of running jobs, or in the copy."""
    found = place_on_any(st, entry, ended, bank)
    if st.entry[entry].dear == 0 or not found or not is_too_dear(st, entry, bank):
        return found
    clock = st.clock[0]
    masked = clock.masked
    if ended >= 0:
        for index in range(masked):
            st.were_open[index] = st.open_nodes[index]
    shut = 0
    while found and is_too_dear(st, entry, bank):
        shut = _leave_one_fewer(st, entry, bank, shut)
        if ended >= 0:
            _close_shut(st)
        found = place_on_any(st, entry, ended, bank)
    for index in range(shut):
        st.mask[st.shut_nodes[index]] = True
    if ended >= 0:
        for index in range(masked):
            st.open_nodes[index] = st.were_open[index]
        clock.masked = masked
    return found


@kernel_part
def is_too_dear(st: Books, entry: int, bank: int) -> bool:
    """Whether no period has the joules for the job on the nodes that were picked."""
    job = st.entry[entry].job
    watts = picked_watts(st, job, bank)
    # With so many it was let in.
    return watts > st.alone_w[entry] and no_period_has_room(st, watts, longest_s(st, job))


@kernel_part
def _leave_one_fewer(st: Books, entry: int, bank: int, shut: int) -> int:
    """Of the nodes like the dearest that was picked, leave the picked ones but one in `mask`.

    How many nodes are shut then.
    """
    kind = st.watt_kind[st.pick[_dearest(st, st.entry[entry].job, bank)]]
    row = st.entry[entry]
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        if st.mask[node] and st.watt_kind[node] == kind:
            st.mask[node] = False
            st.shut_nodes[shut] = node
            shut += 1
    left_out = False
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        if st.watt_kind[node] == kind and not left_out:
            left_out = True
        elif st.watt_kind[node] == kind:
            shut = _open_again(st, node, shut)
    return shut


@kernel_part
def _dearest(st: Books, job: int, bank: int) -> int:
    """The place of the picked node on which the job draws most."""
    found, most_w = 0, -1.0
    for place in range(st.clock[0].picked):
        watts = node_watts(st, job, place, bank)
        if watts > most_w:
            found, most_w = place, watts
    return found


@kernel_part
def _open_again(st: Books, node: int, shut: int) -> int:
    for index in range(shut):
        if st.shut_nodes[index] == node:
            st.mask[node] = True
            st.shut_nodes[index] = st.shut_nodes[shut - 1]
            return shut - 1
    return shut


@kernel_part
def _close_shut(st: Books) -> None:
    """Leave only nodes of `mask` in the list of those that are open."""
    count = 0
    for index in range(st.clock[0].masked):
        node = st.open_nodes[index]
        if st.mask[node]:
            st.open_nodes[count] = node
            count += 1
    st.clock[0].masked = count


@kernel_part
def may_be_too_dear(st: Books, entry: int) -> bool:
    """Whether there may be nodes for the job that no period has the joules for.

    Not where all its nodes are alike, nor where periods have them for as many whole nodes as it may
    get, with all their devices.
    """
    row = st.entry[entry]
    first, last = st.class_first[row.nodes], st.class_first[row.nodes + 1]
    if first == last or st.ask[row.job].options > 0:
        return False
    alike = True
    most_w = 0.0
    for place in range(first, last):
        node = st.class_nodes[place]
        alike = alike and st.watt_kind[node] == st.watt_kind[st.class_nodes[first]]
        most_w = max(most_w, _most_watts(st, row.job, node))
    watts = most_w * min(row.max_nodes, last - first)
    return not alike and no_period_has_room(st, watts, longest_s(st, row.job))


@kernel_part
def _most_watts(st: Books, job: int, node: int) -> float:
    """What a job may add on a node at most."""
    ask = st.ask[job]
    if ask.node_w == ask.node_w:  # measured
        return float(max(ask.node_w - st.node_idle_w[node], 0.0))
    kinds = st.rules[0].kinds
    watts = st.node_cpus[node] * st.node_cpu_w[node] * ask.load
    for kind in range(kinds):
        watts += st.kind_w[node * kinds + kind] * st.node_gres[node * kinds + kind]
    return float(watts)
