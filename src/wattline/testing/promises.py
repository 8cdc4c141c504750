"""Promises of orders, backfillings and caps, worked out again from a finished run.

Nothing here asks the policy or the engine's books: only when jobs were submitted, started and
ended, what they asked for, and what they drew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray

Key = Callable[[JobTable, int, float], float]
"""A job's place in the queue at a time: the smaller goes first, ties by row."""


def submitted_first(jobs: JobTable, job: int, now_s: float) -> float:
    return float(jobs.submit_s[job])


def passed_over(run: Run, key: Key = submitted_first) -> Iterator[str]:
    """Each time that a job started while one waited that stood before it in the queue."""
    start_s = run.schedule.start_s
    for job in np.argsort(start_s, kind="stable")[: np.count_nonzero(run.ran)].tolist():
        now_s = float(start_s[job])
        place = (key(run.jobs, job, now_s), job)
        waiting = np.flatnonzero((run.jobs.submit_s <= now_s) & ~(start_s <= now_s) & ~run.refused)
        before = [other for other in waiting.tolist()
                  if (key(run.jobs, other, now_s), other) < place]
        if before:
            yield (f"at {now_s:g} s job {run.jobs.job_id[job]} starts while job "
                   f"{run.jobs.job_id[before[0]]} waits, which stands before it")


def delayed_heads(run: Run, key: Key = submitted_first) -> Iterator[str]:
    """Each time that the first waiting job lost the start that it was promised.

    The promise is the earliest time at which, by the requested times of running jobs, enough units
    are free. It holds while the job stays first. Jobs must end by their requested times.
    """
    head, promised_s = -1, np.inf
    for now_s in np.unique(run.events.time_s).tolist():
        if head >= 0 and run.schedule.start_s[head] == now_s:
            head, promised_s = -1, np.inf
        first = _head(run, key, now_s)
        if first != head or _was_passed_in_order(run, key, first, now_s):
            head, promised_s = first, np.inf
        if head < 0:
            continue
        promised_s = min(promised_s, _shadow_s(run, key, head, now_s, backfilled=False))
        shadow_s = _shadow_s(run, key, head, now_s, backfilled=True)
        if shadow_s > promised_s:
            yield (f"at {now_s:g} s job {run.jobs.job_id[head]}, first in the queue, was promised "
                   f"{promised_s:g} s and can now start at {shadow_s:g} s")
            promised_s = shadow_s
        if run.schedule.start_s[head] > promised_s and now_s >= promised_s:
            yield (f"job {run.jobs.job_id[head]} was promised {promised_s:g} s and still waits at "
                   f"{now_s:g} s")
            promised_s = np.inf


def _head(run: Run, key: Key, now_s: float) -> int:
    """The first in the queue once the jobs of this instant have started."""
    start_s = run.schedule.start_s
    waiting = np.flatnonzero((run.jobs.submit_s <= now_s) & ~(start_s <= now_s))
    return min(waiting.tolist(), key=lambda job: (key(run.jobs, job, now_s), job), default=-1)


def _was_passed_in_order(run: Run, key: Key, head: int, now_s: float) -> bool:
    """Whether a job started at this instant that stood before the head: nobody promised that."""
    place = (key(run.jobs, head, now_s), head)
    started = np.flatnonzero(run.schedule.start_s == now_s).tolist()
    return any((key(run.jobs, job, now_s), job) < place for job in started)


def _shadow_s(run: Run, key: Key, head: int, now_s: float, *, backfilled: bool) -> float:
    """When the head can start; with or without the jobs that passed it at this instant."""
    start_s, end_s = run.schedule.start_s, run.schedule.end_s
    place = (key(run.jobs, head, now_s), head)
    free = run.units
    returns = []
    for job in np.flatnonzero((start_s <= now_s) & (end_s > now_s)).tolist():
        passed = start_s[job] == now_s and (key(run.jobs, job, now_s), job) > place
        if backfilled or not passed:
            free -= int(run.schedule.nodes[job])
            returns.append((start_s[job] + run.jobs.requested_s[job], run.schedule.nodes[job]))
    for time_s, units in sorted(returns):
        if free >= run.schedule.nodes[head]:
            break
        free += int(units)
        now_s = float(time_s)
    return now_s


def above_cap(run: Run) -> Iterator[str]:
    """Each time that the machine draws more than every cap that held since its jobs began.

    Where all jobs run at full speed, the machine's is added up anew from the table: nodes without a
    job idle, and jobs draw their own watts, or what their nodes draw when they are active.
    """
    if run.cap_w is None:
        return
    start_s, end_s = run.schedule.start_s, run.schedule.end_s
    rises_w = _rises_w(run)
    for now_s in np.unique(run.events.time_s)[:-1].tolist():
        holds = np.flatnonzero((start_s <= now_s) & (end_s > now_s))
        since_s = float(start_s[holds].min(initial=now_s))
        held = (run.cap_w.time_s >= since_s) & (run.cap_w.time_s <= now_s)
        allowed_w = max(run.cap_w.at(since_s), *run.cap_w.value[held].tolist(), 0.0)
        last = int(np.searchsorted(run.events.time_s, now_s, "right")) - 1
        drawn_w = float(run.power_w_capped[last])
        if rises_w is not None:
            drawn_w = run.machine.power_w_idle + float(rises_w[holds].sum())
        if len(holds) and drawn_w > allowed_w * (1 + 1e-9) + 1e-6:
            yield f"at {now_s:g} s the machine draws {drawn_w:g} W under a cap of {allowed_w:g} W"


def _rises_w(run: Run) -> FloatArray | None:
    """Compute what each job draws above the idle power of its nodes, by the table; None where it
    drew something else: at lower levels, in a configuration, or where units are no whole nodes."""
    told = len(run.machine.groups) == 1 and run.units == run.machine.node_count
    if not told or run.cap_counts == "jobs" or np.any(run.events.kind == EventKind.NODE):
        return None
    node, nodes = run.machine.groups[0].node_class, run.schedule.nodes
    own_w = np.where(np.isnan(run.jobs.power_w), nodes * node.power_w_active, run.jobs.power_w)
    drawn_j = np.where(run.ran, own_w * (run.schedule.end_s - run.schedule.start_s), 0.0)
    if not np.allclose(drawn_j, run.schedule.energy_j, rtol=1e-9, atol=1e-6):
        return None
    return np.asarray(own_w - nodes * node.power_w_idle)


def delayed_jobs(run: Run, again: Callable[[JobTable], Run]) -> Iterator[str]:
    """Each job that started later than it would have by what was known when it arrived.

    What was known: the jobs up to it, and of those that had not ended, only what they asked for.
    `again` runs the same policy on such a table; until the job arrives, both runs are the same.
    """
    jobs, schedule = run.jobs, run.schedule
    for job in range(len(jobs)):
        kept = np.arange(job + 1)
        ended = schedule.end_s[kept] <= jobs.submit_s[job]
        known = jobs.take(kept)
        run_s = np.where(ended, known.run_s, known.requested_s)
        promised_s = again(known.with_columns(run_s=run_s)).schedule.start_s[job]
        if not schedule.start_s[job] <= promised_s:
            yield (f"job {jobs.job_id[job]} could count on {promised_s:g} s when it arrived and "
                   f"started at {schedule.start_s[job]:g} s")
