"""Rows that are not needed any more: jobs that are over leave the table, the others move up.

Jobs arrive without end. A row's number decides ties, so the order of those that are left stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.books.record import ANSWER, Record, make_record
from wattline.books.roll import OVER_STATES
from wattline.books.timers import ELIGIBLE, WAKE_UP
from wattline.model.jobs import IntArray
from wattline.policies.state import BLOCK, REFUSED, State, rooms
from wattline.policies.state_records import ActionRecord, QueueBlock

LEAST_ROWS = 1024
"""Room for jobs that arrays always have."""
ROOM = 4
"""So many times the jobs that are left fit in before arrays grow again: they neither flutter, nor
keep the size of a peak."""


def kept_rows(state: State, count: int, refused: bool) -> IntArray:
    """The rows of jobs that are not over, and of those that somebody still waits for.

    Jobs that were refused count as over where `refused` says so.
    """
    live, jobs = state.live[:count], state.jobs[:count]
    needed = ~np.isin(live.state, OVER_STATES) | ((live.state == REFUSED) & (not refused))
    waited_for = jobs.after[needed & (jobs.after >= 0)]
    needed[waited_for] = True
    return np.flatnonzero(needed).astype(np.int64)


def rows_for(kept: int, now: int) -> int:
    """Room for so many jobs and those to come before the next look: less than now after a peak."""
    return min(max(LEAST_ROWS, ROOM * kept), now)


def only_rows(state: State, record: Record, kept: IntArray, rows: int) -> State:
    """The same state with these jobs alone, in arrays with room for `rows`."""
    new = np.full(len(state.jobs), -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    clock = state.clock[0]
    room = {name: size for name, (size, _) in rooms(state, rows).items()}
    jobs, live = (_moved(array[kept], rows) for array in (state.jobs, state.live))
    for name in ("after", "next_dependent", "first_dependent"):
        column = jobs[name][: len(kept)]
        jobs[name][: len(kept)] = np.where(column >= 0, new[column], -1)
    mend_chains(jobs, len(kept))
    arrays: dict[str, Any] = {"jobs": jobs, "live": live}
    queued = state.queue[clock.queue_first: clock.queue_last]
    arrays["queue"] = _renamed(queued, room["queue"], new)
    arrays["queue_blocks"] = QueueBlock.table(room["queue_blocks"])
    arrays["aside"] = _renamed(state.aside[: clock.aside], room["aside"], new)
    arrays["actions"] = _moved(state.actions[:0], room["actions"])
    steps = state.profile[clock.step_first: clock.step_last]
    arrays["profile"] = _moved(steps, max(room["profile"], 2 * len(steps)))
    running = state.running.copy()
    running[: clock.running] = new[running[: clock.running]]
    arrays["running"] = running
    releases = state.releases.copy()
    for block in state.blocks.order[: clock.blocks]:
        part = slice(block * BLOCK, block * BLOCK + state.blocks.count[block])
        releases.job[part] = new[releases.job[part]]
    arrays["releases"] = releases
    arrays["timers"] = _renamed_timers(state, record, new, room["timers"])
    _move_places(clock, new)
    return state.with_arrays(**arrays)


def shrunk(record: Record, rows: int) -> Record:
    """The same record without the room that a peak has left; what it holds is read by nobody."""
    meter = record.meter[0]
    meter.rows = meter.spans = meter.decided = meter.answers = 0
    least = make_record(rows, 0, 0.0, 0)
    arrays = {name: getattr(least, name) for name in Record.FIELDS
              if name.startswith("log_")
              and len(getattr(record, name)) > 2 * len(getattr(least, name))}
    most = 6 * rows + 128
    if len(record.decided) > 2 * most:
        arrays |= {"decided": ActionRecord.table(most),
                   "answers": np.zeros(most, ANSWER).view(np.recarray)}
    return record.with_arrays(**arrays) if arrays else record


def _move_places(clock: Any, new: IntArray) -> None:
    """What the clock says of rows, and of places in arrays that begin anew."""
    clock.queue_last -= clock.queue_first
    clock.sorted_end = max(clock.sorted_end - clock.queue_first, 0)
    clock.queue_first = 0
    clock.step_last -= clock.step_first
    clock.step_first = 0
    if clock.stopper >= 0:
        clock.stopper = new[clock.stopper]


def _moved(held: Any, room: int) -> Any:
    moved = np.zeros(max(room, len(held)), dtype=held.dtype)
    moved[: len(held)] = held
    return moved.view(np.recarray)


def _renamed(held: Any, room: int, new: IntArray) -> Any:
    renamed = _moved(held, room)
    renamed.job[: len(held)] = new[held.job]
    return renamed


def _renamed_timers(state: State, record: Record, new: IntArray, room: int) -> Any:
    """Timers name jobs by row where they are about one; of jobs that are gone there are none."""
    count = int(record.meter[0].timers)
    timers = _moved(state.timers[:count], max(room, 2 * count))
    set_ones = timers[:count]
    about_jobs = np.isin(set_ones.kind, (ELIGIBLE, WAKE_UP)) & (set_ones.arg >= 0)
    set_ones.arg[about_jobs] = new[set_ones.arg[about_jobs]]
    left = set_ones[(set_ones.kind != ELIGIBLE) | (set_ones.arg >= 0)]
    left = left[np.lexsort((left.arg, left.kind, left.time_s))]  # in order they are a heap, too
    timers[: len(left)] = left
    record.meter[0].timers = len(left)
    return timers


def mend_chains(jobs: Any, count: int) -> None:
    """Chains of dependents anew, from what each of the first `count` jobs comes after."""
    jobs.first_dependent[:count] = -1
    jobs.next_dependent[:count] = -1
    for job in np.flatnonzero(jobs.after[:count] >= 0)[::-1]:
        before = jobs.after[job]
        jobs.next_dependent[job] = jobs.first_dependent[before]
        jobs.first_dependent[before] = job
