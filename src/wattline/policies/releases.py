"""Running jobs in the order of their expected ends, kept in blocks.

The question "when will n units be free?" is asked at every decision under backfilling. Blocks of
at most BLOCK entries, each with the sum of its units, answer it by walking block sums, and an
entry comes and goes by moving at most BLOCK others: a hundred thousand running jobs cost little
more than a hundred.

Under a cap that binds the question may not be asked for hours, and most jobs come and go between
two of them. Where `clock.defers` says so, jobs that start are only noted (`scratch`), and put into
the list when somebody asks: those of them that are over by then never come into it. `listed_s` is
when somebody last asked, so that a job that started later is not in the list. That takes a policy
that neither pauses jobs nor changes their speed.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import BLOCK, RUNNING, State


@kernel
def insert_release(st: State, expected_s: float, job: int, size: int) -> None:
    """Note that `job` is expected to give back `size` units."""
    clock = st.clock[0]
    if clock.together:
        return
    if clock.deferred == st.scratch.size:
        list_deferred(st)
    if clock.defers and clock.now_s > clock.listed_s:
        noted = st.scratch[clock.deferred]
        noted.expected_s = expected_s
        noted.job = job
        noted.units = size
        clock.deferred += 1
    else:
        _insert(st, expected_s, job, size)


@kernel
def list_deferred(st: State) -> None:
    """Put jobs that were only noted into the list; whoever reads it asks for that before."""
    clock = st.clock[0]
    if not clock.defers:
        return
    for index in range(clock.deferred):
        noted = st.scratch[index]
        if st.live[noted.job].state == RUNNING:
            _insert(st, noted.expected_s, noted.job, noted.units)
    clock.deferred = 0
    clock.listed_s = clock.now_s


@kernel
def _insert(st: State, expected_s: float, job: int, size: int) -> None:
    clock = st.clock[0]
    if clock.blocks == 0:
        _new_block(st, clock.blocks)
    place = _find_block(st, expected_s, job)
    block = st.blocks[place].order
    if st.blocks[block].count == BLOCK:
        _split(st, place)
        place = _find_block(st, expected_s, job)
        block = st.blocks[place].order
    first = block * BLOCK
    index = first + st.blocks[block].count
    while index > first and (
        st.releases[index - 1].expected_s > expected_s
        or (st.releases[index - 1].expected_s == expected_s and st.releases[index - 1].job > job)
    ):
        st.releases[index] = st.releases[index - 1]
        index -= 1
    st.releases[index].expected_s = expected_s
    st.releases[index].job = job
    st.releases[index].units = size
    st.blocks[block].count += 1
    st.blocks[block].total += size


@kernel
def remove_release(st: State, expected_s: float, job: int) -> None:
    """Forget an entry; it must be there, or be noted."""
    clock = st.clock[0]
    if clock.together or (clock.defers and st.live[job].start_s > clock.listed_s):
        return
    place = _find_block(st, expected_s, job)
    block = st.blocks[place].order
    last = block * BLOCK + st.blocks[block].count - 1
    index = block * BLOCK
    while st.releases[index].job != job:
        index += 1
    st.blocks[block].total -= st.releases[index].units
    while index < last:
        st.releases[index] = st.releases[index + 1]
        index += 1
    st.blocks[block].count -= 1
    _merge(st, place)


@kernel
def first_release_s(st: State) -> float:
    """The earliest expected end, or infinity where nothing runs."""
    list_deferred(st)
    if st.clock[0].blocks == 0:
        return float("inf")
    return float(st.releases[st.blocks[0].order * BLOCK].expected_s)


@kernel
def release_at(st: State, time_s: float) -> bool:
    """Whether a job is expected to end at exactly this time."""
    list_deferred(st)
    if st.clock[0].blocks == 0:
        return False
    block = st.blocks[_find_block(st, time_s, -1)].order
    for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
        if st.releases[index].expected_s == time_s:
            return True
    return False


@kernel
def rescale_releases(st: State) -> None:
    """Read every entry's expected end anew from its job, when all have changed alike.

    Scaling keeps the order but for ties, so an insertion sort has next to nothing to do.
    """
    count = 0
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            job = st.releases[index].job
            size = st.releases[index].units
            expected_s = st.live[job].expected_s
            target = count
            while target > 0 and (
                st.scratch[target - 1].expected_s > expected_s
                or (
                    st.scratch[target - 1].expected_s == expected_s
                    and st.scratch[target - 1].job > job
                )
            ):
                st.scratch[target] = st.scratch[target - 1]
                target -= 1
            st.scratch[target].expected_s = expected_s
            st.scratch[target].job = job
            st.scratch[target].units = size
            count += 1
    count = 0
    for place in range(st.clock[0].blocks):
        block = st.blocks[place].order
        total = 0
        for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
            st.releases[index] = st.scratch[count]
            total += st.scratch[count].units
            count += 1
        st.blocks[block].total = total


@kernel
def _find_block(st: State, expected_s: float, job: int) -> int:
    """The first block whose last entry is not before (expected_s, job), else the last block."""
    low = 0
    high = st.clock[0].blocks - 1
    while low < high:
        middle = (low + high) // 2
        block = st.blocks[middle].order
        last = st.releases[block * BLOCK + st.blocks[block].count - 1]
        if last.expected_s < expected_s or (last.expected_s == expected_s and last.job < job):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _new_block(st: State, place: int) -> int:
    """Put an empty block at this place of the order."""
    clock = st.clock[0]
    block = clock.spare_block
    clock.spare_block = st.blocks[block].next_spare
    for other in range(clock.blocks, place, -1):
        st.blocks[other].order = st.blocks[other - 1].order
    st.blocks[place].order = block
    clock.blocks += 1
    st.blocks[block].count = 0
    st.blocks[block].total = 0
    return int(block)


@kernel
def _drop_block(st: State, place: int) -> None:
    clock = st.clock[0]
    block = st.blocks[place].order
    for other in range(place, clock.blocks - 1):
        st.blocks[other].order = st.blocks[other + 1].order
    clock.blocks -= 1
    st.blocks[block].next_spare = clock.spare_block
    clock.spare_block = block


@kernel
def _split(st: State, place: int) -> None:
    """Move the later half of a full block into a new one behind it."""
    block = st.blocks[place].order
    later = _new_block(st, place + 1)
    half = BLOCK // 2
    moved = 0
    for index in range(half, BLOCK):
        st.releases[later * BLOCK + index - half] = st.releases[block * BLOCK + index]
        moved += st.releases[block * BLOCK + index].units
    st.blocks[block].count = half
    st.blocks[block].total -= moved
    st.blocks[later].count = BLOCK - half
    st.blocks[later].total = moved


@kernel
def _merge(st: State, place: int) -> None:
    """Drop a block that is empty; join neighbours that are half empty together."""
    if st.blocks[st.blocks[place].order].count == 0:
        _drop_block(st, place)
    else:
        _join(st, place)
    if place > 0:
        _join(st, place - 1)


@kernel
def _join(st: State, place: int) -> None:
    """Pour the next block into this one when together they are at most half full."""
    if place + 1 >= st.clock[0].blocks:
        return
    block = st.blocks[place].order
    later = st.blocks[place + 1].order
    count = st.blocks[block].count
    if count + st.blocks[later].count > BLOCK // 2:
        return
    for index in range(st.blocks[later].count):
        st.releases[block * BLOCK + count + index] = st.releases[later * BLOCK + index]
    st.blocks[block].count = count + st.blocks[later].count
    st.blocks[block].total += st.blocks[later].total
    _drop_block(st, place + 1)
