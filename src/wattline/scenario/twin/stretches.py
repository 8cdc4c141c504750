"""The times for which jobs on shared nodes ran: whole runs, cut where they were suspended.

Runs that a job was requeued from are stretches of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import EventKind, Schedule
from wattline.model.signal import FloatArray
from wattline.shared_nodes import outcome


@dataclass(frozen=True, eq=False)
class Stretches:
    """One row per stretch, in the order of jobs and times."""

    job: IntArray
    begin_s: FloatArray
    end_s: FloatArray
    begin_kind: IntArray
    """START, or RESUME after a suspension."""
    end_kind: IntArray
    """END, or PAUSE, or REQUEUE where the run was lost."""
    energy_j: FloatArray
    """Of the job up to the end of the stretch."""
    power_w: FloatArray
    """In the stretch alone."""
    cpus: IntArray


def stretches_of(found: outcome.Schedule, schedule: Schedule, rows: IntArray) -> Stretches:
    """Of the jobs in these rows, and of all runs that were lost."""
    kept, lost = _last_runs(found, schedule, rows), _lost_runs(found)
    both = {field.name: np.concatenate((getattr(lost, field.name), getattr(kept, field.name)))
            for field in fields(Stretches)}
    order = np.argsort(both["job"], kind="stable")
    return Stretches(**{name: column[order] for name, column in both.items()})


def _lost_runs(found: outcome.Schedule) -> Stretches:
    """A job's runs come one after the other: its begins and ends by time are pairs."""
    runs = found.lost_run_job.size
    begun_by = np.concatenate((found.lost_run_job, found.lost_gap_job))
    begin_s = np.concatenate((found.lost_run_start_s, found.lost_gap_to_s))
    ended_by = np.concatenate((found.lost_gap_job, found.lost_run_job))
    end_s = np.concatenate((found.lost_gap_from_s, found.lost_run_end_s))
    begins, ends = np.lexsort((begin_s, begun_by)), np.lexsort((end_s, ended_by))
    job, begin_s, end_s = begun_by[begins].astype(np.int64), begin_s[begins], end_s[ends]
    energy_j = np.concatenate((found.lost_gap_energy_j, found.lost_run_energy_j))[ends]
    is_first = np.append(True, job[1:] != job[:-1])[: job.size]
    drawn_j = np.where(is_first, energy_j, np.diff(energy_j, prepend=0.0))
    return Stretches(
        job, begin_s, end_s,
        np.where(begins < runs, EventKind.START, EventKind.RESUME).astype(np.int64),
        np.where(ends >= found.lost_gap_job.size, EventKind.REQUEUE, EventKind.PAUSE).astype(
            np.int64), energy_j, _mean_w(drawn_j, end_s - begin_s), _left_cpus(found, job, end_s))


def _last_runs(found: outcome.Schedule, schedule: Schedule, rows: IntArray) -> Stretches:
    """Suspensions are known in the order in which they came."""
    begun_by = np.concatenate((rows, found.gap_job))
    ended_by = np.concatenate((found.gap_job, rows))
    begins, ends = (np.argsort(job, kind="stable") for job in (begun_by, ended_by))
    begin_s = np.concatenate((schedule.start_s[rows], found.gap_to_s))[begins]
    end_s = np.concatenate((found.gap_from_s, schedule.end_s[rows]))[ends]
    energy_j = np.concatenate((found.gap_energy_j, schedule.energy_j[rows]))[ends]
    first, last = begins < rows.size, ends >= found.gap_job.size
    job = begun_by[begins].astype(np.int64)
    # Runs that the job was requeued from are no part of its first stretch.
    drawn_j = np.where(first, energy_j - found.lost_energy_j[job], np.diff(energy_j, prepend=0.0))
    return Stretches(
        job, begin_s, end_s,
        np.where(first, EventKind.START, EventKind.RESUME).astype(np.int64),
        np.where(last, EventKind.END, EventKind.PAUSE).astype(np.int64), energy_j,
        _mean_w(drawn_j, end_s - begin_s),
        np.where(last, schedule.nodes[job], _left_cpus(found, job, end_s)))


def _left_cpus(found: outcome.Schedule, job: IntArray, end_s: FloatArray) -> IntArray:
    """What each job gave back when it left its nodes at these times, to start again or go on."""
    given: dict[tuple[int, float], int] = {}
    lasting = found.left_to_s > found.left_from_s
    for key_job, to_s, cpus in zip(found.left_job[lasting].tolist(),
                                   found.left_to_s[lasting].tolist(),
                                   found.left_cpus[lasting].tolist(), strict=True):
        given[key_job, to_s] = given.get((key_job, to_s), 0) + cpus
    return np.array([given.get(key, 0) for key in zip(job.tolist(), end_s.tolist(), strict=True)],
                    dtype=np.int64)


def _mean_w(drawn_j: FloatArray, lasts_s: FloatArray) -> FloatArray:
    return np.where(lasts_s > 1e-9, drawn_j / np.maximum(lasts_s, 1e-300), 0.0)
