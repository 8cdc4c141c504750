"""A run's jobs as records of the ledger, each with its power over time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from wattline.account.entries import Entries
from wattline.account.nodes_held import UNKNOWN, NodeRuns, NodesHeld, count_nodes
from wattline.account.records import JobRecord
from wattline.account.stretches import steps_of
from wattline.model.jobs import IntArray, JobTable
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.model.states import WORDS, run_states

MEAN_POWER = "simulated, mean power"


def records_of(run: Run, frequency_hz: FloatArray | None = None) -> Iterator[JobRecord]:
    """The same as objects, for whoever looks at few of them."""
    return entries_of(run, frequency_hz).records()


def entries_of(run: Run, frequency_hz: FloatArray | None = None) -> Entries:
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
    ran, never = np.flatnonzero(run.ran), np.flatnonzero(~run.ran)
    node_runs, sizes, idle_w = _held(run, ran)
    steps, measured = steps_of(run, idle_w)
    schedule, jobs = run.schedule, run.jobs
    times = {"start_s": schedule.start_s[ran], "end_s": schedule.end_s[ran]}
    columns = {
        **sizes,
        **{name: times[name].tolist() + jobs.submit_s[never].tolist() for name in times},
        "energy_j": schedule.energy_j[np.append(ran, never)].tolist(),
        "quality": [*np.where(measured, "simulated", MEAN_POWER).tolist(), *(
            # Joules of runs that it was requeued from.
            MEAN_POWER if joules else "never ran" for joules in schedule.energy_j[never].tolist())],
        "frequency_hz": _known(frequency_hz, ran) + [None] * len(never),
    }
    asked = asked_frequencies(run)
    columns["asked_frequency"] = [asked[row] for row in ran.tolist()] + [""] * len(never)
    return Entries({**_asked(run, np.append(ran, never)), **columns},
                   node_runs + [()] * len(never), steps)


def _held(run: Run, ran: IntArray) -> tuple[list[NodeRuns], dict[str, list[Any]], FloatArray]:
    """Which nodes the jobs that ran held, how many of what class (0 of the others), and by row of
    the table what their units draw while they idle."""
    held, machine = NodesHeld(run), run.machine
    core_units = run.units != machine.node_count
    units = run.schedule.nodes[ran].tolist()
    runs = held.of_all(ran)
    first = [machine.class_of(each[0][0] if each else 0) for each in runs
             ] if len(machine.groups) > 1 else [machine.groups[0].node_class] * len(runs)
    # Without a placement: the fewest nodes that have so many cores.
    nodes = [count_nodes(each) or (-(-size // its.cores) if core_units else size)
             for each, size, its in zip(runs, units, first, strict=True)]
    cores = units if core_units else [
        size * its.cores for size, its in zip(units, first, strict=True)]
    idle_w = np.zeros(len(run.jobs))
    idle_w[ran] = [size * (its.power_w_idle / (its.cores if core_units else 1))
                   for size, its in zip(units, first, strict=True)]
    none = [0] * (len(run.jobs) - len(runs))
    return runs, {"node_class": held.classes_of_all(runs) + [""] * len(none),
                  "nodes": nodes + none, "cores": cores + none}, idle_w


def _known(frequency_hz: FloatArray | None, rows: IntArray) -> list[float | None]:
    """None for what is not known."""
    if frequency_hz is None:
        return [None] * len(rows)
    return [None if np.isnan(each) else each for each in frequency_hz[rows].tolist()]


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


def _asked(run: Run, rows: IntArray) -> dict[str, list[Any]]:
    """Whose jobs they are, what they asked for and how they ended, whether they ran or not."""
    jobs = run.jobs
    states = run_states(run)
    return {
        "job_id": jobs.job_id[rows].tolist(),
        "restart": jobs.restart[rows].tolist(),
        **{name: _names(jobs, column, rows) for name, column in (
            ("user", "user"), ("account", "group"), ("partition", "partition"),
            ("application", "application"))},
        "state": [WORDS[code] for code in np.asarray(states)[rows].tolist()],
        "submit_s": jobs.submit_s[rows].tolist(),
        "limit_s": jobs.requested_s[rows].tolist(),
    }


def _names(jobs: JobTable, column: str, rows: IntArray) -> list[str]:
    codes = getattr(jobs, column)[rows].tolist()
    known = {code: named(jobs, column, code) for code in set(codes)}
    return [known[code] for code in codes]


def named(jobs: JobTable, column: str, code: int) -> str:
    """The name behind a code; where the log says nothing, that it does not."""
    return jobs.name_of(column, code) if code >= 0 else UNKNOWN
