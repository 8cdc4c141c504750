"""The running jobs in the order in which they end at the latest (start and time limit).

The same order holds for the rows of the table of allocations on each node, as a chain.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def add_running(st: Books, job: int) -> None:
    place = _place_of(st, job)
    running, ends, nodes = st.running, st.running_end, st.running_node
    for index in range(st.clock[0].running, place, -1):
        running[index] = running[index - 1]
        ends[index] = ends[index - 1]
        nodes[index] = nodes[index - 1]
    first = st.ask[job].first_row
    running[place] = job
    ends[place] = st.live[job].limit_end_s
    nodes[place] = st.row_node[first] if st.live[job].nodes == 1 else -1
    st.clock[0].running += 1
    for row in range(first, first + st.live[job].nodes):
        st.row_end[row] = st.live[job].limit_end_s
        _add_to_node(st, row)


@kernel_part
def drop_running(st: Books, job: int) -> None:
    count = st.clock[0].running - 1
    running, ends, nodes = st.running, st.running_end, st.running_node
    for index in range(_place_of(st, job), count):
        running[index] = running[index + 1]
        ends[index] = ends[index + 1]
        nodes[index] = nodes[index + 1]
    st.clock[0].running = count
    first = st.ask[job].first_row
    for row in range(first, first + st.live[job].nodes):
        _drop_from_node(st, row)


@kernel_part
def _place_of(st: Books, job: int) -> int:
    end_s = st.live[job].limit_end_s
    low = 0
    high = st.clock[0].running
    while low < high:
        middle = (low + high) // 2
        other_s = st.running_end[middle]
        if other_s < end_s or (other_s == end_s and st.running[middle] < job):
            low = middle + 1
        else:
            high = middle
    return low


@kernel_part
def _add_to_node(st: Books, row: int) -> None:
    node = st.row_node[row]
    end_s = st.row_end[row]
    before = -1
    after = st.node_first[node]
    while after >= 0 and (st.row_end[after] < end_s or (
            st.row_end[after] == end_s and st.row_job[after] < st.row_job[row])):
        before = after
        after = st.row_next[after]
    _link(st, node, before, row)
    st.row_next[row] = after


@kernel_part
def _drop_from_node(st: Books, row: int) -> None:
    node = st.row_node[row]
    before = -1
    there = st.node_first[node]
    while there != row:
        before = there
        there = st.row_next[there]
    _link(st, node, before, st.row_next[row])


@kernel_part
def _link(st: Books, node: int, before: int, row: int) -> None:
    if before < 0:
        st.node_first[node] = row
    else:
        st.row_next[before] = row
