"""The audits of what was promised: frequencies, reserved units, the cap and its windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from wattline.analysis.audit import (
    GIVING,
    TAKING,
    TOLERANCE,
    at_event,
    by_job,
    held_s,
    jobs_that,
    stays_end,
)
from wattline.analysis.pace import due_s, levels, needed, speeds
from wattline.analysis.power_audits import changes, changes_together, job_powers
from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray

_ROUNDING_S = 1e-6


def frequencies(run: Run) -> Iterator[str]:
    """Each job draws the power of a frequency that it allows, and is no faster than that."""
    ladder = run.promises.frequencies
    if ladder is None:
        return
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


def reserved_units(run: Run) -> Iterator[str]:
    """Beside reserved units no job starts, and none stays by the time that it asked for.

    A policy in Python chooses when jobs end, so only their starts are held against it.
    """
    log = run.events
    reserved = _reserved(run, log.time_s)
    beside = np.flatnonzero(np.isin(log.kind, TAKING) & (reserved > 0)
                            & (log.busy + reserved > run.units))
    if beside.size:
        yield f"a job starts on units that are reserved {at_event(run, beside)}"
    if run.policy_powers or not reserved.any():
        return
    due = due_s(run)
    gone_s = np.fmin(due, run.schedule.end_s)
    time_s = np.unique(np.concatenate((
        log.time_s[reserved > 0], [each.start_s for each in run.reservations if each.nodes])))
    held = _at(run.schedule.start_s, run.schedule.nodes, ~np.isnan(due), time_s) - _at(
        gone_s, run.schedule.nodes, ~np.isnan(due), time_s)
    over = np.flatnonzero(held + _reserved(run, time_s) > run.units)
    if over.size:
        first_s = time_s[over[0]]
        inside = (run.schedule.start_s <= first_s) & (gone_s > first_s)
        yield from jobs_that(run, inside, "run, by the time that they asked for, into reserved "
                             f"units at {first_s:g} s")


def _reserved(run: Run, time_s: FloatArray) -> IntArray:
    units = np.zeros(len(time_s), dtype=np.int64)
    for each in run.reservations:
        units += np.where((time_s >= each.start_s) & (time_s < each.end_s), each.nodes, 0)
    return np.minimum(units, run.units)


def _at(
    change_s: FloatArray, units: IntArray, which: npt.NDArray[np.bool_], time_s: FloatArray
) -> IntArray:
    """Units of those jobs whose change lies at or before each time."""
    order = np.argsort(change_s[which], kind="stable")
    upto = np.append(0, np.cumsum(units[which][order]))
    found: IntArray = upto[np.searchsorted(change_s[which][order], time_s, "right")]
    return found


def cap_at_starts(run: Run) -> Iterator[str]:
    """Where a job starts or is sped up, the machine then is under the cap."""
    if not run.promises.keeps_cap or run.cap_w is None:
        return
    log = run.events
    lasting = np.flatnonzero(held_s(run) > 0)
    instant = np.searchsorted(lasting, np.arange(len(log)))  # which of them ends each row's instant
    acts = np.isin(log.kind, TAKING) | ((log.kind == EventKind.RATE) & (log.job != NO_JOB))
    begun = np.unique(instant[acts & (instant < lasting.size)])
    starts = np.unique(instant[np.isin(log.kind, TAKING) & (instant < lasting.size)])
    after_w = run.power_w_capped[lasting]
    rose = np.diff(after_w, prepend=0.0) > 0
    cap_w = run.cap_w.sample(log.time_s[lasting])
    over = after_w > cap_w * (1 + TOLERANCE) + 1e-6
    decided = np.zeros(lasting.size, dtype=np.bool_)
    decided[begun] = rose[begun]
    decided[starts] = True
    wrong = np.flatnonzero(over & decided)
    if wrong.size:
        row = lasting[wrong]
        yield (f"jobs start or speed up over the cap {at_event(run, row)}: "
               f"{run.power_w_capped[row[0]]} W, and the cap is {cap_w[wrong[0]]} W")


def cap_at_every_event(run: Run) -> Iterator[str]:
    """Check that the machine is under the cap also where a job ends or changes.

    A cap that falls stops no job: what may be drawn then is what could be when the oldest of those
    that run was started. Units that are switched on follow their own rule, as starts do.
    """
    log = run.events
    if not run.promises.keeps_cap or run.cap_w is None or not stays_end(run):
        return
    lasting = np.flatnonzero(held_s(run) > 0)
    instant = np.searchsorted(lasting, np.arange(len(log)))
    apart = np.unique(instant[(log.kind == EventKind.NODE) | np.isin(log.kind, TAKING)])
    drawn_w, time_s = run.power_w_capped[lasting], log.time_s[lasting]
    rose = np.diff(drawn_w, prepend=0.0) > TOLERANCE * np.abs(drawn_w)
    rose[apart[apart < lasting.size]] = False
    rose &= log.busy[lasting] > 0  # idle units alone are no policy's doing
    cap_w = run.cap_w.sample(time_s)
    over = np.flatnonzero(rose & (drawn_w > cap_w * (1 + TOLERANCE) + 1e-6))
    since_s = np.minimum(_oldest_start_s(run, time_s[over]), time_s[over])
    first, last = (np.searchsorted(run.cap_w.time_s, at_s, "right") for at_s in (
        since_s, time_s[over]))
    allowed_w = np.array([run.cap_w.value[max(a - 1, 0) : max(b, 1)].max()
                          for a, b in zip(first.tolist(), last.tolist(), strict=True)])
    wrong = np.flatnonzero(drawn_w[over] > allowed_w * (1 + TOLERANCE) + 1e-6)
    if wrong.size:
        yield (f"the power rises over the cap {at_event(run, lasting[over[wrong]])}: "
               f"{drawn_w[over[wrong[0]]]} W, and since the jobs of then began at most "
               f"{allowed_w[wrong[0]]} W were allowed")


def _oldest_start_s(run: Run, time_s: FloatArray) -> FloatArray:
    """When the oldest of the jobs that run at each time was started; infinite where none runs."""
    begin_s, end_s = (run.events.time_s[by_job(run, kinds)] for kinds in (TAKING, GIVING))
    order = np.argsort(begin_s, kind="stable")
    # The first of them, as they began, that ends later: those before it are all over.
    first = np.searchsorted(np.maximum.accumulate(end_s[order]), time_s, "right")
    return np.append(begin_s[order], np.inf)[first]


def cap_windows(run: Run) -> Iterator[str]:
    """In a window that was known beforehand the machine is under the cap.

    Apart from jobs that stay longer than they asked for, and from what it draws without jobs.
    """
    if not run.promises.windows or run.cap_w is None or changes_together(run):
        return
    log = run.events
    inside = np.zeros(len(log), dtype=np.bool_)
    for start_s, end_s in run.promises.windows:
        inside |= (log.time_s >= start_s) & (log.time_s < end_s)
    row, power_w, _ = job_powers(run)
    job = log.job[row]
    idle_w = run.schedule.nodes * run.machine.power_w_idle / run.units
    rise_w = np.where(np.isin(log.kind[row], GIVING), 0.0, power_w - idle_w[job])
    jobs_w = np.cumsum(changes(run, row, rise_w))
    late_w = _late_w(run, row, rise_w, log.time_s)
    cap_w = run.cap_w.sample(log.time_s)
    most_w = np.maximum(cap_w, log.power_w - jobs_w)
    over = np.flatnonzero(inside & (held_s(run) > 0)
                          & (log.power_w - late_w > most_w * (1 + TOLERANCE) + 1e-6))
    if over.size:
        yield (f"the power is above the cap of a window known beforehand {at_event(run, over)}: "
               f"{log.power_w[over[0]]} W, and the cap is {cap_w[over[0]]} W")


def _late_w(
    run: Run, row: npt.NDArray[np.intp], rise_w: FloatArray, time_s: FloatArray
) -> FloatArray:
    """What jobs that are past their due time, or have none, draw above idle at each time."""
    due = due_s(run)
    late = np.zeros(len(time_s))
    job = run.events.job[row]
    lasts = np.append(job[1:] == job[:-1], False)
    for place in np.flatnonzero(lasts & (rise_w != 0.0)).tolist():
        from_s = max(run.events.time_s[row[place]], np.nan_to_num(due[job[place]], nan=-np.inf))
        until_s = run.events.time_s[row[place + 1]]
        if from_s < until_s:
            first, last = np.searchsorted(time_s, (from_s, until_s), "left")
            late[first:last] += rise_w[place]
    return late
