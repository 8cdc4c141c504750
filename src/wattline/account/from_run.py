"""A run's jobs as records of the ledger, each with its power over time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from wattline.account.nodes_held import UNKNOWN, NodesHeld, count_nodes
from wattline.account.records import JobRecord, StepRecord
from wattline.model.jobs import JobTable
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray, Signal
from wattline.model.states import WORDS, run_states

_BEGIN = (EventKind.START, EventKind.RESUME)
_STOP = (EventKind.PAUSE, EventKind.END, EventKind.REQUEUE)
CLOSE = 1e-6
MEAN_POWER = "simulated, mean power"


def records_of(run: Run, frequency_hz: FloatArray | None = None) -> Iterator[JobRecord]:
    """The jobs of a run, those that ran before those that never did.

    A job that was refused is CANCELLED, one that still waited at the end is PENDING, as `sacct` has
    it; both stand with no joules and no steps, and their times are that of their submission. One
    that ran ended as its log says (`wattline.model.states`).

    A job's power over time is read off the event log: each of its events changes the machine's
    power by what the job then draws more or less, and one of all jobs each job's by its part (a
    level of the machine scales all that a job draws, its idle power included). Where
    that does not add up to the job's energy (nodes that boot, or are slowed each in its own way)
    its mean power stands for it, and the record says so.
    `frequency_hz` is the mean frequency of each job, NaN where it is not known.
    """
    jobs, schedule = run.jobs, run.schedule
    held = NodesHeld(run)
    machine = run.machine
    core_units = run.units != machine.node_count
    idle_w = _idle_of_jobs(run, held, core_units)
    changes = _power_changes(run, idle_w)
    states = [WORDS[code] for code in run_states(run)]
    asked = asked_frequencies(run)
    for row in np.flatnonzero(run.ran):
        units = int(schedule.nodes[row])
        start, end = float(schedule.start_s[row]), float(schedule.end_s[row])
        energy = float(schedule.energy_j[row])
        node_runs = held.of(int(row))
        node_class = machine.class_of(node_runs[0][0] if node_runs else 0)
        # Without a placement: the fewest nodes that have so many cores.
        nodes = -(-units // node_class.cores) if core_units else units
        steps, measured = _steps(
            changes.get(int(row), []), idle_w[int(row)], (start, end, energy))
        yield JobRecord(
            **_asked(jobs, int(row)),
            node_class=held.classes(node_runs),
            nodes=count_nodes(node_runs) or nodes,
            cores=units if core_units else units * node_class.cores,
            submit_s=float(jobs.submit_s[row]), start_s=start, end_s=end,
            state=states[row],
            energy_j=energy,
            node_runs=node_runs,
            frequency_hz=float("nan") if frequency_hz is None else float(frequency_hz[row]),
            asked_frequency=asked[row],
            quality="simulated" if measured else MEAN_POWER,
            steps=steps,
        )
    for row in np.flatnonzero(~run.ran):
        yield _never_ran(run, int(row), states[row])


def asked_frequencies(run: Run) -> list[str]:
    """What each job allowed its cores, by row; empty for all that they have, or where no policy
    asked for frequencies."""
    ladder = run.promises.frequencies
    if ladder is None:
        return [""] * len(run.jobs)
    first, last = float(ladder.frequency_hz[0]), float(ladder.frequency_hz[-1])
    found = []
    for low_hz, high_hz in zip(ladder.low_hz.tolist(), ladder.high_hz.tolist(), strict=True):
        low, high = max(low_hz, first), min(high_hz, last)
        khz = [f"{each / 1e3:.0f}" for each in dict.fromkeys((low, high))]
        found.append("" if (low, high) == (first, last) else "-".join(khz))
    return found


def left_out(run: Run) -> dict[str, dict[str, float]]:
    """Jobs of the log that are not in the run though they used joules, by cleaning rule."""
    found = re.compile(r"cleaned_(\w+)_j")
    rules = [match[1] for match in map(found.fullmatch, run.notes) if match]
    return {rule: {"jobs": run.notes[f"cleaned_{rule}_jobs"],
                   "energy_j": run.notes[f"cleaned_{rule}_j"]} for rule in rules}


def _asked(jobs: JobTable, row: int) -> dict[str, Any]:
    """Whose job it is and what it asked for, whether it ran or not."""
    return {
        "job_id": int(jobs.job_id[row]),
        "restart": int(jobs.restart[row]),
        "user": named(jobs, "user", int(jobs.user[row])),
        "account": named(jobs, "group", int(jobs.group[row])),
        "partition": named(jobs, "partition", int(jobs.partition[row])),
        "application": named(jobs, "application", int(jobs.application[row])),
        "limit_s": float(jobs.requested_s[row]),
    }


def _never_ran(run: Run, row: int, state: str) -> JobRecord:
    jobs = run.jobs
    submit_s = float(jobs.submit_s[row])
    energy_j = float(run.schedule.energy_j[row])  # of runs that it was requeued from
    return JobRecord(
        **_asked(jobs, int(row)),
        node_class="", nodes=0, cores=0,
        submit_s=submit_s, start_s=submit_s, end_s=submit_s,
        state=state, energy_j=energy_j, quality=MEAN_POWER if energy_j else "never ran",
    )


def named(jobs: JobTable, column: str, code: int) -> str:
    """The name behind a code; where the log says nothing, that it does not."""
    return jobs.name_of(column, code) if code >= 0 else UNKNOWN


def _idle_of_jobs(run: Run, held: NodesHeld, core_units: bool) -> dict[int, float]:
    """What the units of each job that ran draw while they idle."""
    found = {}
    for row in np.flatnonzero(run.ran).tolist():
        node_runs = held.of(row)
        node_class = run.machine.class_of(node_runs[0][0] if node_runs else 0)
        unit_w = node_class.power_w_idle / (node_class.cores if core_units else 1)
        found[row] = int(run.schedule.nodes[row]) * unit_w
    return found


def _power_changes(
    run: Run, idle_w: dict[int, float]
) -> dict[int, list[tuple[float, int, float]]]:
    """By job: time, kind and change of the machine's power of each of its events."""
    log = run.events
    if not len(log):
        return {}
    change = np.diff(log.power_w, prepend=log.power_w[0])
    rows = np.flatnonzero(np.isin(log.kind, [*_BEGIN, *_STOP, EventKind.RATE]))
    found: dict[int, list[tuple[float, int, float]]] = {}
    running: dict[int, float] = {}
    """What each job draws above its nodes' idle power now."""
    for time_s, kind, job, change_w, value in zip(
            log.time_s[rows].tolist(), log.kind[rows].tolist(), log.job[rows].tolist(),
            change[rows].tolist(), log.value[rows].tolist(), strict=True):
        shares = [(job, change_w)]
        if job < 0:  # all jobs; with their speed where the machine has a new level
            shares = _shares(change_w, running if value == 0.0 else {
                each: its_w + idle_w.get(each, 0.0) for each, its_w in running.items()})
        for each, its_w in shares:
            found.setdefault(each, []).append((time_s, kind, its_w))
            running[each] = running.get(each, 0.0) + its_w
        if kind in _STOP:
            running.pop(job, None)
    return found


def _shares(change_w: float, drawn_w: dict[int, float]) -> list[tuple[int, float]]:
    """Jobs that change together share it by what they draw: all of it where a level of the machine
    scales it, and what is above idle where each has a speed of its own. Under one law of frequency
    that is exact, and elsewhere their energies do not add up."""
    total_w = sum(drawn_w.values())
    return [(each, change_w * its_w / total_w) for each, its_w in drawn_w.items()
            ] if total_w > 0 else []


def _steps(
    changes: list[tuple[float, int, float]], idle_w: float, whole: tuple[float, float, float],
) -> tuple[tuple[StepRecord, ...], bool]:
    """The stretches of a job; and whether its power over time accounts for its energy."""
    start_s, end_s, energy_j = whole
    steps = list(_stretches(changes, idle_w, end_s))
    total = sum(step.energy_j for step in steps)
    if steps and abs(total - energy_j) <= CLOSE * max(1.0, energy_j):
        return tuple(steps), True
    power_w = energy_j / (end_s - start_s) if end_s > start_s else 0.0
    mean = Signal(np.array([start_s]), np.array([power_w]), "W")
    return (StepRecord(0, start_s, end_s, energy_j, mean),), False


def _stretches(
    changes: list[tuple[float, int, float]], idle_w: float, end_s: float
) -> Iterator[StepRecord]:
    points: list[tuple[float, float]] = []
    step = 0
    power_w = 0.0
    for time_s, kind, change_w in changes:
        if kind in _BEGIN:
            power_w = idle_w + change_w
            points = [(time_s, power_w)]
        elif kind in _STOP:
            if points and time_s > points[0][0]:
                yield _step(step, points, time_s)
                step += 1
            points = []
        elif points:
            power_w += change_w
            points.append((time_s, power_w))
    if points and end_s > points[0][0]:
        yield _step(step, points, end_s)


def _step(step: int, points: list[tuple[float, float]], end_s: float) -> StepRecord:
    signal = Signal.from_steps(points, "W")
    start_s = points[0][0]
    return StepRecord(step, start_s, end_s, signal.integral(start_s, end_s), signal)
