"""An independent audit of a run: what its log, placement and job table say, added up again.

Nothing here comes from the engine or the policies: every total is recomputed from the event log,
so a mistake there cannot hide here. The result is a list of sentences, one a violation; an empty
list means that the run holds together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.run import EventKind, Outcome, Placement, Run
from wattline.model.signal import FloatArray

TOLERANCE = 1e-9
"""Relative: sums of a million doubles stay well within it, a wrong term does not."""
_EXAMPLES = 3
_COUNTED = (EventKind.SUBMIT, EventKind.START, EventKind.END)
_TAKING = (EventKind.START, EventKind.RESUME)
"""Events at which a job takes its units; a paused job gives them back until it resumes."""
_GIVING = (EventKind.END, EventKind.PAUSE)

Rows = npt.NDArray[np.intp] | npt.NDArray[np.bool_]


def check(run: Run) -> list[str]:
    """Every violation found, in the order of the checks; empty when the run is good."""
    broken = [*_lengths(run), *_log_order(run)]
    if broken:  # what follows would only stumble over the same stone
        return broken
    return [sentence for audit in _AUDITS for sentence in audit(run)]


def _lengths(run: Run) -> Iterator[str]:
    for part, size in ((run.schedule, len(run.jobs)), (run.events, len(run.events))):
        for name, values in vars(part).items():
            if len(values) != size:
                yield f"column '{name}' has {len(values)} rows, expected {size}"
    outside = (run.events.job < NO_JOB) | (run.events.job >= len(run.jobs))
    if outside.any():
        yield f"{np.count_nonzero(outside)} events name a job that is not in the table"


def _log_order(run: Run) -> Iterator[str]:
    time_s = run.events.time_s
    if not time_s.size:
        if len(run.jobs):
            yield f"the event log is empty, yet there are {len(run.jobs)} jobs"
        return
    if not np.all(np.isfinite(time_s)):
        yield "the event log has a time that is not finite"
    back = np.flatnonzero(np.diff(time_s) < 0)
    if back.size:
        yield f"the event log goes back in time {back.size} times, first at row {back[0] + 1}"
    if time_s[0] < run.start_s or time_s[-1] > run.end_s:
        yield (f"the event log spans {time_s[0]} s to {time_s[-1]} s, outside the run's "
               f"{run.start_s} s to {run.end_s} s")


def _each_job_once(run: Run) -> Iterator[str]:
    """Submitted, started and ended once, in that order, at the times of the job table."""
    log, schedule = run.events, run.schedule
    ran = run.ran
    expected = {"submit": run.jobs.submit_s, "start": schedule.start_s, "end": schedule.end_s}
    for kind in _COUNTED:
        word = kind.name.lower()
        rows = np.flatnonzero((log.kind == kind) & (log.job != NO_JOB))
        times = np.bincount(log.job[rows], minlength=len(run.jobs))
        yield from _jobs(run, ran & (times != 1), f"ran without exactly one {word} event")
        if kind is EventKind.SUBMIT:
            yield from _jobs(run, ~ran & (times > 1), f"have more than one {word} event")
        else:
            yield from _jobs(run, ~ran & (times > 0), f"never ran but have a {word} event")
        jobs = log.job[rows]
        wrong = np.zeros(len(run.jobs), dtype=np.bool_)
        wrong[jobs] = _differ(log.time_s[rows], expected[word][jobs])
        yield from _jobs(run, wrong & (times == 1),
                         f"have a {word} event at another time than the job table says")


def _job_times(run: Run) -> Iterator[str]:
    schedule, ran = run.schedule, run.ran
    submit_s, start_s, end_s = run.jobs.submit_s, schedule.start_s, schedule.end_s
    timed = np.isfinite(start_s) & np.isfinite(end_s)
    yield from _jobs(run, ran & ~timed, "ran but have no start or end")
    yield from _jobs(run, ~ran & ~(np.isnan(start_s) & np.isnan(end_s)),
                     "never ran but have a start or an end")
    yield from _jobs(run, ran & timed & (start_s < submit_s), "start before their submission")
    yield from _jobs(run, ran & timed & (end_s < start_s), "end before their start")
    yield from _jobs(run, ran & (schedule.nodes < 1), "ran on no unit")
    yield from _jobs(run, ran & (schedule.nodes > run.units), "ran on more units than there are")
    # Speed stretches what a job asked for and what it needs alike.
    in_time = run.jobs.requested_s > run.jobs.run_s
    killed = (schedule.outcome == Outcome.KILLED) & (schedule.configuration == 0)
    yield from _jobs(run, killed & in_time, "were killed, though they asked for enough time")


def _dependencies(run: Run) -> Iterator[str]:
    """A job that comes after another starts when that one has ended and the think time is over."""
    after = run.jobs.after_job
    rows = np.flatnonzero((after != NO_JOB) & run.ran)
    first = after[rows]
    # A job that was refused at its submission never was in the queue, and holds nobody up.
    refused = run.refused[first]
    yield from _jobs(run, rows[~run.ran[first] & ~refused],
                     "ran though the job they depend on never did")
    ready_s = run.schedule.end_s[first] + run.jobs.think_s[rows]
    early = run.ran[first] & (run.schedule.start_s[rows] < ready_s)
    yield from _jobs(run, rows[early], "start before the job they depend on has ended")


def _busy_units(run: Run) -> Iterator[str]:
    """Never above the machine, and at each event the sum over the running jobs."""
    log = run.events
    if log.busy.size and (log.busy.max() > run.units or log.busy.min() < 0):
        yield (f"the busy units range from {log.busy.min()} to {log.busy.max()}, "
               f"the machine has {run.units}")
    expected = np.cumsum(_holding(run) * _units_of_event(run))
    wrong = np.flatnonzero(expected != log.busy)
    if wrong.size:
        row = wrong[0]
        yield (f"the busy units differ from the sum over running jobs at {wrong.size} events, "
               f"first at row {row} ({log.time_s[row]} s): {log.busy[row]} instead of "
               f"{expected[row]}")


def _queue_length(run: Run) -> Iterator[str]:
    """Submitted less started.

    Jobs that never run, wait for another one or are paused may be counted or left out.
    """
    log = run.events
    change = (log.kind == EventKind.SUBMIT).astype(np.int64) - (log.kind == EventKind.START)
    paused = np.cumsum((log.kind == EventKind.PAUSE).astype(np.int64)
                       - (log.kind == EventKind.RESUME))
    most = np.cumsum(change) + paused
    may_miss = ~run.ran | (run.jobs.after_job != NO_JOB)
    of_event = np.where(log.job == NO_JOB, False, may_miss[np.maximum(log.job, 0)])
    least = np.cumsum(np.where(of_event, 0, change))
    wrong = np.flatnonzero((log.queued > most) | (log.queued < least))
    if wrong.size:
        row = wrong[0]
        yield (f"the queue length differs from submitted less started at {wrong.size} events, "
               f"first at row {row} ({log.time_s[row]} s): {log.queued[row]} instead of "
               f"{most[row]}")


def _placement(run: Run) -> Iterator[str]:
    """No unit twice at one time; each job on as many units as it was given."""
    if run.placement is None:
        return
    place = run.placement
    if (place.count < 1).any() or (place.first < 0).any() or (
        place.first + place.count > run.units).any():
        yield f"the placement has runs of units outside 0 to {run.units - 1}"
        return
    log = run.events
    times = np.bincount(log.job[np.isin(log.kind, _TAKING)], minlength=len(run.jobs))
    given = np.bincount(place.job, weights=place.count, minlength=len(run.jobs))
    wrong = given != times * run.schedule.nodes
    if wrong.any():
        yield from _jobs(run, wrong, "are placed on another number of units than they were given")
        return
    gives = np.bincount(log.job[np.isin(log.kind, _GIVING)], minlength=len(run.jobs))
    if (gives != times).any():  # a start or an end is missing, which is reported as such
        return
    start_s, end_s = _span_times(run, place)
    held = np.flatnonzero(end_s > start_s)  # a job of no length holds nothing
    free_from_s = np.full(run.units, -np.inf)
    clashes = []
    for row in held[np.argsort(start_s[held], kind="stable")].tolist():
        units = slice(place.first[row], place.first[row] + place.count[row])
        if free_from_s[units].max() > start_s[row]:
            clashes.append(row)
        free_from_s[units] = np.maximum(free_from_s[units], end_s[row])
    if clashes:
        yield from _jobs(run, np.unique(place.job[clashes]),
                         "start on units that another job still holds")


def _span_times(run: Run, place: Placement) -> tuple[FloatArray, FloatArray]:
    """From when to when each run of units was held: a job that was paused holds several in turn."""
    log = run.events
    begin, finish = (
        rows[np.argsort(log.job[rows], kind="stable")]
        for rows in (np.flatnonzero(np.isin(log.kind, kinds)) for kinds in (_TAKING, _GIVING))
    )
    order = np.argsort(place.job, kind="stable")
    units = place.count[order]
    before = np.cumsum(units) - units
    first = np.searchsorted(place.job[order], np.arange(len(run.jobs)), "left")
    job = place.job[order]
    turn = (before - before[first[job]]) // run.schedule.nodes[job]
    segment = np.searchsorted(log.job[begin], job, "left") + turn
    start_s, end_s = np.empty(order.size), np.empty(order.size)
    start_s[order] = log.time_s[begin[segment]]
    end_s[order] = log.time_s[finish[segment]]
    return start_s, end_s


def _energy(run: Run) -> Iterator[str]:
    """The machine's energy is the integral of its power, and the sum over its classes."""
    integral_j = float(np.dot(run.events.power_w, _held_s(run)))
    yield from _equal("the machine's energy", run.energy_j, "the integral of power", integral_j)
    if run.class_energy_j:
        total_j = sum(run.class_energy_j.values())
        yield from _equal("the machine's energy", run.energy_j, "the sum over classes", total_j)
    if (run.schedule.energy_j < 0).any():
        yield "a job has a negative energy"
    yield from _jobs(run, ~run.ran & (run.schedule.energy_j != 0), "never ran but have an energy")


def _idle_and_jobs(run: Run) -> Iterator[str]:
    """Energies of the jobs plus the idle energy of free units make the whole.

    It can be said where all units idle at one power and no node is ever switched off.
    """
    idle_w = _idle_w_per_unit(run)
    if idle_w is None:
        return
    idle_unit_s = float(np.dot(run.units - run.events.busy, _held_s(run)))
    parts_j = float(run.schedule.energy_j.sum()) + idle_w * idle_unit_s
    yield from _equal("the machine's energy", run.energy_j, "jobs plus idle units", parts_j)


def _power_of_jobs(run: Run) -> Iterator[str]:
    """Each job's energy is the integral of its own power, and the machine's power at each event is
    that of the running jobs and of the free units.

    It can be said where the log gives each change of a job's power: not where all jobs change
    their speed at once.
    """
    log = run.events
    if np.any((log.kind == EventKind.RATE) & (log.job == NO_JOB)):
        return
    row, power_w, lasts_s = _job_powers(run)
    energy_j = np.bincount(log.job[row], weights=power_w * lasts_s, minlength=len(run.jobs))
    # Times far from zero are known to some rounding, and so is the length of a job.
    rounding_s = 4 * np.finfo(np.float64).eps * max(abs(run.start_s), abs(run.end_s))
    mean_w = np.bincount(log.job[row], weights=power_w, minlength=len(run.jobs))
    allowed_j = TOLERANCE * np.abs(energy_j) + rounding_s * mean_w
    wrong = np.abs(energy_j - run.schedule.energy_j) > allowed_j
    yield from _jobs(run, wrong, "have another energy than the integral of their power")
    idle_w = _idle_w_per_unit(run)
    if idle_w is None:
        return
    before_w = np.where(np.append(True, np.diff(log.job[row]) != 0)[: row.size], 0.0,
                        np.append(0.0, power_w)[: row.size])
    change_w = np.zeros(len(log))
    change_w[row] = power_w - before_w
    expected_w = idle_w * (run.units - log.busy) + np.cumsum(change_w)
    allowed_w = TOLERANCE * max(float(np.abs(expected_w).max(initial=0.0)), 1.0)
    settled = _held_s(run) > 0  # within an instant the order of its events decides, not physics
    off = np.flatnonzero(settled & (np.abs(expected_w - log.power_w) > allowed_w))
    if off.size:
        yield (f"the power differs from idle units plus running jobs at {off.size} events, "
               f"first at row {off[0]} ({log.time_s[off[0]]} s): {log.power_w[off[0]]} W instead "
               f"of {expected_w[off[0]]} W")


def _job_powers(run: Run) -> tuple[npt.NDArray[np.intp], FloatArray, FloatArray]:
    """The log's rows that set a job's power, job by job: row, power from then on, for how long."""
    log = run.events
    sets = np.isin(log.kind, (*_TAKING, *_GIVING, EventKind.RATE)) & (log.job != NO_JOB)
    row = np.flatnonzero(sets)
    row = row[np.argsort(log.job[row], kind="stable")]
    power_w = np.where(np.isin(log.kind[row], _GIVING), 0.0, log.value[row])
    same = log.job[row][1:] == log.job[row][:-1]
    lasts_s = np.zeros(row.size)
    lasts_s[:-1] = np.where(same, np.diff(log.time_s[row]), 0.0)
    return row, power_w, lasts_s


def _cap_and_peak(run: Run) -> Iterator[str]:
    """Peak, and time and energy above the cap, from the log."""
    held_s = _held_s(run)
    peak_w = float(run.events.power_w[held_s > 0].max(initial=0.0))
    yield from _equal("the peak power", run.power_w_peak, "the log's highest", peak_w)
    if run.cap_w is None:
        if run.time_above_cap_s or run.energy_above_cap_j:
            yield "the run has no cap, yet it reports time or energy above one"
        return
    edges = np.unique(np.concatenate((run.events.time_s, [run.end_s], run.cap_w.time_s)))
    edges = edges[(edges >= run.events.time_s[0]) & (edges <= run.end_s)] if edges.size else edges
    row = np.searchsorted(run.events.time_s, edges[:-1], "right") - 1
    over_w = run.events.power_w[row] - run.cap_w.sample(edges[:-1])
    # A machine that stands exactly at its cap is not above it by the rounding of a sum.
    above = over_w > TOLERANCE * np.maximum(np.abs(run.events.power_w[row]), 1.0)
    length_s = np.diff(edges)
    yield from _equal("the time above the cap", run.time_above_cap_s, "that of the log",
                      float(length_s[above].sum()))
    yield from _equal("the energy above the cap", run.energy_above_cap_j, "that of the log",
                      float(np.dot(over_w[above], length_s[above])), scale=run.energy_j)


_AUDITS: tuple[Callable[[Run], Iterator[str]], ...] = (
    _each_job_once, _job_times, _dependencies, _busy_units, _queue_length, _placement, _energy,
    _idle_and_jobs, _power_of_jobs, _cap_and_peak,
)


def _held_s(run: Run) -> FloatArray:
    """How long the state after each event lasted."""
    if not len(run.events):
        return np.zeros(0)
    return np.diff(run.events.time_s, append=run.end_s)


def _holding(run: Run) -> IntArray:
    """+1 where a job takes its units, -1 where it gives them back."""
    kind = run.events.kind
    signs: IntArray = np.isin(kind, _TAKING).astype(np.int64) - np.isin(kind, _GIVING)
    return signs


def _units_of_event(run: Run) -> IntArray:
    job = run.events.job
    return np.where(job == NO_JOB, 0, run.schedule.nodes[np.maximum(job, 0)])


def _named(run: Run, kind: EventKind) -> npt.NDArray[np.bool_]:
    """Which jobs an event of this kind names."""
    found = np.zeros(len(run.jobs), dtype=np.bool_)
    rows = (run.events.kind == kind) & (run.events.job != NO_JOB)
    found[run.events.job[rows]] = True
    return found


def _idle_w_per_unit(run: Run) -> float | None:
    by_core = run.units != run.machine.node_count
    powers = {
        group.node_class.power_w_idle / (group.node_class.cores if by_core else 1)
        for group in run.machine.groups
    }
    switched = np.any(run.events.kind == EventKind.NODE)
    return powers.pop() if len(powers) == 1 and not switched else None


def _differ(first: FloatArray, second: FloatArray) -> npt.NDArray[np.bool_]:
    differ: npt.NDArray[np.bool_] = ~((first == second) | (np.isnan(first) & np.isnan(second)))
    return differ


def _equal(what: str, value: float, other: str, expected: float,
           scale: float = 0.0) -> Iterator[str]:
    allowed = TOLERANCE * max(abs(value), abs(expected), abs(scale), 1e-300)
    if not abs(value - expected) <= allowed:
        yield f"{what} is {value!r}, {other} gives {expected!r}"


def _jobs(run: Run, which: Rows, what: str) -> Iterator[str]:
    rows = np.flatnonzero(which) if which.dtype == np.bool_ else which
    if not rows.size:
        return
    names = ", ".join(str(job) for job in run.jobs.job_id[rows[:_EXAMPLES]])
    more = f" and {rows.size - _EXAMPLES} more" if rows.size > _EXAMPLES else ""
    yield f"jobs {names}{more} {what}"
