"""Standby jobs in the run that people read: those that nobody needed are no jobs that never ran."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.model.jobs import NO_JOB
from wattline.model.run import EventKind, EventLog, Run

STANDBY_USER = "standby"
"""Whose the standby jobs that ran are, so that no user's figures have them."""


def as_people_read(case: Case, run: Run) -> tuple[Run, tuple[str, ...]]:
    """The run without standby jobs that never started, the others named so, and a remark.

    There are always more of them than can run: they only stand for work that never ends.
    """
    if case.workload.standby is None:
        return run, ()
    standby = run.jobs.application == len(case.workload.types)
    run = _owned(run, standby)
    unused = standby & np.isnan(run.schedule.start_s)
    count = int(unused.sum())
    if count == 0 or not _begins_alike(run, unused):
        return run, ()
    return _without(run, unused), (f"{count:,} standby jobs were not needed and are left out",)


def _owned(run: Run, standby: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Run:
    users = run.jobs.names.get("user", ())
    jobs = run.jobs.with_columns(user=np.where(standby, len(users), run.jobs.user))
    names = {**run.jobs.names, "user": (*users, STANDBY_USER)}
    return replace(run, jobs=replace(jobs, names=names))


def _begins_alike(run: Run, unused: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    """Whether the log still begins at the run's start without them."""
    left = run.events.time_s[~_rows_of(run, unused)]
    return bool(left.size and left[0] == run.events.time_s[0])


def _rows_of(
    run: Run, jobs: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The log's rows of these jobs."""
    return np.asarray((run.events.job != NO_JOB) & jobs[run.events.job])


def _without(run: Run, unused: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Run:
    log, kept = run.events, ~unused
    new_row = np.where(kept, np.cumsum(kept) - 1, NO_JOB)
    gone = _rows_of(run, unused)
    submitted = np.cumsum(gone & (log.kind == EventKind.SUBMIT))
    columns = {field.name: getattr(log, field.name) for field in fields(EventLog)}
    columns["queued"] = log.queued - submitted
    columns["job"] = np.where(log.job == NO_JOB, NO_JOB, new_row[log.job])
    place = run.placement
    if place is not None:
        place = replace(place, job=new_row[place.job])
    schedule = replace(run.schedule, **{
        field.name: getattr(run.schedule, field.name)[kept] for field in fields(run.schedule)})
    return replace(
        run, jobs=run.jobs.take(kept), schedule=schedule, placement=place,
        events=EventLog(**{name: values[~gone] for name, values in columns.items()}))
