"""When jobs may start and have to end: submission, run times, limits, suspensions, dependencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.results.verify._base import Finding, Verdicts
from wattline.results.verify.shared._case import (
    AFTER,
    AFTERANY,
    KILLED,
    NO_LIMIT,
    RAN,
    ROUNDING,
    SINGLETON,
    Case,
    jobs,
)
from wattline.results.verify.shared.limits import limit_rows


def outcomes(case: Case) -> Verdicts:
    """Each job has an outcome, and one that ran has a start and an end after its submission."""
    ran, start_s = case.ran, case.start_s
    yield from jobs(case, case.outcome.state == 0, "has no outcome")
    yield from jobs(case, ran & ~np.isfinite(case.end_s), "ran and has no end", start_s)
    yield from jobs(case, ~ran & ~np.isnan(start_s), "started and did not run", start_s)
    with np.errstate(invalid="ignore"):
        yield from jobs(case, start_s < case.jobs.submit_s, "starts before its submission", start_s)
        yield from jobs(case, start_s < case.jobs.begin_s, "starts before its begin time", start_s)
        yield from jobs(
            case, start_s < case.outcome.eligible_s, "starts before it is eligible", start_s
        )
        yield from jobs(case, case.end_s < start_s, "ends before it starts", case.end_s)


def run_times(case: Case) -> Verdicts:
    """A job that ends by itself ran as long as it needs, no shorter and no longer.

    One that was suspended while its nodes booted held them without working.
    """
    ended = (case.outcome.state == RAN) & case.ran
    least_s, most_s = needed_s(case)
    with np.errstate(invalid="ignore"):
        yield from jobs(
            case,
            ended & (case.ran_s < least_s - ROUNDING),
            "ends before its work is done",
            case.end_s,
        )
        stretches = 1 + np.bincount(case.outcome.gap_job, minlength=case.count)
        late_s = case.rules.start_latency_s * stretches
        late_s += np.where(case.outcome.suspended_s > 0.0, _boot_s(case), 0.0)
        yield from jobs(
            case,
            ended & (case.ran_s > most_s + late_s + ROUNDING),
            "runs on when its work is done",
            case.end_s,
        )


def needed_s(case: Case) -> tuple[FloatArray, FloatArray]:
    """Least and longest time that each job needs: it may have run by several of its options."""
    run_s = case.jobs.run_s
    if not case.has("options"):
        return run_s, run_s
    options, chosen = case.options, case.outcome.option
    least_s, most_s = run_s.copy(), run_s.copy()
    job = np.repeat(np.arange(case.count), np.diff(options.first))
    np.minimum.at(least_s, job, options.run_s)
    np.maximum.at(most_s, job, options.run_s)
    one = (case.outcome.suspended_s == 0.0) & (chosen >= 0)
    least_s[one] = most_s[one] = options.run_s[chosen[one]]
    plain = (case.outcome.suspended_s == 0.0) & (chosen < 0)
    least_s[plain] = most_s[plain] = run_s[plain]
    return least_s, most_s


def time_limits(case: Case) -> Verdicts:
    """No job runs past its time limit, suspended time apart, and none is killed before it."""
    limit_s = case.jobs.limit_s
    known = (limit_s > 0) & np.isfinite(limit_s)
    allowed_s = np.where(known, np.ceil(np.where(known, limit_s, 0.0) / 60.0) * 60.0, np.inf)
    with np.errstate(invalid="ignore"):
        over = case.ran & (case.ran_s > allowed_s + case.late_s + ROUNDING)
        yield from jobs(case, over, "runs past its time limit, suspensions apart", case.end_s)
        if case.rules.enforce_limits:
            wall_s = longest_s(case)
            over = case.ran & (case.ran_s > wall_s + case.late_s + ROUNDING)
            yield from jobs(case, over, "runs past MaxWall, suspensions apart", case.end_s)
            allowed_s = np.minimum(allowed_s, wall_s)
        reserved = case.jobs.get("reservation")
        free = np.ones(case.count, bool) if reserved is None else reserved < 0
        # Slurm counts whole seconds: a limit may be over up to one before its time.
        early = (
            (case.outcome.state == KILLED)
            & free
            & known
            & (case.ran_s < allowed_s + case.rules.over_time_limit_s - 1.0 - ROUNDING)
        )
        yield from jobs(case, early, "was killed before its time limit", case.end_s)


def longest_s(case: Case) -> FloatArray:
    """MaxWall of each job where it ran: of the partition's QOS, its own, its associations."""
    most_s = np.full(case.count, np.inf)
    if not any(
        (case.tables[name].job_wall_s < NO_LIMIT).any()
        for name in ("qos_limits", "association_limits")
    ):
        return most_s
    for job in np.flatnonzero(case.ran).tolist():
        walls_s = [float(limits.job_wall_s[row]) for limits, row in limit_rows(case, job)]
        most_s[job] = next((wall_s for wall_s in walls_s if wall_s < NO_LIMIT), np.inf)
    return most_s


def suspensions(case: Case) -> Verdicts:
    """Suspensions lie within their runs, one after the other, and make up the lost time."""
    outcome = case.outcome
    job, from_s, to_s = outcome.gap_job, outcome.gap_from_s, outcome.gap_to_s
    outside = ~((from_s >= case.start_s[job]) & (to_s >= from_s) & (to_s <= case.end_s[job]))
    yield from jobs(case, job[outside], "has suspensions outside of their runs")
    order = np.lexsort((from_s, job))
    again = np.diff(job[order]) == 0
    overlap = again & (from_s[order][1:] < to_s[order][:-1])
    yield from jobs(case, job[order][1:][overlap], "has suspensions that overlap")
    lost_s = np.bincount(job, to_s - from_s, case.count)
    yield from jobs(
        case,
        np.abs(lost_s - outcome.suspended_s) > ROUNDING,
        "is suspended for another time than it took",
    )
    inside = _held_inside(case)
    yield from jobs(case, inside, "holds nodes while it is suspended")


def _held_inside(case: Case) -> Any:
    """Jobs with a stay that overlaps one of their suspensions (booting nodes end one)."""
    found = np.zeros(case.count, bool)
    stays, outcome = case.stays, case.outcome
    order = np.argsort(stays.job, kind="stable")
    first = np.searchsorted(stays.job[order], np.arange(case.count + 1))
    for job, from_s, to_s in zip(outcome.gap_job.tolist(), outcome.gap_from_s.tolist(),
                                 outcome.gap_to_s.tolist(), strict=True):
        mine = order[first[job]:first[job + 1]]
        found[job] |= bool(((stays.from_s[mine] < to_s - ROUNDING)
                            & (stays.to_s[mine] > from_s + ROUNDING)).any())
    return found


def dependencies(case: Case) -> Verdicts:
    """All that a job waits for had ended, or started; of jobs that never ran that is not known."""
    if not case.has("dependencies"):
        return
    asked, requeues = case.dependencies, case.outcome.requeues
    boot_s = _boot_s(case)
    for row, job in enumerate(asked.job.tolist()):
        others = asked.awaited[asked.first[row] : asked.first[row + 1]]
        if asked.any_of[job] or np.isnan(case.start_s[job]) or requeues[others].any():
            continue
        kind = int(asked.kind[row])
        times_s = (case.start_s - boot_s if kind == AFTER else case.end_s)[others]
        early = times_s + asked.delay_s[row] > case.start_s[job] + ROUNDING
        if early.any():
            yield Finding(
                f"job {case.job_id[job]} starts before job "
                f"{case.job_id[others[early][0]]} lets it go",
                int(case.job_id[job]),
                float(case.start_s[job]),
            )
            return
        if kind not in (AFTER, AFTERANY, SINGLETON) and len(others):
            well = (case.outcome.state[others] == RAN) & case.jobs.exit_ok[others]
            if bool(well.all()) is not (kind == 1) and not requeues[job]:
                yield Finding(
                    f"job {case.job_id[job]} ran, though job "
                    f"{case.job_id[others[0]]} did not end as it was to",
                    int(case.job_id[job]),
                    float(case.start_s[job]),
                )
                return
    yield from _namesakes(case)


def _namesakes(case: Case) -> Verdicts:
    """While a job runs that must be alone, no earlier job of its user and name does."""
    asked, requeues = case.dependencies, case.outcome.requeues
    for job in asked.job[asked.kind == SINGLETON].tolist():
        before = np.flatnonzero(asked.namesakes[:job] == asked.namesakes[job])
        with np.errstate(invalid="ignore"):
            late = before[case.end_s[before] > case.start_s[job] + ROUNDING]
        if len(late) and not asked.any_of[job] and not requeues[late].any():
            yield Finding(
                f"job {case.job_id[job]} starts before job {case.job_id[late[0]]} of its "
                "name is over",
                int(case.job_id[job]),
                float(case.start_s[job]),
            )
            return


def _boot_s(case: Case) -> float:
    """Longest time between getting nodes and starting: they boot, and are seen to be up."""
    rules = case.rules
    if rules.suspend_time_s < 0:
        return 0.0
    return float(rules.resume_timeout_s + 2 * rules.kill_late_s)
