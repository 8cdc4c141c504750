"""The contract of a rule (finding, skipped, rule), tolerances, and who held which units when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.run import EventKind, Placement, Run
from wattline.model.signal import FloatArray

TOLERANCE = 1e-9
"""Relative: sums of a million doubles stay well within it, a wrong term does not. The audit's
own, not the slack that policies share (`model/cap_slack.py`)."""
TAKING = (EventKind.START, EventKind.RESUME)
"""Events at which a job takes its units; a paused job gives them back until it resumes."""
GIVING = (EventKind.END, EventKind.PAUSE, EventKind.REQUEUE)
_EXAMPLES = 3

Rows = npt.NDArray[np.intp] | npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Finding:
    """One broken promise, or one figure that does not fit the others.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> run = wl.simulate(trace, machine=machine)
    >>> wl.verify(run).findings
    ()
    >>> str(wl.Finding("jobs 7 start before their submission", job=7))
    'jobs 7 start before their submission'
    """

    sentence: str
    job: int | None = None
    """The number of the job as the log has it; of the first where there are several."""
    time_s: float | None = None
    """Of the first event at which it shows."""
    rule: str = ""
    """The code of the rule that found it, which whoever runs the rule fills in."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Skipped:
    """A rule, or a part of one, that could not be judged."""

    why: str
    rule: str = ""


@dataclass(frozen=True)
class Judged:
    """A rule that was judged, and on how many decisions of how many where it counts them."""

    rule: str
    title: str
    decisions: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class Counted:
    """Number of decisions that a rule looks at, and of how many."""

    decisions: int | None
    of: int | None


Remark = Finding | Skipped | Counted
Verdicts = Iterator[Remark]
"""Findings, parts that were skipped, and counts of decisions, as a rule yields them."""


Judgeable = TypeVar("Judgeable")


@dataclass(frozen=True)
class Rule(Generic[Judgeable]):
    """One thing that is verified of every run, or record of a run, that it applies to."""

    code: str
    title: str
    """The promise as a sentence without its full stop."""
    judge: Callable[[Judgeable], Verdicts]
    applies: Callable[[Judgeable], bool] = lambda judged: True


def held_s(run: Run) -> FloatArray:
    """How long the state after each event lasted."""
    if not len(run.events):
        return np.zeros(0)
    return np.diff(run.events.time_s, append=run.end_s)


def holding(run: Run) -> IntArray:
    """+1 where a job takes its units, -1 where it gives them back."""
    kind = run.events.kind
    signs: IntArray = np.isin(kind, TAKING).astype(np.int64) - np.isin(kind, GIVING)
    return signs


def of_event(run: Run, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column of the job table, or of what became of jobs, for the job of each event; else 0."""
    job = run.events.job
    return np.where(job == NO_JOB, 0, values[np.maximum(job, 0)])


def by_job(run: Run, kinds: tuple[EventKind, ...]) -> npt.NDArray[np.intp]:
    """Rows of the log of these kinds that name a job, job by job and in the order of time."""
    log = run.events
    rows = np.flatnonzero(np.isin(log.kind, kinds) & (log.job != NO_JOB))
    return rows[np.argsort(log.job[rows], kind="stable")]


def lost_runs(run: Run) -> IntArray:
    """How often each job was requeued while it ran."""
    log = run.events
    return np.bincount(log.job[(log.kind == EventKind.REQUEUE) & (log.job != NO_JOB)],
                       minlength=len(run.jobs)).astype(np.int64)


def stays(run: Run) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows of the log at which jobs take their units and give them back, job by job.

    Without runs that jobs were requeued from: which units those held is not written down.
    """
    begin, end = by_job(run, TAKING), by_job(run, GIVING)
    if not stays_end(run):
        return begin, end
    is_lost = run.events.kind[end] == EventKind.REQUEUE
    job = run.events.job[end]
    last_lost = np.full(len(run.jobs), -1)
    np.maximum.at(last_lost, job[is_lost], np.flatnonzero(is_lost))
    is_kept = np.arange(end.size) > last_lost[job]  # also without its parts before a pause
    return begin[is_kept], end[is_kept]


def stay_of_span(run: Run, place: Placement) -> IntArray:
    """Which stay each run of units belongs to: `stays(run)` lists them.

    A job that was paused has several, and its runs of units are written down in their order.
    """
    order = np.argsort(place.job, kind="stable")
    job, units = place.job[order], place.count[order]
    before = np.cumsum(units) - units
    first = np.searchsorted(job, np.arange(len(run.jobs)), "left")
    turn = (before - before[first[job]]) // run.schedule.nodes[job]
    begins = run.events.job[stays(run)[0]]
    stay = np.empty(order.size, dtype=np.int64)
    stay[order] = np.searchsorted(begins, job, "left") + turn
    return stay


def placed_wrongly(run: Run, place: Placement) -> npt.NDArray[np.bool_]:
    """Jobs whose runs of units are not so many units as they took, over all their stays."""
    taken = np.bincount(run.events.job[stays(run)[0]], minlength=len(run.jobs))
    given = np.bincount(place.job, weights=place.count, minlength=len(run.jobs))
    wrong: npt.NDArray[np.bool_] = given != taken * run.schedule.nodes
    return wrong


def stays_end(run: Run) -> bool:
    """Whether every stay that begins also ends; where not, that is reported as such."""
    first, last = (run.events.job[by_job(run, kinds)] for kinds in (TAKING, GIVING))
    return bool(np.array_equal(first, last))


def differ(first: FloatArray, second: FloatArray) -> npt.NDArray[np.bool_]:
    apart: npt.NDArray[np.bool_] = ~((first == second) | (np.isnan(first) & np.isnan(second)))
    return apart


def equal(what: str, value: float, other: str, expected: float,
          scale: float = 0.0) -> Iterator[Finding]:
    allowed = TOLERANCE * max(abs(value), abs(expected), abs(scale), 1e-300)
    if not abs(value - expected) <= allowed:
        yield Finding(f"{what} is {value!r}, {other} gives {expected!r}")


def jobs_that(run: Run, which: Rows, what: str) -> Iterator[Finding]:
    rows = np.flatnonzero(which) if which.dtype == np.bool_ else which
    if not rows.size:
        return
    names = ", ".join(str(job) for job in run.jobs.job_id[rows[:_EXAMPLES]])
    more = f" and {rows.size - _EXAMPLES} more" if rows.size > _EXAMPLES else ""
    yield Finding(f"jobs {names}{more} {what}", int(run.jobs.job_id[rows[0]]))


def at_event(run: Run, rows: npt.NDArray[np.intp]) -> str:
    """Say how many events, and the first of them."""
    first = rows[0]
    return f"at {rows.size} events, first at row {first} ({run.events.time_s[first]} s)"


def where(run: Run, rows: npt.NDArray[np.intp]) -> tuple[int | None, float]:
    """Job and time of the first of these rows of the log, for a finding."""
    job = int(run.events.job[rows[0]])
    return (None if job == NO_JOB else int(run.jobs.job_id[job]),
            float(run.events.time_s[rows[0]]))
