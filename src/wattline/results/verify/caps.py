"""Rules of caps: of the machine at every event, in windows known beforehand, and of its parts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB
from wattline.model.run import EventKind, PowerBound, Run
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
    held_s,
    placed_wrongly,
    stays_end,
    where,
)
from wattline.results.verify.idle_power import of_units, stay_sums
from wattline.results.verify.pace import due_s
from wattline.results.verify.power import TOGETHER, changes, changes_together, job_powers


def cap_at_starts(run: Run) -> Verdicts:
    """The machine is under the cap after each start and each speed-up of a job."""
    assert run.cap_w is not None
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
        yield Finding(f"jobs start or speed up over the cap {at_event(run, row)}: "
                      f"{run.power_w_capped[row[0]]} W, and the cap is {cap_w[wrong[0]]} W",
                      *where(run, row))


def cap_at_every_event(run: Run) -> Verdicts:
    """Check that the machine is under the cap also where a job ends or changes.

    A cap that falls stops no job: what may be drawn then is what could be when the oldest of those
    that run was started. Units that are switched on follow their own rule, as starts do.
    """
    log = run.events
    assert run.cap_w is not None
    if not stays_end(run):
        return  # which is reported as such
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
        yield Finding(f"the power rises over the cap {at_event(run, lasting[over[wrong]])}: "
                      f"{drawn_w[over[wrong[0]]]} W, and since the jobs of then began at most "
                      f"{allowed_w[wrong[0]]} W were allowed", *where(run, lasting[over[wrong]]))


def _oldest_start_s(run: Run, time_s: FloatArray) -> FloatArray:
    """When the oldest of the jobs that run at each time was started; infinite where none runs."""
    begin_s, end_s = (run.events.time_s[by_job(run, kinds)] for kinds in (TAKING, GIVING))
    order = np.argsort(begin_s, kind="stable")
    # The first of them, as they began, that ends later: those before it are all over.
    first = np.searchsorted(np.maximum.accumulate(end_s[order]), time_s, "right")
    return np.append(begin_s[order], np.inf)[first]


def cap_windows(run: Run) -> Verdicts:
    """In a window that was known beforehand the machine is under the cap.

    Apart from jobs that stay longer than they asked for, and from what it draws without jobs.
    """
    assert run.cap_w is not None
    if changes_together(run):
        yield Skipped(TOGETHER)
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
        yield Finding("the power is above the cap of a window known beforehand "
                      f"{at_event(run, over)}: {log.power_w[over[0]]} W, and the cap is "
                      f"{cap_w[over[0]]} W", *where(run, over))


def _late_w(
    run: Run, row: npt.NDArray[np.intp], rise_w: FloatArray, time_s: FloatArray
) -> FloatArray:
    """Power above idle, at each time, of jobs past their due time or without one."""
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


def within_bounds(run: Run) -> Verdicts:
    """Each bounded entity draws what it draws idle, and of each job the part of its nodes there.

    What a job draws above idle is spread over its nodes equally, and of a node's watts the share
    counts that the bound has. It can be said where the log
    gives each change of a job's power, and the run knows which nodes a job held.
    """
    if run.placement is None:
        yield Finding("the run has power bounds, and does not say which nodes its jobs held")
        return
    if placed_wrongly(run, run.placement).any() or not stays_end(run):
        return  # which is reported as such
    if changes_together(run):
        yield Skipped(TOGETHER)
        return
    row, power_w, _ = job_powers(run)
    stay = np.cumsum(np.isin(run.events.kind[row], TAKING)) - 1
    idle_w = stay_sums(run, of_units(run, lambda node: node.power_w_idle))
    if idle_w is None:
        return
    share_w = (power_w - idle_w[stay]) / run.schedule.nodes[run.events.job[row]]
    share_w[np.isin(run.events.kind[row], GIVING)] = 0.0
    for bound in run.bounds:
        drawn_w = bound.idle_w + np.cumsum(
            changes(run, row, share_w * _watts_counted(run, bound)[stay]))
        over = np.flatnonzero((drawn_w > bound.limit_w * (1 + TOLERANCE) + 1e-6)
                              & (held_s(run) > 0))
        if over.size:
            yield Finding(f"{bound.entity} is above its bound of {bound.limit_w:.10g} W "
                          f"{at_event(run, over)}: it draws {drawn_w[over].max():.10g} W at most",
                          *where(run, over))


def _watts_counted(run: Run, bound: PowerBound) -> FloatArray:
    """Of each stay of a job what counts here if each of its nodes draws a watt more."""
    inside = np.zeros(run.units)
    inside[bound.nodes] = 1.0 if bound.share is None else bound.share
    found = stay_sums(run, inside)
    assert found is not None
    return found
