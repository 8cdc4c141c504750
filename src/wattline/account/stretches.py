"""The stretches in which the jobs of a run ran, and their power over time, off its event log."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.account.entries import Steps
from wattline.model.jobs import IntArray
from wattline.model.run import EventKind, EventLog, Run
from wattline.model.signal import FloatArray

_BEGIN = (EventKind.START, EventKind.RESUME)
_STOP = (EventKind.PAUSE, EventKind.END, EventKind.REQUEUE)
CLOSE = 1e-6


class _Changes(NamedTuple):
    """Time, kind and change of the machine's power of each event of a job, job by job."""

    job: IntArray
    time_s: FloatArray
    kind: IntArray
    change_w: FloatArray


class _Stretches(NamedTuple):
    """Where jobs ran without interruption: the first event, and until when."""

    number: IntArray
    """By event: in which of them it is, if it is in one."""
    inside: npt.NDArray[np.bool_]
    """By event: whether it is in a stretch that lasts."""
    job: IntArray
    start_s: FloatArray
    end_s: FloatArray
    lasts: npt.NDArray[np.bool_]


def steps_of(run: Run, idle_w: FloatArray) -> tuple[Steps, npt.NDArray[np.bool_]]:
    """The steps of the jobs that ran, by their place among these; and of which jobs they account
    for the energy. For the others' power over time stands their mean power."""
    rows = np.flatnonzero(run.ran)
    start_s, end_s, energy_j = (np.asarray(column, dtype=np.float64)[rows] for column in (
        run.schedule.start_s, run.schedule.end_s, run.schedule.energy_j))
    place = np.full(len(run.jobs), -1)
    place[rows] = np.arange(len(rows))
    changes = _of_those_that_ran(_power_changes(run, idle_w), place)
    found = _stretches(changes, end_s)
    steps = _measured(changes, found, idle_w[rows])
    total_j = np.bincount(steps.job, steps.energy_j, minlength=len(rows))
    known = np.bincount(steps.job, minlength=len(rows)) > 0
    known &= np.abs(total_j - energy_j) <= CLOSE * np.maximum(1.0, energy_j)
    return _joined(_only(steps, known), _means(np.flatnonzero(~known), start_s, end_s, energy_j)
                   ), known


def _power_changes(run: Run, idle_w: FloatArray) -> _Changes:
    """What each event changes the power of each job by, in the order of the events."""
    log = run.events
    if not len(log):
        return _Changes(*(np.empty(0, dtype=kind) for kind in "qdqd"))
    change_w = np.diff(log.power_w, prepend=log.power_w[0])
    rows = np.flatnonzero(np.isin(log.kind, [*_BEGIN, *_STOP, EventKind.RATE]))
    if (log.job[rows] < 0).any():
        return _shared_out(log, change_w, rows, idle_w.tolist())
    return _Changes(log.job[rows], log.time_s[rows], log.kind[rows], change_w[rows])


def _shared_out(
    log: EventLog, change_w: FloatArray, rows: IntArray, idle_w: list[float]
) -> _Changes:
    """The same where some events are of all jobs, and each job has its part of them."""
    found: list[tuple[int, float, int, float]] = []
    running: dict[int, float] = {}
    """What each job draws above its nodes' idle power now."""
    for time_s, kind, job, its_change_w, value in zip(
            log.time_s[rows].tolist(), log.kind[rows].tolist(), log.job[rows].tolist(),
            change_w[rows].tolist(), log.value[rows].tolist(), strict=True):
        shares = [(job, its_change_w)]
        if job < 0:  # all jobs; with their speed where the machine has a new level
            shares = _shares(its_change_w, running if value == 0.0 else {
                each: its_w + idle_w[each] for each, its_w in running.items()})
        for each, its_w in shares:
            found.append((each, time_s, kind, its_w))
            running[each] = running.get(each, 0.0) + its_w
        if kind in _STOP:
            running.pop(job, None)
    columns = list(zip(*found, strict=True)) or [()] * 4
    return _Changes(*(np.array(column, dtype=kind)
                      for column, kind in zip(columns, "qdqd", strict=True)))


def _shares(change_w: float, drawn_w: dict[int, float]) -> list[tuple[int, float]]:
    """Jobs that change together share it by what they draw: all of it where a level of the machine
    scales it, and what is above idle where each has a speed of its own. Under one law of frequency
    that is exact, and elsewhere their energies do not add up."""
    total_w = sum(drawn_w.values())
    return [(each, change_w * its_w / total_w) for each, its_w in drawn_w.items()
            ] if total_w > 0 else []


def _of_those_that_ran(changes: _Changes, place: IntArray) -> _Changes:
    """Job by job, each by its place among those that ran."""
    job = place[changes.job]
    order = np.argsort(job, kind="stable")
    order = order[job[order] >= 0]
    return _Changes(job[order], changes.time_s[order], changes.kind[order],
                    changes.change_w[order])


def _stretches(changes: _Changes, end_s: FloatArray) -> _Stretches:
    """From each beginning to the next stop of the job, or to its end."""
    begins, stops = np.isin(changes.kind, _BEGIN), np.isin(changes.kind, _STOP)
    first = np.flatnonzero(begins)
    number = np.cumsum(begins) - 1
    inside = number >= 0
    inside[inside] = changes.job[inside] == changes.job[first[number[inside]]]
    number = np.where(inside, number, 0)
    stopped = np.cumsum(stops)
    since = stopped - (stopped[first[number]] if first.size else 0)
    job, start_s = changes.job[first], changes.time_s[first]
    until_s = np.full(len(first), np.nan)
    closing = inside & stops & (since == 1)
    until_s[number[closing]] = changes.time_s[closing]
    last = np.append(job[1:] != job[:-1], True)[:len(job)]
    until_s = np.where(np.isnan(until_s) & last, end_s[job], until_s)
    lasts = until_s > start_s  # not where it is NaN: begun anew before it was stopped
    inside &= (since == 0) & (lasts[number] if first.size else False)
    return _Stretches(number, inside, job, start_s, until_s, lasts)


def _measured(changes: _Changes, found: _Stretches, idle_w: FloatArray) -> Steps:
    """The stretches as steps, with the power that the events add up to."""
    at = np.flatnonzero(found.inside)
    new_number = np.cumsum(found.lasts) - 1
    step, time_s = new_number[found.number[at]], changes.time_s[at]
    job, start_s = found.job[found.lasts], found.start_s[found.lasts]
    end_s = found.end_s[found.lasts]
    power_w = changes.change_w[at]
    first = np.searchsorted(step, np.arange(len(job) + 1))
    power_w[first[:-1]] = idle_w[job] + power_w[first[:-1]]
    for each in np.flatnonzero(np.diff(first) > 1).tolist():
        its = slice(first[each], first[each + 1])
        power_w[its] = np.cumsum(power_w[its])
    # Of events at one time the last one counts.
    kept = np.append((step[1:] != step[:-1]) | (time_s[1:] != time_s[:-1]), True)[:len(step)]
    step, time_s, power_w = step[kept], time_s[kept], power_w[kept]
    first_of_job = np.searchsorted(job, job)
    return Steps(job, np.arange(len(job)) - first_of_job, start_s, end_s,
                 _energies(step, time_s, power_w, end_s), step, time_s, power_w)


def _energies(
    step: IntArray, time_s: FloatArray, power_w: FloatArray, end_s: FloatArray
) -> FloatArray:
    """Joules of each step; what changes at its very end is no more of it."""
    same = np.append(step[1:] == step[:-1], False)[:len(step)]
    until_s = np.minimum(np.where(same, np.append(time_s[1:], 0.0)[:len(step)], np.inf),
                         end_s[step])
    counts = time_s < end_s[step]
    joules, step = (power_w * (until_s - time_s))[counts], step[counts]
    first = np.searchsorted(step, np.arange(len(end_s) + 1))
    found: FloatArray = joules[first[:-1]]
    for each in np.flatnonzero(np.diff(first) > 1).tolist():
        found[each] = np.sum(joules[first[each]:first[each + 1]])
    return found


def _only(steps: Steps, known: npt.NDArray[np.bool_]) -> Steps:
    """The steps of some jobs."""
    kept = known[steps.job]
    points = kept[steps.step]
    number = np.cumsum(kept) - 1
    return Steps(steps.job[kept], steps.step_id[kept], steps.start_s[kept], steps.end_s[kept],
                 steps.energy_j[kept], number[steps.step[points]], steps.time_s[points],
                 steps.power_w[points])


def _means(jobs: IntArray, start_s: FloatArray, end_s: FloatArray, energy_j: FloatArray) -> Steps:
    """One step of each of these jobs, of its mean power."""
    start_s, end_s, energy_j = start_s[jobs], end_s[jobs], energy_j[jobs]
    power_w = np.divide(energy_j, end_s - start_s, out=np.zeros(len(jobs)), where=end_s > start_s)
    return Steps(jobs, np.zeros(len(jobs), dtype=np.int64), start_s, end_s, energy_j,
                 np.arange(len(jobs)), start_s, power_w)


def _joined(one: Steps, other: Steps) -> Steps:
    """Steps of different jobs, in the order of the jobs."""
    job = np.append(one.job, other.job)
    order = np.argsort(job, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    step = place[np.append(one.step, other.step + len(one.job))]
    points = np.argsort(step, kind="stable")
    columns: dict[str, Any] = {
        name: np.append(getattr(one, name), getattr(other, name))[order]
        for name in ("step_id", "start_s", "end_s", "energy_j")}
    return Steps(job=job[order], step=step[points], **columns,
                 time_s=np.append(one.time_s, other.time_s)[points],
                 power_w=np.append(one.power_w, other.power_w)[points])
