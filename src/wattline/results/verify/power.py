"""The audits of watts and joules: what is drawn, by whom, and whether that can be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import (
    GIVING,
    TAKING,
    TOLERANCE,
    Finding,
    Skipped,
    Verdicts,
    at_event,
    by_job,
    equal,
    held_s,
    holding,
    jobs_that,
    lost_runs,
    of_event,
    where,
)
from wattline.results.verify.idle_power import free_range_w, free_w, full_w, of_units

UNKNOWN_UNITS = "units idle at different powers, and the run does not name those that are free"
TOGETHER = "the log has many jobs that change their power at once, not to what each"


def energy(run: Run) -> Verdicts:
    """The machine's energy is the integral of its power, and the sum over its classes."""
    integral_j = float(np.dot(run.events.power_w, held_s(run)))
    yield from equal("the machine's energy", run.energy_j, "the integral of power", integral_j)
    if run.class_energy_j:
        total_j = sum(run.class_energy_j.values())
        yield from equal("the machine's energy", run.energy_j, "the sum over classes", total_j)
    if (run.schedule.energy_j < 0).any():
        yield Finding("a job has a negative energy")
    yield from jobs_that(run, ~run.ran & (lost_runs(run) == 0) & (run.schedule.energy_j != 0),
                         "never ran but have an energy")


def idle_and_jobs(run: Run) -> Verdicts:
    """Energies of the jobs plus what units without a job drew make the whole."""
    free = free_w(run)
    if free is None:
        yield Skipped(UNKNOWN_UNITS)
        return
    parts_j = float(run.schedule.energy_j.sum()) + float(np.dot(free, held_s(run)))
    yield from equal("the machine's energy", run.energy_j, "jobs plus idle units", parts_j)


def power_of_jobs(run: Run) -> Verdicts:
    """Each job's energy is the integral of its own power, and the machine's power at each event is
    that of the running jobs and of the free units.

    It can be said where the log gives each change of a job's power.
    """
    log = run.events
    if changes_together(run):
        yield Skipped(TOGETHER)
        return
    row, power_w, lasts_s = job_powers(run)
    energy_j = np.bincount(log.job[row], weights=power_w * lasts_s, minlength=len(run.jobs))
    # Times far from zero are known to some rounding, and so is the length of a job.
    rounding_s = 4 * np.finfo(np.float64).eps * max(abs(run.start_s), abs(run.end_s))
    mean_w = np.bincount(log.job[row], weights=power_w, minlength=len(run.jobs))
    allowed_j = TOLERANCE * np.abs(energy_j) + rounding_s * mean_w
    wrong = np.abs(energy_j - run.schedule.energy_j) > allowed_j
    yield from jobs_that(run, wrong, "have another energy than the integral of their power")
    free = free_w(run)
    if free is None:
        yield Skipped(f"the machine's power: {UNKNOWN_UNITS}")
        return
    expected_w = free + np.cumsum(changes(run, row, power_w))
    off = _settled(run, np.abs(expected_w - log.power_w) > _rounding_w(expected_w))
    if off.size:
        yield Finding(f"the power differs from idle units plus running jobs {at_event(run, off)}: "
                      f"{log.power_w[off[0]]} W instead of {expected_w[off[0]]} W",
                      *where(run, off))


def jobs_within_nodes(run: Run) -> Verdicts:
    """No job draws more than it does at full speed, by the log or by the class of its nodes.

    What is corrected in the same instant was expected of a job, by a wrong label, and never drawn.
    Where jobs change together, the log does not say to what each of them is corrected.
    """
    if changes_together(run):
        yield Skipped(TOGETHER)
        return
    row, power_w, lasts_s = job_powers(run)
    most = full_w(run)[run.events.job[row]]
    over = row[(power_w > most + _rounding_w(most)) & (lasts_s > 0)]
    yield from jobs_that(run, np.unique(run.events.job[over]),
                         "draw more than at full speed on the nodes that they were given")


def own_power(run: Run) -> Verdicts:
    """Each job draws its own watts by the job table, or what its nodes draw when they are active.

    It can be said where no job is slowed down, and nodes are alike.
    """
    log = run.events
    if len(run.machine.groups) > 1 or np.any(log.kind == EventKind.RATE):
        yield Skipped("node classes differ, or jobs changed their speed")
        return
    rows = by_job(run, TAKING)
    own_w = run.jobs.power_w[log.job[rows]]
    active_w = float(of_units(run, lambda node: node.power_w_active)[0])
    nodes_w = run.schedule.nodes[log.job[rows]] * active_w
    expected_w = np.where(np.isnan(own_w), nodes_w, own_w)
    wrong = rows[np.abs(log.value[rows] - expected_w) > _rounding_w(expected_w)]
    yield from jobs_that(run, np.unique(log.job[wrong]),
                         "draw another power than the job table or their nodes say")


def power_within_machine(run: Run) -> Verdicts:
    """Never below what units without a job draw, nor above that with all jobs at full speed.

    The one check of the power itself where all jobs change their speed at once: the log does not
    say to what, and under a low level a job may draw less than its nodes would idle.
    """
    log = run.events
    low_w, high_w = free_range_w(run)
    full = full_w(run)
    unknown = np.cumsum(holding(run) * of_event(run, ~np.isfinite(full)))
    known_w = np.cumsum(holding(run) * of_event(run, np.where(np.isfinite(full), full, 0.0)))
    top_w = np.where(unknown > 0, np.inf, high_w + known_w)
    below = _settled(run, log.power_w < low_w - _rounding_w(low_w))
    if below.size:
        yield Finding("the power is below that of the units without a job "
                      f"{at_event(run, below)}: {log.power_w[below[0]]} W, and these alone draw "
                      f"{low_w[below[0]]} W", *where(run, below))
    above = _settled(run, log.power_w > top_w + _rounding_w(top_w))
    if above.size:
        yield Finding(f"the power is above what the machine can draw {at_event(run, above)}: "
                      f"{log.power_w[above[0]]} W, and with the jobs of then at full speed it is "
                      f"{top_w[above[0]]} W", *where(run, above))


def cap_and_peak(run: Run) -> Verdicts:
    """Peak, and time and energy above the cap, from the log."""
    peak_w = float(run.events.power_w[held_s(run) > 0].max(initial=0.0))
    yield from equal("the peak power", run.power_w_peak, "the log's highest", peak_w)
    if run.cap_w is None:
        if run.time_above_cap_s or run.energy_above_cap_j:
            yield Finding("the run has no cap, yet it reports time or energy above one")
        return
    edges = np.unique(np.concatenate((run.events.time_s, [run.end_s], run.cap_w.time_s)))
    edges = edges[(edges >= run.events.time_s[0]) & (edges <= run.end_s)] if edges.size else edges
    row = np.searchsorted(run.events.time_s, edges[:-1], "right") - 1
    over_w = run.power_w_capped[row] - run.cap_w.sample(edges[:-1])
    # A machine that stands exactly at its cap is not above it by the rounding of a sum.
    above = over_w > TOLERANCE * np.maximum(np.abs(run.events.power_w[row]), 1.0)
    length_s = np.diff(edges)
    yield from equal("the time above the cap", run.time_above_cap_s, "that of the log",
                     float(length_s[above].sum()))
    yield from equal("the energy above the cap", run.energy_above_cap_j, "that of the log",
                     float(np.dot(over_w[above], length_s[above])), scale=run.energy_j)


def changes_together(run: Run) -> bool:
    """Whether the log has a row for many jobs that change their speed at once, each to its own."""
    log = run.events
    return bool(np.any((log.kind == EventKind.RATE) & (log.job == NO_JOB)))


def job_powers(run: Run) -> tuple[npt.NDArray[np.intp], FloatArray, FloatArray]:
    """The log's rows that set a job's power, job by job: row, power from then on, for how long."""
    log = run.events
    row = by_job(run, (*TAKING, *GIVING, EventKind.RATE))
    power_w = np.where(np.isin(log.kind[row], GIVING), 0.0, log.value[row])
    same = log.job[row][1:] == log.job[row][:-1]
    lasts_s = np.zeros(row.size)
    lasts_s[:-1] = np.where(same, np.diff(log.time_s[row]), 0.0)
    return row, power_w, lasts_s


def changes(run: Run, row: npt.NDArray[np.intp], value: FloatArray) -> FloatArray:
    """By how much each event of the log changes a value that these rows, job by job, set."""
    job = run.events.job[row]
    first = np.append(True, job[1:] != job[:-1])[: row.size]
    before = np.where(first, 0.0, np.append(0.0, value)[: row.size])
    change = np.zeros(len(run.events))
    change[row] = value - before
    return change


def _settled(run: Run, wrong: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Of these events the last of their instant: within one their order decides, not physics."""
    return np.flatnonzero(wrong & (held_s(run) > 0))


def _rounding_w(power_w: FloatArray) -> float:
    """What sums of powers like these may be off by."""
    known = np.abs(power_w[np.isfinite(power_w)])
    return TOLERANCE * max(float(known.max(initial=0.0)), 1.0)
