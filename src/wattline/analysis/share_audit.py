"""The audit of what each job may have of the power: its share of the cap that held at its start."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from wattline.analysis.audit import TOLERANCE, jobs_that
from wattline.model.promises import PowerShares
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray


def within_shares(run: Run) -> Iterator[str]:
    """No job is started with more than its share, or than the least that it can draw."""
    shares = run.promises.shares
    if shares is None:
        return
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
