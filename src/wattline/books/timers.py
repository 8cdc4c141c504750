"""Timers: things that happen at a time known beforehand. A binary heap by (time, kind, arg)."""

from __future__ import annotations

from wattline.model.kernel import constants, kernel
from wattline.policies.state import State

# Kinds, in the order in which timers of one instant go off.
NODES_OFF, NODES_ON, WINDOW_START, WINDOW_END, ELIGIBLE, WAKE_UP, NODES_AGAIN = constants(7)


@kernel
def push_timer(st: State, size: int, time_s: float, kind: int, arg: int) -> None:
    """Add a timer to a heap of `size` entries."""
    index = size
    while index > 0:
        parent = (index - 1) // 2
        if not _less(st, time_s, kind, arg, parent):
            break
        st.timers[index] = st.timers[parent]
        index = parent
    _write(st, index, time_s, kind, arg)


@kernel
def pop_timer(st: State, size: int) -> None:
    """Remove the first timer of a heap of `size` entries."""
    last = st.timers[size - 1]
    time_s = last.time_s
    kind = last.kind
    arg = last.arg
    size -= 1
    index = 0
    while True:
        child = 2 * index + 1
        if child >= size:
            break
        if child + 1 < size:
            child += _right_is_sooner(st, child)
        if _less(st, time_s, kind, arg, child):
            break
        st.timers[index] = st.timers[child]
        index = child
    _write(st, index, time_s, kind, arg)


@kernel
def drop_window_timers(st: State, size: int, window: int) -> int:
    """Remove what is still to happen to a reservation; how many timers are left."""
    left = 0
    for index in range(size):
        time_s = st.timers[index].time_s
        kind = st.timers[index].kind
        arg = st.timers[index].arg
        if kind not in (WINDOW_START, WINDOW_END) or arg != window:
            push_timer(st, left, time_s, kind, arg)
            left += 1
    return left


@kernel
def _less(st: State, time_s: float, kind: int, arg: int, index: int) -> bool:
    other = st.timers[index]
    if time_s != other.time_s:
        return bool(time_s < other.time_s)
    if kind != other.kind:
        return bool(kind < other.kind)
    return bool(arg < other.arg)


@kernel
def _right_is_sooner(st: State, child: int) -> int:
    """1 where the sibling behind a child goes off first, else 0: computed, as nobody could guess
    it (see wattline.engine.heap)."""
    left, right = st.timers[child], st.timers[child + 1]
    by_arg = (right.kind == left.kind) & (right.arg < left.arg)
    tie = (right.time_s == left.time_s) & ((right.kind < left.kind) | by_arg)
    return int((right.time_s < left.time_s) | tie)


@kernel
def _write(st: State, index: int, time_s: float, kind: int, arg: int) -> None:
    st.timers[index].time_s = time_s
    st.timers[index].kind = kind
    st.timers[index].arg = arg
