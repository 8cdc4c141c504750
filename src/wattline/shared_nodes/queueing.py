"""The order in which jobs are looked at.

priority_multifactor.html: "Jobs are selected to be evaluated by the scheduler in the following
order: jobs that can preempt, jobs with an advanced reservation, partition PriorityTier, job
priority, job submit time, job ID." A job that can preempt goes before those that it could take the
nodes of: by QOS those of the QOS that its own names (sacctmgr: Preempt), by partition those of a
lower tier, which the tier decides anyway.

Two jobs are compared by themselves. Where QOS and priorities go round in a circle (A may preempt
B, B has more priority than C, and C than A), no order is right: Slurm's is then what its sorting
leaves, and so is this one.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import QUEUED, Books

TIER = float(1 << 34)
"""More than any priority."""
MOST_TIERS = 1 << 16
LEAST_PRIORITY = 1.0
"""0 is of held jobs: a nice beyond what a job has makes no further difference."""
BY_QOS, BY_PARTITION = 1, 2
"""Of `rules.preempt`."""


@kernel_part
def set_key(st: Books, job: int) -> None:
    """The place of a job in the queue as one number per partition: higher goes first."""
    for entry in range(st.ask[job].first_entry, st.ask[job].first_entry + st.ask[job].entries):
        set_key_of(st, entry, job)


@kernel_part
def set_key_of(st: Books, entry: int, job: int) -> None:
    """The same in one partition."""
    reserved = 1 if st.ask[job].reservation >= 0 else 0
    rank = st.part[st.entry[entry].partition].tier
    rank = 2 * rank + reserved if st.rules[0].preempt == BY_PARTITION else (
        rank + reserved * MOST_TIERS)
    st.entry_key[entry] = rank * TIER + _whole(
        max(st.live[job].priority + st.entry_factor[entry], LEAST_PRIORITY))


@kernel_part
def _whole(priority: float) -> float:
    """Rounded down; all of them fit into an integer."""
    return float(int(priority))


@kernel_part
def may_preempt_by_qos(st: Books, one: int, other: int) -> bool:
    """Whether the QOS of job `one` names that of job `other`."""
    mine, theirs = st.ask[one].qos, st.ask[other].qos
    return bool(mine >= 0 and theirs >= 0
                and st.qos_preempts[mine * len(st.qos_mode) + theirs])


@kernel_part
def goes_before(st: Books, one: int, other: int) -> bool:
    """Whether entry `one` is looked at before entry `other`."""
    if st.rules[0].preempt == BY_QOS:
        first, second = st.entry[one].job, st.entry[other].job
        if st.ask[first].qos != st.ask[second].qos:
            if may_preempt_by_qos(st, first, second):
                return True
            if may_preempt_by_qos(st, second, first):
                return False
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

    Runs that are in order are merged: mostly few jobs changed places. Each time at least halves
    their number, unless jobs go before each other in a circle, where there would be no end.
    """
    moved = False
    runs = st.clock[0].queue
    while runs > 0 and _merge_runs(st):
        moved = True
        runs //= 2
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
