"""Rules of what each job may have: its share of the cap at its start, and its frequencies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.promises import PowerShares
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import TOLERANCE, Verdicts, jobs_that
from wattline.results.verify.pace import levels, needed, speeds

_ROUNDING_S = 1e-6


def within_shares(run: Run) -> Verdicts:
    """No job is started with more than its share, or than the least that it can draw."""
    shares = run.promises.shares
    assert shares is not None
    known = np.isfinite(shares.weight)
    given = run.schedule.configuration > 0
    yield from jobs_that(run, run.ran & known & ~given,
                         "have a share of the power and no configuration")
    yield from jobs_that(run, run.ran & ~known & given,
                         "have a configuration and no share of the power")
    most_w = np.fmax(share_w(run, shares), shares.least_w)
    over = drawn_w(run, shares) > most_w * (1 + TOLERANCE)
    yield from jobs_that(run, run.ran & known & over,
                         "are started with more power than their share of the cap")


def above_share(run: Run) -> FloatArray:
    """By job how many times its share it draws, where that is more than it; else 0."""
    shares = run.promises.shares
    found = np.zeros(len(run.jobs))
    if shares is not None:
        own_w = share_w(run, shares)
        over = drawn_w(run, shares) > own_w * (1 + TOLERANCE)
        np.divide(drawn_w(run, shares), own_w, out=found, where=run.ran & over)
    return found


def share_w(run: Run, shares: PowerShares) -> FloatArray:
    """Weight x requested units / units of the machine x the cap at a job's start; the highest
    where it was started again."""
    assert run.cap_w is not None
    rows = _starts(run)
    cap_w = np.zeros(len(run.jobs))
    np.maximum.at(cap_w, run.events.job[rows], run.cap_w.sample(run.events.time_s[rows]))
    asked = -(-run.jobs.procs // max(run.machine.core_count // run.units, 1))
    found: FloatArray = shares.weight * asked / run.units * cap_w
    return found


def drawn_w(run: Run, shares: PowerShares) -> FloatArray:
    """Return the power of each job when it was started: by the log, or by its configuration where
    nodes differ from those that were measured."""
    if not shares.as_measured:
        return np.append(0.0, run.configurations["power_w"])[run.schedule.configuration]
    rows = _starts(run)
    found = np.zeros(len(run.jobs))
    np.maximum.at(found, run.events.job[rows], run.events.value[rows])
    return found


def _starts(run: Run) -> npt.NDArray[np.intp]:
    return np.flatnonzero((run.events.kind == EventKind.START) & (run.events.job >= 0))


def frequencies(run: Run) -> Verdicts:
    """Each job draws the power of a frequency that it allows, and is no faster than that."""
    ladder = run.promises.frequencies
    assert ladder is not None
    seen = levels(run)
    job = run.events.job[seen.row]
    strange = seen.known & ~seen.found.any(axis=1)
    yield from jobs_that(run, np.unique(job[strange]),
                         "draw a power that none of the frequencies gives")
    low_hz, high_hz = ladder.allowed()
    steps = ladder.frequency_hz
    within = (steps >= low_hz[job, None]) & (steps <= high_hz[job, None])
    outside = seen.known & ~strange & ~(seen.found & within).any(axis=1)
    yield from jobs_that(run, np.unique(job[outside]),
                         "run at a frequency outside the range that they allow")
    known = np.zeros(len(run.jobs), dtype=np.bool_)
    known[job[seen.known & ~strange]] = True
    fastest = max(group.node_class.speed for group in run.machine.groups)
    least_s = needed(run) / (speeds(run) * fastest)
    early = known & (run.schedule.end_s - run.schedule.start_s
                     < least_s * (1 - TOLERANCE) - _ROUNDING_S)
    yield from jobs_that(run, early, "ended sooner than their frequency allows")
