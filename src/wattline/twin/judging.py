"""A twin judged by runs of a real Slurm, which do not agree among themselves either.

A mean wait passes where it lies within the range of the runs, or within 5 % of their mean. Starts
of single jobs pass where they are no further from the runs than the runs are from each other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.shown import Shown
from wattline.twin.real_runs import GROUPS, RealRun

CLOSE = 0.05
"""Of the mean of the runs."""
WHOLE = "all"


@dataclass(frozen=True)
class JudgedWait:
    """Mean waits of some jobs: of each run, and of the twin over its phases."""

    by: str
    """What the jobs are grouped by; `all` for all of them."""
    group: str
    jobs: int
    runs_s: tuple[float, ...]
    twin_s: float
    twin_low_s: float
    twin_high_s: float

    @property
    def mean_s(self) -> float:
        return sum(self.runs_s) / len(self.runs_s)

    @property
    def error(self) -> float:
        """Of the twin, relative to the mean of the runs."""
        return self.twin_s / self.mean_s - 1.0 if self.mean_s > 0.0 else math.nan

    @property
    def passes(self) -> bool:
        inside = min(self.runs_s) <= self.twin_s <= max(self.runs_s)
        return inside or abs(self.twin_s - self.mean_s) <= CLOSE * self.mean_s


@dataclass(frozen=True)
class Distance:
    """How far starts of the same jobs are apart, in seconds."""

    median_s: float
    p90_s: float


@dataclass(frozen=True, repr=False)
class TwinJudgement(Shown):
    """All rows, and how far starts are apart.

    >>> import wattline as wl
    >>> from wattline.twin.judging import judge
    >>> from wattline.twin.real_runs import RealRun
    >>> runs = [RealRun(name, {"1": wait}, {"1": wait}, (), {}) for name, wait in
    ...         (("a", 4.0), ("b", 6.0))]
    >>> found = judge(runs, [RealRun("twin", {"1": 5.0}, {"1": 5.0}, (), {})], by=())
    >>> isinstance(found, wl.TwinJudgement)
    True
    """

    jobs: int
    runs: int
    phases: int
    waits: tuple[JudgedWait, ...]
    between_runs: Distance
    """Over all pairs of runs together."""
    widest_runs: Distance
    """The largest of any pair."""
    to_twin: Distance
    """Over all runs and phases together."""
    left_out: tuple[str, ...]
    """Jobs that did not start in every run and every phase; they are in no figure."""
    phases_known: str = ""
    """From what the places of slurmctld's loops are known."""
    submitted_again: tuple[str, ...] = ()
    """Jobs that a run has submitted later than the twin has, as at a requeue; in no figure."""

    @property
    def starts_pass(self) -> bool:
        """By the pair of runs that is furthest apart."""
        return (self.to_twin.median_s <= self.widest_runs.median_s
                and self.to_twin.p90_s <= self.widest_runs.p90_s)

    @property
    def passes(self) -> bool:
        return self.starts_pass and all(row.passes for row in self.waits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "jobs": self.jobs, "runs": self.runs, "phases": self.phases, "passes": self.passes,
            "mean_wait_s": [asdict(row) | {"mean_s": row.mean_s, "error": row.error,
                                           "passes": row.passes} for row in self.waits],
            "starts": {"between_runs": asdict(self.between_runs),
                       "widest_runs": asdict(self.widest_runs), "to_twin": asdict(self.to_twin),
                       "passes": self.starts_pass},
            "left_out": list(self.left_out), "phases_known": self.phases_known,
            "submitted_again": list(self.submitted_again)}


def judge(
    runs: Sequence[RealRun], twins: Sequence[RealRun], *,
    by: Sequence[str] = ("account", "tasks", "asks"), without: Collection[str] = (),
) -> TwinJudgement:
    """Hold simulated runs (one per phase) against real ones; groups are those of the first run.

    Jobs of `without` are in no figure.
    """
    if len(runs) < 2 or not twins:
        raise InputError(f"{len(runs)} real runs and {len(twins)} simulated ones: a judgement "
                         "needs two and one")
    unknown = [what for what in by if what not in GROUPS]
    if unknown:
        raise InputError(f"jobs cannot be grouped by {unknown[0]}; there are: {', '.join(GROUPS)}")
    named = sorted({job for run in (*runs, *twins) for job in (*run.start_s, *run.unstarted)})
    ran = [job for job in named if all(job in run.start_s for run in (*runs, *twins))]
    jobs = [job for job in ran if job not in without]
    if not ran:
        raise InputError("no job started in every run: are the names of the jobs the same?")
    if not jobs:
        raise InputError("no job was submitted in the runs when the twin has it: are the runs of "
                         "these submissions?")
    real, simulated = _starts(runs, jobs), _starts(twins, jobs)
    apart = [np.abs(one - other) for one, other in combinations(real, 2)]
    return TwinJudgement(
        len(jobs), len(runs), len(twins), tuple(_waits(runs, twins, jobs, by)),
        _distance(np.concatenate(apart)),
        Distance(max(_distance(each).median_s for each in apart),
                 max(_distance(each).p90_s for each in apart)),
        _distance(np.abs(real[:, None, :] - simulated[None, :, :]).ravel()),
        tuple(job for job in named if job not in {*jobs, *without}))


def _waits(
    runs: Sequence[RealRun], twins: Sequence[RealRun], jobs: Sequence[str], by: Sequence[str]
) -> list[JudgedWait]:
    rows = [_row(WHOLE, "", runs, twins, jobs)]
    for what in by:
        groups = runs[0].groups.get(what, {})
        for group in _ordered({groups[job] for job in jobs if job in groups}):
            there = [job for job in jobs if groups.get(job) == group]
            rows.append(_row(what, group, runs, twins, there))
    return rows


def _row(
    by: str, group: str, runs: Sequence[RealRun], twins: Sequence[RealRun], jobs: Sequence[str]
) -> JudgedWait:
    simulated = [_mean(run.wait_s, jobs) for run in twins]
    return JudgedWait(by, group, len(jobs), tuple(_mean(run.wait_s, jobs) for run in runs),
                      sum(simulated) / len(simulated), min(simulated), max(simulated))


def _mean(waits_s: Mapping[str, float], jobs: Sequence[str]) -> float:
    return sum(waits_s[job] for job in jobs) / len(jobs)


def _starts(runs: Sequence[RealRun], jobs: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[run.start_s[job] for job in jobs] for run in runs])


def _distance(apart_s: np.ndarray[Any, np.dtype[np.float64]]) -> Distance:
    return Distance(float(np.median(apart_s)), float(np.percentile(apart_s, 90)))


def _ordered(groups: set[str]) -> list[str]:
    """Numbers by their size."""
    return sorted(groups, key=lambda each: (int(each) if each.isdecimal() else -1, each))
