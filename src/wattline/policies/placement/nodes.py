"""Nodes that are chosen one by one: which are free, and which belong to a job.

A job's nodes are a chain of runs of neighbouring nodes, so that taking and giving back cost the
number of runs, not of nodes. A placement policy calls `take_run` for each run in turn.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import NODE_BLOCK, State


@kernel
def take_run(st: State, job: int, first: int, count: int) -> None:
    """Give the free nodes [first, first + count) to a job."""
    live = st.live[job]
    last = live.last_run
    if live.first_node >= 0 and last + st.nodes[last].length == first:
        st.nodes[last].length += count
    else:
        if live.first_node < 0:
            live.first_node = first
        else:
            st.nodes[last].next = first
        live.last_run = first
        st.nodes[first].length = count
        st.nodes[first].next = -1
    _mark(st, first, count, 0)


@kernel
def give_back_nodes(st: State, job: int) -> None:
    """All nodes of a job are free again."""
    live = st.live[job]
    run = live.first_node
    while run >= 0:
        _mark(st, run, st.nodes[run].length, 1)
        run = st.nodes[run].next
    live.first_node = -1


@kernel
def adopt_kinds(st: State, job: int) -> None:
    """Let the kinds of a job's nodes say what it draws and how fast it goes.

    A parallel job goes at the speed of its slowest node.
    """
    if st.kinds.size < 2:
        return
    live = st.live[job]
    idle_w = 0.0
    active_w = 0.0
    speed = float("inf")
    run = live.first_node
    while run >= 0:
        for node in range(run, run + st.nodes[run].length):
            kind = st.kinds[st.nodes[node].kind]
            idle_w += kind.idle_w
            active_w += kind.active_w
            speed = min(speed, kind.speed)
        run = st.nodes[run].next
    live.idle_w = idle_w
    live.stretch = 1.0 / speed
    if live.own_watts:
        active_w = st.jobs[job].watts
    if live.level >= 0:
        live.watts = idle_w + (active_w - idle_w) * live.dynamic
    elif not live.own_watts:
        live.watts = active_w


@kernel
def _mark(st: State, first: int, count: int, free: int) -> None:
    node = first
    end = first + count
    while node < end:
        block = node // NODE_BLOCK
        stop = min(end, (block + 1) * NODE_BLOCK)
        st.free_in_block[block] += stop - node if free else node - stop
        while node < stop:
            st.node_free[node] = free
            node += 1
