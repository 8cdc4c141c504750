"""The ends of running jobs: a binary heap in which every job knows its place."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel
from wattline.policies.state import State


@kernel
def push_end(st: State, heap: Any, size: int, time_s: float, job: int) -> None:
    """Add a job's end to a heap of `size` entries."""
    _sift_up(st, heap, size, time_s, job)


@kernel
def remove_end(st: State, heap: Any, size: int, job: int) -> None:
    """Take a job out of a heap of `size` entries."""
    index = st.live[job].heap
    st.live[job].heap = -1
    last = heap[size - 1]
    time_s = last.time_s
    moved = last.job
    if index == size - 1:
        return
    _place(st, heap, size - 1, index, time_s, moved)


@kernel
def move_end(st: State, heap: Any, size: int, time_s: float, job: int) -> None:
    """Give a job in the heap another end."""
    _place(st, heap, size, st.live[job].heap, time_s, job)


@kernel
def rebuild_ends(st: State, heap: Any, size: int) -> None:
    """Put a heap of `size` entries in order after all their times were written over."""
    for index in range(size // 2 - 1, -1, -1):
        _sift_down(st, heap, size, index, heap[index].time_s, heap[index].job)


@kernel
def _place(st: State, heap: Any, size: int, index: int, time_s: float, job: int) -> None:
    """Put an entry where the hole at `index` is, moving up or down as it must."""
    parent = (index - 1) // 2
    if index > 0 and _less(heap, time_s, job, parent):
        _sift_up(st, heap, index, time_s, job)
    else:
        _sift_down(st, heap, size, index, time_s, job)


@kernel
def _less(heap: Any, time_s: float, job: int, index: int) -> bool:
    other = heap[index]
    return bool(time_s < other.time_s or (time_s == other.time_s and job < other.job))


@kernel
def _write(st: State, heap: Any, index: int, time_s: float, job: int) -> None:
    heap[index].time_s = time_s
    heap[index].job = job
    st.live[job].heap = index


@kernel
def _sift_up(st: State, heap: Any, index: int, time_s: float, job: int) -> None:
    while index > 0:
        parent = (index - 1) // 2
        if not _less(heap, time_s, job, parent):
            break
        _write(st, heap, index, heap[parent].time_s, heap[parent].job)
        index = parent
    _write(st, heap, index, time_s, job)


@kernel
def _sift_down(st: State, heap: Any, size: int, index: int, time_s: float, job: int) -> None:
    child = 2 * index + 1
    while child < size:
        if child + 1 < size:
            child += _right_is_sooner(heap, child)
        if _less(heap, time_s, job, child):
            break
        _write(st, heap, index, heap[child].time_s, heap[child].job)
        index = child
        child = 2 * index + 1
    _write(st, heap, index, time_s, job)


@kernel
def _right_is_sooner(heap: Any, child: int) -> int:
    """1 where the sibling behind a child comes first, else 0.

    It is computed, not decided: nobody could foresee which of the two it is, and a processor that
    guesses wrong loses more time than it takes to compute.
    """
    left, right = heap[child], heap[child + 1]
    tie = (right.time_s == left.time_s) & (right.job < left.job)
    return int((right.time_s < left.time_s) | tie)
