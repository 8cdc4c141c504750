"""Rules of the event log and the job table: order, times, dependencies, busy units, the queue."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import NO_JOB
from wattline.model.run import EventKind, Outcome, Run
from wattline.results.verify._base import (
    Finding,
    Skipped,
    Verdicts,
    differ,
    holding,
    jobs_that,
    lost_runs,
    of_event,
)

_IN_PARTS = "jobs were requeued or suspended, and the job table has their last part alone"
_COUNTED = (EventKind.SUBMIT, EventKind.START, EventKind.END)


def lengths(run: Run) -> Verdicts:
    for part, size in ((run.schedule, len(run.jobs)), (run.events, len(run.events))):
        for name, values in vars(part).items():
            if len(values) != size:
                yield Finding(f"column '{name}' has {len(values)} rows, expected {size}")
    outside = (run.events.job < NO_JOB) | (run.events.job >= len(run.jobs))
    if outside.any():
        yield Finding(f"{np.count_nonzero(outside)} events name a job that is not in the table")


def log_order(run: Run) -> Verdicts:
    time_s = run.events.time_s
    if not time_s.size:
        if len(run.jobs):
            yield Finding(f"the event log is empty, yet there are {len(run.jobs)} jobs")
        return
    if not np.all(np.isfinite(time_s)):
        yield Finding("the event log has a time that is not finite")
    back = np.flatnonzero(np.diff(time_s) < 0)
    if back.size:
        yield Finding(f"the event log goes back in time {back.size} times, first at row "
                      f"{back[0] + 1}")
    if time_s[0] < run.start_s or time_s[-1] > run.end_s:
        yield Finding(f"the event log spans {time_s[0]} s to {time_s[-1]} s, outside the run's "
                      f"{run.start_s} s to {run.end_s} s")


def each_job_once(run: Run) -> Verdicts:
    """Submitted, started and ended once, in that order, at the times of the job table.

    But for runs that it was requeued from, which start and end before the one that counts.
    """
    log, schedule = run.events, run.schedule
    ran = run.ran
    lost = lost_runs(run)
    expected = {"submit": run.jobs.submit_s, "start": schedule.start_s, "end": schedule.end_s}
    for kind in _COUNTED:
        word = kind.name.lower()
        rows = np.flatnonzero((log.kind == kind) & (log.job != NO_JOB))
        times = np.bincount(log.job[rows], minlength=len(run.jobs))
        if kind is EventKind.START:  # of a job that was requeued, the last
            times -= lost
        yield from jobs_that(run, ran & (times != 1), f"ran without exactly one {word} event")
        if kind is EventKind.SUBMIT:
            yield from jobs_that(run, ~ran & (times > 1), f"have more than one {word} event")
        else:
            yield from jobs_that(run, ~ran & (times > 0), f"never ran but have a {word} event")
        jobs = log.job[rows]
        wrong = np.zeros(len(run.jobs), dtype=np.bool_)
        wrong[jobs] = differ(log.time_s[rows], expected[word][jobs])
        yield from jobs_that(run, wrong & (times == 1),
                         f"have a {word} event at another time than the job table says")
    yield from jobs_that(run, lost > run.jobs.restart, "were requeued more often than they say")


def job_times(run: Run) -> Verdicts:
    schedule, ran = run.schedule, run.ran
    submit_s, start_s, end_s = run.jobs.submit_s, schedule.start_s, schedule.end_s
    timed = np.isfinite(start_s) & np.isfinite(end_s)
    yield from jobs_that(run, ran & ~timed, "ran but have no start or end")
    yield from jobs_that(run, ~ran & ~(np.isnan(start_s) & np.isnan(end_s)),
                     "never ran but have a start or an end")
    yield from jobs_that(run, ran & timed & (start_s < submit_s), "start before their submission")
    yield from jobs_that(run, ran & timed & (end_s < start_s), "end before their start")
    yield from jobs_that(run, ran & (schedule.nodes < 1), "ran on no unit")
    yield from jobs_that(run, ran & (schedule.nodes > run.units),
                         "ran on more units than there are")
    # Speed stretches what a job asked for and what it needs alike.
    in_time = run.jobs.requested_s > run.jobs.run_s
    killed = (schedule.outcome == Outcome.KILLED) & (schedule.configuration == 0)
    yield from jobs_that(run, killed & in_time, "were killed, though they asked for enough time")


def dependencies(run: Run) -> Verdicts:
    """A job that comes after another starts when that one has ended and the think time is over."""
    after = run.jobs.after_job
    rows = np.flatnonzero((after != NO_JOB) & run.ran)
    first = after[rows]
    # A job that was refused at its submission never was in the queue, and holds nobody up.
    refused = run.refused[first]
    yield from jobs_that(run, rows[~run.ran[first] & ~refused],
                         "ran though the job they depend on never did")
    ready_s = run.schedule.end_s[first] + run.jobs.think_s[rows]
    early = run.ran[first] & (run.schedule.start_s[rows] < ready_s)
    yield from jobs_that(run, rows[early], "start before the job they depend on has ended")


def busy_units(run: Run) -> Verdicts:
    """Never above the machine, and at each event the sum over the running jobs."""
    log = run.events
    if log.busy.size and (log.busy.max() > run.units or log.busy.min() < 0):
        yield Finding(f"the busy units range from {log.busy.min()} to {log.busy.max()}, the "
                      f"machine has {run.units}")
    if _run_in_parts(run):
        yield Skipped(_IN_PARTS)
        return
    expected = np.cumsum(holding(run) * of_event(run, run.schedule.nodes))
    wrong = np.flatnonzero(expected != log.busy)
    if wrong.size:
        row = wrong[0]
        yield Finding(f"the busy units differ from the sum over running jobs at {wrong.size} "
                      f"events, first at row {row} ({log.time_s[row]} s): {log.busy[row]} instead "
                      f"of {expected[row]}")


def _run_in_parts(run: Run) -> bool:
    """Whether jobs of a twin were requeued or suspended: the table has the units of the last part
    alone, and they may have held others before."""
    return any(run.notes.get(name, 0.0) for name in ("requeues", "suspended_jobs"))


def queue_length(run: Run) -> Verdicts:
    """Submitted less started.

    Jobs that never run, wait for another one or are paused may be counted or left out.
    """
    if _run_in_parts(run):
        yield Skipped(_IN_PARTS)
        return
    log = run.events
    change = (log.kind == EventKind.SUBMIT).astype(np.int64) - (log.kind == EventKind.START)
    paused = np.cumsum((log.kind == EventKind.PAUSE).astype(np.int64)
                       - (log.kind == EventKind.RESUME))
    most = np.cumsum(change) + paused
    may_miss = ~run.ran | (run.jobs.after_job != NO_JOB)
    least = np.cumsum(np.where(of_event(run, may_miss), 0, change))
    wrong = np.flatnonzero((log.queued > most) | (log.queued < least))
    if wrong.size:
        row = wrong[0]
        yield Finding(f"the queue length differs from submitted less started at {wrong.size} "
                      f"events, first at row {row} ({log.time_s[row]} s): {log.queued[row]} "
                      f"instead of {most[row]}")


