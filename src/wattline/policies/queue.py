"""The queue: entries in serving order, with room to grow at its end."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel, kernel_part, slot
from wattline.policies.contract import (
    Composition,
    entry_key,
    keys_change,
    least_units,
    queue_key,
)
from wattline.policies.queue_blocks import (
    bound_inserted,
    bound_moved_down,
    bound_moved_up,
    lower_bounds,
)
from wattline.policies.state import QUEUED, State


@slot(1, default=True)
def join_leaders(st: State, order: Any, index: int) -> None:
    """A new entry stands at `index`: it joins the leaders if it may come to be among the first."""
    return


@kernel_part
def enqueue(st: State, policy: Composition, job: int) -> None:
    """Put a job into the queue at the place that the order gives it."""
    clock = st.clock[0]
    if clock.queue_last == st.queue.size:
        _make_room(st)
    key = entry_key(st, policy.backfill, policy, job)
    index = clock.queue_last
    first = clock.queue_first
    while index > first and _before(st, key, job, index - 1):
        st.queue[index] = st.queue[index - 1]
        index -= 1
    entry = st.queue[index]
    entry.job = job
    entry.units = st.live[job].units
    entry.requested_s = st.live[job].requested_s
    entry.key = key
    bound_inserted(st, index, clock.queue_last)
    clock.queue_last += 1
    st.live[job].state = QUEUED
    if clock.stopped and index - first < clock.examined:
        clock.examined = 0  # it may stand before the job that stopped the others
    clock.examined = min(clock.examined, index - first)
    clock.smallest = min(clock.smallest, least_units(st, policy.configuration, job, entry.units))
    clock.shortest_s = min(clock.shortest_s, entry.requested_s)
    join_leaders(st, policy.order, index)


@kernel_part
def sort_queue(st: State, policy: Composition) -> None:
    """Give every entry its key of now and sort."""
    if not keys_change(st, policy.order):
        return
    clock = st.clock[0]
    clock.examined = 0
    sort_part(st, policy, clock.queue_first, clock.queue_last)
    clock.leaders = 0


@kernel_part
def sort_part(st: State, policy: Composition, first: int, end: int) -> None:
    """Sort the entries [first, end) by their keys of now: nearly sorted, so by insertion."""
    for position in range(first, end):
        job = st.queue[position].job
        size = st.queue[position].units
        requested_s = st.queue[position].requested_s
        key = queue_key(st, policy.order, job)
        index = position
        while index > first and _before(st, key, job, index - 1):
            st.queue[index] = st.queue[index - 1]
            index -= 1
        entry = st.queue[index]
        entry.job = job
        entry.units = size
        entry.requested_s = requested_s
        entry.key = key
        if index < position:
            bound_inserted(st, index, position)


@kernel
def drop_entries(st: State, first: int, end: int) -> None:
    """Close the gap [first, end) in the queue from its shorter side."""
    clock = st.clock[0]
    gap = end - first
    if gap == 0:
        return
    zone_end = clock.queue_first + clock.leaders
    if first < zone_end:
        clock.leaders -= min(end, zone_end) - first
    if first - clock.queue_first < clock.queue_last - end:
        move_up(st, clock.queue_first, first, gap)
        clock.queue_first += gap
    else:
        move_down(st, end, clock.queue_last, gap)
        clock.queue_last -= gap


@kernel
def move_up(st: State, first: int, end: int, gap: int) -> None:
    """Move the entries [first, end) by `gap` places towards the end."""
    for index in range(end - 1, first - 1, -1):
        st.queue[index + gap] = st.queue[index]
    bound_moved_up(st, first + gap, end + gap, gap)


@kernel
def move_down(st: State, first: int, end: int, gap: int) -> None:
    """Move the entries [first, end) by `gap` places towards the front."""
    for index in range(first, end):
        st.queue[index - gap] = st.queue[index]
    bound_moved_down(st, first - gap, end - gap, gap)


@kernel
def swap_entries(st: State, one: int, other: int) -> None:
    """Exchange two entries."""
    if one == other:
        return
    a, b = st.queue[one], st.queue[other]
    job, units, requested_s, key = a.job, a.units, a.requested_s, a.key
    st.queue[one] = st.queue[other]
    b.job = job
    b.units = units
    b.requested_s = requested_s
    b.key = key
    lower_bounds(st, one)
    lower_bounds(st, other)


@kernel
def _before(st: State, key: float, job: int, index: int) -> bool:
    other = st.queue[index]
    return bool(key < other.key
                or (key == other.key and st.jobs[job].turn < st.jobs[other.job].turn))


@kernel
def _make_room(st: State) -> None:
    clock = st.clock[0]
    first = clock.queue_first
    move_down(st, first, clock.queue_last, first)
    clock.queue_last -= first
    clock.queue_first = 0
