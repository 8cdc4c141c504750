"""A copy of nodes (bank 1) in which running jobs are let end, in the order of their limits."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def copy_node(st: Books, node: int) -> None:
    """The copy of a node becomes what the node is now."""
    kinds = st.rules[0].kinds
    copy = st.rules[0].nodes + node
    st.cpus_free[copy] = st.cpus_free[node]
    st.memory_free[copy] = st.memory_free[node]
    st.jobs_on[copy] = st.jobs_on[node]
    st.user_on[copy] = st.user_on[node]
    st.own_on[copy] = st.own_on[node]
    for kind in range(kinds):
        st.gres_free[copy * kinds + kind] = st.gres_free[node * kinds + kind]


@kernel_part
def let_row_end(st: Books, row: int) -> None:
    """Give back to the copy of a node what a row of the table of allocations holds."""
    kinds = st.rules[0].kinds
    copy = st.rules[0].nodes + st.row_node[row]
    st.cpus_free[copy] += st.row_cpus[row]
    st.memory_free[copy] += st.row_memory[row]
    st.jobs_on[copy] -= 1
    if st.jobs_on[copy] == 0:
        st.user_on[copy] = -1
    if st.own_on[copy] > 0:
        st.own_on[copy] -= st.ask[st.row_job[row]].own_user
    for kind in range(kinds):
        st.gres_free[copy * kinds + kind] += st.row_gres[row * kinds + kind]


@kernel_part
def copy_after(st: Books, node: int, ended: int) -> int:
    """Copy a node as it is when running jobs before the place `ended` are over.

    Returns the last of its rows that is over then; where none is (-1), nothing is copied.
    """
    job = st.running[ended - 1]
    end_s = st.running_end[ended - 1]
    last = -1
    row = st.node_first[node]
    while row >= 0 and (st.row_end[row] < end_s or (
            st.row_end[row] == end_s and st.row_job[row] <= job)):
        if last < 0:
            copy_node(st, node)
        let_row_end(st, row)
        last = row
        row = st.row_next[row]
    return last
