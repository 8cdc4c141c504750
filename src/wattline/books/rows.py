"""Rows that are not needed any more: jobs that are over leave the table, the others move up.

Jobs arrive without end. A row's number decides ties, so the order of those that are left stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.books.record import Record
from wattline.books.roll import OVER
from wattline.books.timers import ELIGIBLE, WAKE
from wattline.model.jobs import IntArray
from wattline.policies.state import BLOCK, State


def kept_rows(state: State, count: int) -> IntArray:
    """The rows of jobs that are not over, and of those that somebody still waits for."""
    live, jobs = state.live[:count], state.jobs[:count]
    needed = ~np.isin(live.state, OVER)
    waited_for = jobs.after[needed & (jobs.after >= 0)]
    needed[waited_for] = True
    return np.flatnonzero(needed).astype(np.int64)


def only_rows(state: State, record: Record, kept: IntArray) -> State:
    """The same state with these rows alone."""
    new = np.full(len(state.jobs), -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    clock = state.clock[0]
    jobs, live = _moved(state.jobs, kept), _moved(state.live, kept)
    for name in ("after", "next_dependent", "first_dependent"):
        column = jobs[name][: len(kept)]
        jobs[name][: len(kept)] = np.where(column >= 0, new[column], -1)
    _mend_chains(jobs, len(kept))
    arrays: dict[str, Any] = {"jobs": jobs, "live": live}
    arrays["queue"] = _renamed(state.queue, slice(clock.queue_first, clock.queue_last), new)
    arrays["aside"] = _renamed(state.aside, slice(0, clock.aside), new)
    running = state.running.copy()
    running[: clock.running] = new[running[: clock.running]]
    arrays["running"] = running
    releases = state.releases.copy()
    for block in state.blocks.order[: clock.blocks]:
        part = slice(block * BLOCK, block * BLOCK + state.blocks.count[block])
        releases.job[part] = new[releases.job[part]]
    arrays["releases"] = releases
    arrays["timers"] = _renamed_timers(state, record, new)
    return state.with_arrays(**arrays)


def _moved(array: Any, kept: IntArray) -> Any:
    moved = np.zeros_like(array)
    moved[: len(kept)] = array[kept]
    return moved.view(np.recarray)


def _renamed(array: Any, part: slice, new: IntArray) -> Any:
    renamed = array.copy()
    renamed.job[part] = new[renamed.job[part]]
    return renamed


def _renamed_timers(state: State, record: Record, new: IntArray) -> Any:
    """Timers name jobs by row where they are about one; of jobs that are over they say nothing."""
    timers = state.timers.copy()
    set_ones = timers[: record.meter[0].timers]
    about_jobs = np.isin(set_ones.kind, (ELIGIBLE, WAKE)) & (set_ones.arg >= 0)
    set_ones.arg[about_jobs] = new[set_ones.arg[about_jobs]]
    return timers


def _mend_chains(jobs: Any, count: int) -> None:
    """Chains of dependents without those that are gone."""
    jobs.first_dependent[:count] = -1
    jobs.next_dependent[:count] = -1
    for job in np.flatnonzero(jobs.after[:count] >= 0)[::-1]:
        before = jobs.after[job]
        jobs.next_dependent[job] = jobs.first_dependent[before]
        jobs.first_dependent[before] = job
