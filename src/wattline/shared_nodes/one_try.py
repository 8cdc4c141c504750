"""One try of a choice: required nodes first, then as the site has it.

slurm.conf: CR_LLN (the least loaded nodes first), TopologyPlugin=topology/tree, else best fit.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.consecutive import consecutive
from wattline.shared_nodes.picking import begin_picking, done, take
from wattline.shared_nodes.state import Books
from wattline.shared_nodes.tree import choose_on_tree


@kernel_part
def choose_above(st: Books, job: int, least: int) -> bool:
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
    return consecutive(st, job, least)


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
def _leave_out(st: Books, least: int) -> None:
    """Take the nodes that could give no more than `least` CPUs out of `near`."""
    near, avail = st.near, st.avail
    count = 0
    for place in range(st.clock[0].near):
        node = near[place]
        near[count] = node
        count += 1 if avail[node] > least else 0
    st.clock[0].near = count
