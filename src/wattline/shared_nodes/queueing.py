"""The order in which jobs are looked at: tier of the partition, then priority, then age.

slurm.conf: PriorityTier ("jobs submitted to a partition with a higher PriorityTier value will be
evaluated by the scheduler before pending jobs in a partition with a lower value").
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import QUEUED, Books


@kernel_part
def goes_before(st: Books, one: int, other: int) -> bool:
    """Whether entry `one` is looked at before entry `other`."""
    first = st.part[st.entry[one].partition].tier
    second = st.part[st.entry[other].partition].tier
    if first != second:
        return bool(first > second)
    mine = st.live[st.entry[one].job].priority + st.entry_factor[one]
    theirs = st.live[st.entry[other].job].priority + st.entry_factor[other]
    if mine != theirs:
        return bool(mine > theirs)
    return bool(one < other)


@kernel_part
def enqueue(st: Books, job: int) -> None:
    """Put a job into the queue of each partition that it names."""
    clock = st.clock[0]
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
        for place in range(clock.queue, low, -1):
            st.queue[place] = st.queue[place - 1]
        st.queue[low] = entry
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
def sort_queue(st: Books) -> bool:
    """Bring the queue into its order after priorities changed; whether that moved anything."""
    count = st.clock[0].queue
    sorted_before = True
    for place in range(1, count):
        if goes_before(st, st.queue[place], st.queue[place - 1]):
            sorted_before = False
            break
    if sorted_before:
        return False
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            _merge(st, low, min(low + width, count), min(low + 2 * width, count))
        for place in range(count):
            st.queue[place] = st.queue_scratch[place]
        width *= 2
    return True


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
