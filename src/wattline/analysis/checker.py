"""An independent audit of a run: what its log, placement and job table say, added up again.

Nothing here comes from the engine or the policies: every total is recomputed from the event log,
so a mistake there cannot hide here. The result is a list of sentences, one a violation; an empty
list means that the run holds together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from wattline.analysis import power_audits, promise_audits
from wattline.analysis.audit import (
    differ,
    holding,
    jobs_that,
    lost_runs,
    of_event,
    placed_wrongly,
    stay_of_span,
    stays,
    stays_end,
)
from wattline.analysis.bounds_audit import within_bounds
from wattline.analysis.budget_audit import budget
from wattline.analysis.share_audit import within_shares
from wattline.analysis.stays_audit import node_stays
from wattline.model.jobs import NO_JOB
from wattline.model.run import EventKind, Outcome, Run

_COUNTED = (EventKind.SUBMIT, EventKind.START, EventKind.END)


def check(run: Run) -> list[str]:
    """Every violation found, in the order of the checks; empty when the run is good.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300))
    >>> wl.check(run)
    []
    """
    broken = [*_lengths(run), *_log_order(run)]
    if broken:  # what follows would only stumble over the same stone
        return broken
    return [sentence for audit in _AUDITS for sentence in audit(run)]


def _lengths(run: Run) -> Iterator[str]:
    for part, size in ((run.schedule, len(run.jobs)), (run.events, len(run.events))):
        for name, values in vars(part).items():
            if len(values) != size:
                yield f"column '{name}' has {len(values)} rows, expected {size}"
    outside = (run.events.job < NO_JOB) | (run.events.job >= len(run.jobs))
    if outside.any():
        yield f"{np.count_nonzero(outside)} events name a job that is not in the table"


def _log_order(run: Run) -> Iterator[str]:
    time_s = run.events.time_s
    if not time_s.size:
        if len(run.jobs):
            yield f"the event log is empty, yet there are {len(run.jobs)} jobs"
        return
    if not np.all(np.isfinite(time_s)):
        yield "the event log has a time that is not finite"
    back = np.flatnonzero(np.diff(time_s) < 0)
    if back.size:
        yield f"the event log goes back in time {back.size} times, first at row {back[0] + 1}"
    if time_s[0] < run.start_s or time_s[-1] > run.end_s:
        yield (f"the event log spans {time_s[0]} s to {time_s[-1]} s, outside the run's "
               f"{run.start_s} s to {run.end_s} s")


def _each_job_once(run: Run) -> Iterator[str]:
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


def _job_times(run: Run) -> Iterator[str]:
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


def _dependencies(run: Run) -> Iterator[str]:
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


def _busy_units(run: Run) -> Iterator[str]:
    """Never above the machine, and at each event the sum over the running jobs."""
    log = run.events
    if log.busy.size and (log.busy.max() > run.units or log.busy.min() < 0):
        yield (f"the busy units range from {log.busy.min()} to {log.busy.max()}, "
               f"the machine has {run.units}")
    if _run_in_parts(run):
        return
    expected = np.cumsum(holding(run) * of_event(run, run.schedule.nodes))
    wrong = np.flatnonzero(expected != log.busy)
    if wrong.size:
        row = wrong[0]
        yield (f"the busy units differ from the sum over running jobs at {wrong.size} events, "
               f"first at row {row} ({log.time_s[row]} s): {log.busy[row]} instead of "
               f"{expected[row]}")


def _run_in_parts(run: Run) -> bool:
    """Whether jobs of a twin were requeued or suspended: the table has the units of the last part
    alone, and they may have held others before."""
    return any(run.notes.get(name, 0.0) for name in ("requeues", "suspended_jobs"))


def _queue_length(run: Run) -> Iterator[str]:
    """Submitted less started.

    Jobs that never run, wait for another one or are paused may be counted or left out.
    """
    if _run_in_parts(run):
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
        yield (f"the queue length differs from submitted less started at {wrong.size} events, "
               f"first at row {row} ({log.time_s[row]} s): {log.queued[row]} instead of "
               f"{most[row]}")


def _placement(run: Run) -> Iterator[str]:
    """No unit twice at one time; each job on as many units as it was given."""
    if run.placement is None:
        return
    place = run.placement
    if (place.count < 1).any() or (place.first < 0).any() or (
        place.first + place.count > run.units).any():
        yield f"the placement has runs of units outside 0 to {run.units - 1}"
        return
    wrong = placed_wrongly(run, place)
    if wrong.any():
        yield from jobs_that(run, wrong,
                             "are placed on another number of units than they were given")
        return
    if not stays_end(run):  # a start or an end is missing, which is reported as such
        return
    stay = stay_of_span(run, place)
    start_s, end_s = (run.events.time_s[rows[stay]] for rows in stays(run))
    held = np.flatnonzero(end_s > start_s)  # a job of no length holds nothing
    free_from_s = np.full(run.units, -np.inf)
    clashes = []
    for row in held[np.argsort(start_s[held], kind="stable")].tolist():
        units = slice(place.first[row], place.first[row] + place.count[row])
        if free_from_s[units].max() > start_s[row]:
            clashes.append(row)
        free_from_s[units] = np.maximum(free_from_s[units], end_s[row])
    if clashes:
        yield from jobs_that(run, np.unique(place.job[clashes]),
                             "start on units that another job still holds")


_AUDITS: tuple[Callable[[Run], Iterator[str]], ...] = (
    _each_job_once, _job_times, _dependencies, _busy_units, _queue_length, _placement,
    power_audits.energy, power_audits.idle_and_jobs, power_audits.power_of_jobs,
    power_audits.jobs_within_nodes, power_audits.power_within_machine, power_audits.cap_and_peak,
    within_bounds, within_shares, node_stays, promise_audits.frequencies,
    promise_audits.reserved_units, promise_audits.cap_at_starts, promise_audits.cap_at_every_event,
    promise_audits.cap_windows, budget,
)
