"""Amounts that jobs got: units by their processors, and time by their work and their speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.run import LOST, EventKind, Outcome, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import (
    GIVING,
    TAKING,
    TOLERANCE,
    Counted,
    Skipped,
    Verdicts,
    by_job,
    jobs_that,
    lost_runs,
    stays_end,
)
from wattline.results.verify.named_policy import policy_names
from wattline.results.verify.pace import levels, needed

_ROUNDING_S = 1e-6
Flags = npt.NDArray[np.bool_]


def units_asked(run: Run) -> Verdicts:
    """A job has the whole nodes that hold its processors, or the nodes of its configuration."""
    given = run.schedule.configuration
    asked = _units_of_procs(run)
    known = run.ran & (given == 0) & _as_asked(run)
    if "nodes" in run.configurations:
        of_table = np.append(0, run.configurations["nodes"])
        known |= run.ran & (given > 0)
        asked = np.where(given > 0, of_table[np.clip(given, 0, len(of_table) - 1)], asked)
    if run.ran.any() and not known.any():
        yield Skipped("jobs may have chosen their number of nodes, and the run does not say how")
        return
    yield from jobs_that(run, known & (run.schedule.nodes != asked),
                         "ran on another number of units than they asked for")
    yield Counted(int(known.sum()), int(run.ran.sum()))


def _units_of_procs(run: Run) -> IntArray:
    if run.units != run.machine.node_count:
        return run.jobs.procs
    cores = run.machine.groups[0].node_class.cores
    return np.asarray(-(-run.jobs.procs // cores), dtype=np.int64)


def run_times(run: Run) -> Verdicts:
    """A job ends when its work, at the speed that it had, is done; or by the rule of overrun."""
    if why := _why_not(run):
        yield Skipped(why)
        return
    done_s, known = _work_done(run, _speed_of_nodes(run))
    outcome, needed_s = run.schedule.outcome, needed(run)
    ends_s = np.where(np.isfinite(run.schedule.end_s), np.abs(run.schedule.end_s), 0.0)
    rounding_s = _ROUNDING_S + TOLERANCE * (needed_s + ends_s)
    lost = np.isin(outcome, LOST)
    known &= run.ran
    yield from jobs_that(run, known & ~lost & (done_s < needed_s - rounding_s),
                         "end before their work is done")
    yield from jobs_that(run, known & (done_s > needed_s + rounding_s),
                         "run on when their work is done")
    overrun = _chosen(run, "policy").get("overrun")
    over = run.jobs.run_s > run.jobs.requested_s
    if overrun == "kill":
        yield from jobs_that(run, known & over & (outcome == Outcome.COMPLETED),
                             "ran longer than they asked for, and were not killed")
    elif overrun == "extend":
        yield from jobs_that(run, outcome == Outcome.KILLED,
                             "were killed, though jobs may run longer than they asked for")
    yield Counted(int(known.sum()), int(run.ran.sum()))


def _why_not(run: Run) -> str:
    """Say why nobody can tell how fast jobs ran; empty where the records say it."""
    rule = run.promises.queue
    together = rule is not None and rule.least_power < 1.0
    log = run.events
    common = log.value[(log.kind == EventKind.RATE) & (log.job == NO_JOB)]
    if run.policy_powers or not (
            run.promises.full_speed or together or run.promises.frequencies is not None):
        return "the run does not say how fast its jobs ran"
    if common.size and not (together and (common > 0.0).all()):
        return "many jobs changed their speed at once, each to its own"
    speeds = {group.node_class.speed for group in run.machine.groups}
    if len(run.machine.groups) == 1 and speeds != {1.0}:
        return "all nodes are of another speed than those of the log"
    if run.placement is None and speeds != {1.0}:
        return "nodes differ in speed, and the run does not name those of its jobs"
    if not stays_end(run):
        return "jobs do not end as often as they start"
    return ""


def _as_asked(run: Run) -> bool:
    """True where a job without another configuration has what it asked for."""
    promises = run.promises
    return (promises.full_speed or promises.queue is not None or run.policy_powers
            or bool(run.configurations) or policy_names(run).get("configure") == "requested")


def _chosen(run: Run, section: str) -> Mapping[str, Any]:
    found = run.scenario.get(section)
    return found if isinstance(found, Mapping) else {}


def _speed_of_nodes(run: Run) -> FloatArray:
    """Speed of the slowest node of each job."""
    groups, place = run.machine.groups, run.placement
    if place is None or len(groups) == 1:
        return np.ones(len(run.jobs))
    slowest, first = np.full(len(run.jobs), np.inf), 0
    for group in groups:
        count = group.count * (1 if run.units == run.machine.node_count
                               else group.node_class.cores)
        there = (place.first < first + count) & (place.first + place.count > first)
        np.minimum.at(slowest, place.job[there], group.node_class.speed)
        first += count
    return slowest


def _work_done(run: Run, speed: FloatArray) -> tuple[FloatArray, Flags]:
    """Seconds at full speed that each job worked, and of which jobs that is known.

    Left out are jobs that changed their speed alone, or lost what they had done, and, where their
    nodes or frequencies differ, those that were paused.
    """
    log, count = run.events, len(run.jobs)
    begin, end = by_job(run, TAKING), by_job(run, GIVING)
    job = log.job[begin]
    times = np.bincount(job, minlength=count)
    alone = np.zeros(count, dtype=np.bool_)
    alone[log.job[(log.kind == EventKind.RATE) & (log.job != NO_JOB)]] = True
    known = ~alone & (lost_runs(run) == 0) & (run.schedule.configuration == 0)
    known &= np.isfinite(speed) & ((times == 1) | (len(run.machine.groups) == 1))
    if run.promises.frequencies is not None:
        speed, told = _by_frequency(run, speed)
        known &= told & (times == 1)
    time_s, pace = _common(run)
    gone_s = np.append(0.0, np.cumsum(np.diff(time_s) * pace[:-1]))

    def progress(at_s: FloatArray) -> FloatArray:
        row = np.maximum(np.searchsorted(time_s, at_s, "right") - 1, 0)
        return np.asarray(gone_s[row] + (at_s - time_s[row]) * pace[row])

    held_s = progress(log.time_s[end]) - progress(log.time_s[begin])
    return np.asarray(np.bincount(job, held_s, count) * speed), known


def _common(run: Run) -> tuple[FloatArray, FloatArray]:
    """When all jobs took which speed together, from the beginning of the run on."""
    log, rule = run.events, run.promises.queue
    rows = np.flatnonzero((log.kind == EventKind.RATE) & (log.job == NO_JOB))
    fastest = 1.0 if rule is None else rule.fastest
    return np.append(run.start_s, log.time_s[rows]), np.append(fastest, log.value[rows])


def _by_frequency(run: Run, speed: FloatArray) -> tuple[FloatArray, Flags]:
    """Speed by the power that each job was started with, where one frequency alone gives that."""
    ladder = run.promises.frequencies
    assert ladder is not None
    seen = levels(run)
    sure = seen.known & (seen.found.sum(axis=1) == 1)
    job = run.events.job[seen.row]
    found, told = speed.copy(), np.zeros(len(run.jobs), dtype=np.bool_)
    told[job[sure]] = True
    found[job[sure]] *= ladder.speed[np.argmax(seen.found[sure], axis=1)]
    return found, told
