"""Backfill does not delay the first job of a partition, as far as time limits tell.

Slurm's sched_config.html: backfill scheduling starts lower priority jobs if doing so does not delay
the expected start time of any higher priority jobs. That time is worked out here from the limits of
the jobs that run, in nodes alone, with what was just started and without. What Slurm rounds to is
allowed for: it plans in steps of `bf_resolution`, and looks after groups of ends alone, the larger
the later they are (select_plugins.html, "will run").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts
from wattline.results.verify.shared._case import Case
from wattline.results.verify.shared.waiting import Sweep, plain_jobs, slack_s, waits_of

FIRST_WINDOW_S = 30.0
MOST_STARTS = 3_000
"""Starts ahead of others that are judged, of a run with more of them the first."""


def why_not(case: Case) -> str:
    """Say what else than nodes decides when a job starts; empty where nodes alone do."""
    rules = case.rules
    others = {
        f"the scheduler is '{rules.scheduler}'": rules.scheduler not in ("backfill", "builtin"),
        "there is a power cap": case.cap is not None,
        "parts of the machine have power limits": bool(case.bounds),
        "there is an energy budget": case.has("budget"),
        "nodes go out of service": case.has("outages"),
        "there are reservations": case.has("reservations"),
        "jobs preempt others": rules.preempt != "none",
        "idle nodes are switched off": rules.suspend_time_s >= 0,
        f"priority is '{case.priority.kind}'": case.priority.kind != "basic",
        "bf_min_prio_reserve or bf_min_age_reserve is set": bool(
            rules.bf_min_prio_reserve or rules.bf_min_age_reserve_s),
    }
    return ", ".join(why for why, holds in others.items() if holds)


def starts_ahead(case: Case) -> Verdicts:
    """No start ahead of the first job of its partition moves the time at which that would start."""
    if why := why_not(case):
        yield Skipped(f"not only nodes decide who starts: {why}")
        return
    waits, plain = waits_of(case), plain_jobs(case)
    sweep = Sweep(case, waits, plain)
    ends_s = _limit_ends(case)
    judged = ahead = 0
    told: set[int] = set()
    for now_s, _ in sweep.steps():
        started = np.flatnonzero(case.given_s == now_s)
        if not len(started):
            continue
        for head in sweep.heads():
            mine = started[(sweep.part[case.stays.job[started]] == sweep.part[head])
                           & (sweep.rank[case.stays.job[started]] > sweep.rank[head])]
            if not len(mine) or head in told:
                continue
            ahead += 1
            since_s = float(waits.from_s[waits.is_first & (waits.job == head)][0])
            if judged >= MOST_STARTS or now_s - since_s < slack_s(case) or (
                    case.jobs.licences[head].any() or case.qos.no_reserve[case.jobs.qos[head]]):
                continue
            rows = sweep.room.present
            others = np.setdiff1d(rows, mine)
            before_s = _expected_s(sweep, head, now_s, others, ends_s)
            after_s = _expected_s(sweep, head, now_s, rows, ends_s)
            if not before_s < now_s + case.rules.bf_window_s:
                continue
            judged += 1
            late_s = after_s - _planned_s(before_s, others, ends_s, now_s)
            if late_s > 2 * case.rules.bf_resolution_s + 2 * case.rules.tick_s:
                told.add(head)
                job = int(case.job_id[case.stays.job[mine[0]]])
                yield Finding(
                    f"job {job} starts at {now_s:.10g} s ahead of job {case.job_id[head]}, which "
                    f"by the limits of what runs could start at {before_s:.10g} s, and now at "
                    f"{after_s:.10g} s", job, now_s)
    yield Counted(judged, ahead)


def _limit_ends(case: Case) -> FloatArray:
    """Of each stay, when its job is over by its limit; infinite where that is not known."""
    limit_s = np.where(case.jobs.limit_s > 0, np.ceil(case.jobs.limit_s / 60.0) * 60.0, np.inf)
    return np.asarray(case.stays.from_s + limit_s[case.stays.job])


def _expected_s(sweep: Sweep, job: int, now_s: float, rows: Any, ends_s: FloatArray) -> float:
    """When the job would start if all others ended at their limits."""
    wanted = max(int(sweep.case.jobs.min_nodes[job]), 1)
    part = int(sweep.part[job])
    for at_s in [now_s, *_later(rows, ends_s, now_s).tolist()]:
        left = rows[ends_s[rows] > at_s]
        if len(sweep.room.nodes_for(job, part, at_s, left)[0]) >= wanted:
            return float(at_s)
    return float("inf")


def _planned_s(time_s: float, rows: Any, ends_s: FloatArray, now_s: float) -> float:
    """For when Slurm may plan what could start then: it looks after groups of ends only.

    These lie up to 30, 60, 120, ... seconds behind the first, and the last of its group counts.
    """
    later_s = _later(rows, ends_s, now_s)
    if not len(later_s) or not np.isfinite(time_s):
        return time_s
    edge_s, window_s = float(later_s[0]) + FIRST_WINDOW_S, FIRST_WINDOW_S
    while edge_s + window_s < time_s:
        window_s *= 2.0
    return float(later_s[later_s <= edge_s + window_s].max(initial=time_s))


def _later(rows: Any, ends_s: FloatArray, now_s: float) -> FloatArray:
    """Times at which jobs that run are over by their limits, after now."""
    found = np.unique(ends_s[rows])
    return np.asarray(found[(found > now_s) & np.isfinite(found)])
