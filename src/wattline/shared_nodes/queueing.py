"""The order in which jobs are looked at: tier of the partition, then priority, then age.

slurm.conf: PriorityTier ("jobs submitted to a partition with a higher PriorityTier value will be
evaluated by the scheduler before pending jobs in a partition with a lower value").
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import QUEUED, Books

TIER = float(1 << 34)
"""More than any priority."""


@kernel_part
def set_key(st: Books, job: int) -> None:
    """The place of a job in the queue as one number per partition: higher goes first."""
    for entry in range(st.ask[job].first_entry, st.ask[job].first_entry + st.ask[job].entries):
        tier = st.part[st.entry[entry].partition].tier
        st.entry_key[entry] = tier * TIER + np.floor(
            st.live[job].priority + st.entry_factor[entry])


@kernel_part
def goes_before(st: Books, one: int, other: int) -> bool:
    """Whether entry `one` is looked at before entry `other`."""
    if st.entry_key[one] != st.entry_key[other]:
        return bool(st.entry_key[one] > st.entry_key[other])
    return bool(one < other)


@kernel_part
def enqueue(st: Books, job: int) -> None:
    """Put a job into the queue of each partition that it names."""
    clock = st.clock[0]
    set_key(st, job)
    count_waiting(st, job, 1)
    for entry in range(st.ask[job].first_entry, st.ask[job].first_entry + st.ask[job].entries):
        if st.entry[entry].fits == 0:
            continue
        low = 0
        high = clock.queue
        while low < high:
            middle = (low + high) // 2
            if goes_before(st, st.queue[middle], entry):
                low = middle + 1
            else:
                high = middle
        queue = st.queue
        for place in range(clock.queue, low, -1):
            queue[place] = queue[place - 1]
        queue[low] = entry
        clock.queue += 1
    clock.queued += 1


@kernel_part
def sweep_queue(st: Books) -> None:
    """Take out of the queue what no longer waits."""
    kept = 0
    for place in range(st.clock[0].queue):
        entry = st.queue[place]
        if st.live[st.entry[entry].job].phase == QUEUED:
            st.queue[kept] = entry
            kept += 1
    st.clock[0].queue = kept


@kernel_part
def count_waiting(st: Books, job: int, sign: int) -> None:
    """Keep count of how many wait in each partition."""
    for entry in range(st.ask[job].first_entry, st.ask[job].first_entry + st.ask[job].entries):
        if st.entry[entry].fits != 0:
            st.part[st.entry[entry].partition].waiting += sign


@kernel_part
def sort_queue(st: Books) -> bool:
    """Bring the queue into its order after priorities changed; whether that moved anything.

    Runs that are in order are merged: mostly few jobs changed places.
    """
    moved = False
    while _merge_runs(st):
        moved = True
    return moved


@kernel_part
def _merge_runs(st: Books) -> bool:
    """Merge each run with the next; whether there was more than one."""
    count = st.clock[0].queue
    low = 0
    merged = False
    while low < count:
        middle = _end_of_run(st, low)
        high = middle
        if middle < count:
            high = _end_of_run(st, middle)
            merged = True
        _merge(st, low, middle, high)
        low = high
    if merged:
        for place in range(count):
            st.queue[place] = st.queue_scratch[place]
    return merged


@kernel_part
def _end_of_run(st: Books, low: int) -> int:
    place = low + 1
    while place < st.clock[0].queue and not goes_before(st, st.queue[place], st.queue[place - 1]):
        place += 1
    return place


@kernel_part
def _merge(st: Books, low: int, middle: int, high: int) -> None:
    left, right = low, middle
    for place in range(low, high):
        take_left = right >= high
        if not take_left and left < middle:
            take_left = not goes_before(st, st.queue[right], st.queue[left])
        if take_left:
            st.queue_scratch[place] = st.queue[left]
            left += 1
        else:
            st.queue_scratch[place] = st.queue[right]
            right += 1
