"""How fast jobs ran by what they drew, and when they were due by what they asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.run import EventKind, Outcome, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import TOLERANCE, by_job
from wattline.results.verify.idle_power import of_units

Rows = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Levels:
    """Rows of the log at which a job takes a power, and which frequencies give that power."""

    row: Rows
    known: Flags
    """Whether the power says anything: not of configurations, nor where node classes differ."""
    found: npt.NDArray[np.bool_]
    """One column for each level of the cores: whether it gives this power."""


def levels(run: Run) -> Levels:
    """For a run whose policy promised frequencies."""
    ladder = run.promises.frequencies
    assert ladder is not None
    log = run.events
    row = by_job(run, (EventKind.START, EventKind.RESUME, EventKind.RATE))
    job = log.job[row]
    idle_w, rise_w = idle_and_rise(run)
    gives_w = idle_w[job, None] + rise_w[job, None] * ladder.dynamic
    near = np.abs(gives_w - log.value[row][:, None]) <= TOLERANCE * np.maximum(gives_w, 1.0)
    alike = len(run.machine.groups) == 1 and not run.policy_powers
    known = alike & (run.schedule.configuration[job] == 0) & (rise_w[job] > 0)
    return Levels(row, known, near)


def idle_and_rise(run: Run) -> tuple[FloatArray, FloatArray]:
    """What each job's nodes draw idle, and what it draws above that at full speed."""
    nodes = run.schedule.nodes
    idle_w = np.asarray(nodes * float(of_units(run, lambda node: node.power_w_idle).max()))
    active_w = nodes * float(of_units(run, lambda node: node.power_w_active).max())
    own_w = run.jobs.power_w
    return idle_w, np.where(np.isnan(own_w), active_w, own_w) - idle_w


def speeds(run: Run) -> FloatArray:
    """Mean progress a second of each job, at the highest frequencies its power can mean; else 1.

    A job whose frequency changed while it ran counts each one for as long as it had it.
    """
    ladder = run.promises.frequencies
    return _means(run, np.zeros(0) if ladder is None else ladder.speed, 1.0)


def mean_frequencies_hz(run: Run) -> FloatArray:
    """Mean frequency of each job by the same; NaN where nobody can tell."""
    ladder = run.promises.frequencies
    return _means(run, np.zeros(0) if ladder is None else ladder.frequency_hz, np.nan)


def _means(run: Run, by_level: FloatArray, otherwise: float) -> FloatArray:
    """Mean over the time of each job of what its levels have; otherwise that where unknown."""
    now, last_s, sums = (np.full(len(run.jobs), value) for value in (otherwise, np.nan, 0.0))
    for time_s, job, level in _changes(run):
        if not np.isnan(last_s[job]):
            sums[job] += now[job] * (time_s - last_s[job])
        now[job], last_s[job] = by_level[level], time_s
    schedule = run.schedule
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = sums + now * (schedule.end_s - last_s)
        mean = whole / (schedule.end_s - schedule.start_s)
    return np.where(changed(run) & np.isfinite(mean), mean, now)


def changed(run: Run) -> Flags:
    """Jobs whose frequency changed while they ran."""
    times = np.zeros(len(run.jobs), dtype=np.int64)
    for _, job, _ in _changes(run):
        times[job] += 1
    return times > 1


def _changes(run: Run) -> list[tuple[float, int, int]]:
    """When a job took which level, by its power."""
    if run.promises.frequencies is None:
        return []
    seen = levels(run)
    rows = np.flatnonzero(seen.known & seen.found.any(axis=1))
    top = seen.found.shape[1] - 1 - np.argmax(seen.found[rows][:, ::-1], axis=1)
    row = seen.row[rows]
    order = np.argsort(row, kind="stable")
    return list(zip(run.events.time_s[row][order].tolist(), run.events.job[row][order].tolist(),
                    top[order].tolist(), strict=True))


def due_s(run: Run) -> FloatArray:
    """When each job is gone if it takes all the time that it asked for; NaN where nobody can tell.

    At the frequency that it runs at; where that changes, it depends on when. Slow nodes, congestion
    and levels of all processors make it later, so it is never earlier than this.
    """
    asked_s = run.jobs.requested_s / speeds(run)
    paused = np.zeros(len(run.jobs), dtype=np.bool_)
    paused[run.events.job[by_job(run, (EventKind.PAUSE,))]] = True
    known = run.ran & (run.schedule.configuration == 0) & ~paused & ~changed(run)
    return np.where(known, run.schedule.start_s + asked_s, np.nan)


def steady(run: Run) -> Flags:
    """Jobs that took as long as their frequency says: nothing else slowed them down."""
    needed_s = needed(run) / speeds(run)
    took_s = run.schedule.end_s - run.schedule.start_s
    return np.asarray(np.abs(took_s - needed_s) <= 1e-6 + TOLERANCE * needed_s)


def needed(run: Run) -> FloatArray:
    """Seconds at full speed that each job ran for."""
    killed = run.schedule.outcome == Outcome.KILLED
    return np.where(killed, np.minimum(run.jobs.requested_s, run.jobs.run_s), run.jobs.run_s)
