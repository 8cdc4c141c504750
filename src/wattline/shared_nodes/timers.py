"""What is to happen at a known time: a binary heap, in the order of time, kind and job."""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def add_timer(st: Books, time_s: float, kind: int, job: int, generation: int) -> None:
    """A timer is void once the generation of its job (or node) is another.

    There is room, as loop.py sees to before each instant; where there were none, nothing would be
    written beyond the table, and the simulation ends with an error.
    """
    place = st.clock[0].timers
    if place >= len(st.timers):
        st.clock[0].overfull = 1
        return
    st.clock[0].timers = place + 1
    while place > 0:
        parent = (place - 1) // 2
        if not _before(st, time_s, kind, job, parent):
            break
        _copy(st, parent, place)
        place = parent
    _write(st, place, time_s, kind, job, generation)


@kernel_part
def drop_first_timer(st: Books) -> None:
    size = st.clock[0].timers - 1
    st.clock[0].timers = size
    if size == 0:
        return
    last = st.timers[size]
    time_s, kind, job, generation = last.time_s, last.kind, last.job, last.generation
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size:
            right = st.timers[child + 1]
            if _before(st, right.time_s, right.kind, right.job, child):
                child += 1
        if _before(st, time_s, kind, job, child):
            break
        _copy(st, child, place)
        place = child
    _write(st, place, time_s, kind, job, generation)


@kernel_part
def _before(st: Books, time_s: float, kind: int, job: int, place: int) -> bool:
    other = st.timers[place]
    if time_s != other.time_s:
        return bool(time_s < other.time_s)
    if kind != other.kind:
        return bool(kind < other.kind)
    return bool(job < other.job)


@kernel_part
def _copy(st: Books, source: int, target: int) -> None:
    timer = st.timers[source]
    _write(st, target, timer.time_s, timer.kind, timer.job, timer.generation)


@kernel_part
def _write(st: Books, place: int, time_s: float, kind: int, job: int, generation: int) -> None:
    st.timers[place].time_s = time_s
    st.timers[place].kind = kind
    st.timers[place].job = job
    st.timers[place].generation = generation
