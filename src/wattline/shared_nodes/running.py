"""The running jobs in the order in which they end at the latest (start and time limit).

They stand in `running` from `first_running` on, with room before and behind: short jobs come and
go near the front, where few have to be moved. No place is 0, so that 0 can stand for none.

The same order holds for the rows of the table of allocations on each node, as a chain.
"""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def add_running(st: Books, job: int) -> None:
    clock = st.clock[0]
    place = _place_of(st, job)
    end = clock.first_running + clock.running
    before, behind = place - clock.first_running, end - place
    if end == len(st.running) or (before < behind and clock.first_running > 1):
        _move(st, clock.first_running, place, -1)
        clock.first_running -= 1
        place -= 1
    else:
        _move(st, place, end, 1)
    clock.running += 1
    first = st.ask[job].first_row
    st.running[place] = job
    st.running_end[place] = st.live[job].limit_end_s
    st.running_node[place] = st.row_node[first] if st.live[job].nodes == 1 else -1
    for row in range(first, first + st.live[job].nodes):
        st.row_end[row] = st.live[job].limit_end_s
        _add_to_node(st, row)


@kernel_part
def drop_running(st: Books, job: int) -> None:
    clock = st.clock[0]
    place = _place_of(st, job)
    end = clock.first_running + clock.running
    if place - clock.first_running < end - place:
        _move(st, clock.first_running, place, 1)
        clock.first_running += 1
    else:
        _move(st, place + 1, end, -1)
    clock.running -= 1
    first = st.ask[job].first_row
    for row in range(first, first + st.live[job].nodes):
        _drop_from_node(st, row)


@kernel_part
def _move(st: Books, begin: int, end: int, by: int) -> None:
    """Move the places from begin to end by one, to the front (-1) or to the back (1)."""
    _shift(st.running, begin, end, by)
    _shift(st.running_end, begin, end, by)
    _shift(st.running_node, begin, end, by)


@kernel_part
def _shift(column: Any, begin: int, end: int, by: int) -> None:
    """Counted from 0 in a part of the column, it is compiled to one move of memory."""
    if by < 0:
        part = column[begin - 1 : end]
        for place in range(len(part) - 1):
            part[place] = part[place + 1]
        return
    part = column[begin : end + 1]
    for place in range(len(part) - 1, 0, -1):
        part[place] = part[place - 1]


@kernel_part
def _place_of(st: Books, job: int) -> int:
    end_s = st.live[job].limit_end_s
    low = st.clock[0].first_running
    high = low + st.clock[0].running
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


@kernel_part
def touches(st: Books, place: int) -> bool:
    """Whether the running job at this place is on a node of `mask`."""
    job = st.running[place]
    first = st.ask[job].first_row
    index = first
    while index < first + st.live[job].nodes and not st.mask[st.row_node[index]]:
        index += 1
    return bool(index < first + st.live[job].nodes)
