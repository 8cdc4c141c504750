"""The times for which jobs on shared nodes ran: whole runs, cut where they were suspended."""

from __future__ import annotations

from dataclasses import dataclass

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
    """END, or PAUSE."""
    energy_j: FloatArray
    """Of the job up to the end of the stretch."""
    power_w: FloatArray
    """In the stretch alone."""


def stretches_of(found: outcome.Schedule, schedule: Schedule, rows: IntArray) -> Stretches:
    """Of the jobs in these rows; suspensions are known in the order in which they came."""
    begun_by = np.concatenate((rows, found.gap_job))
    ended_by = np.concatenate((found.gap_job, rows))
    begins, ends = (np.argsort(job, kind="stable") for job in (begun_by, ended_by))
    begin_s = np.concatenate((schedule.start_s[rows], found.gap_to_s))[begins]
    end_s = np.concatenate((found.gap_from_s, schedule.end_s[rows]))[ends]
    energy_j = np.concatenate((found.gap_energy_j, schedule.energy_j[rows]))[ends]
    first, last = begins < rows.size, ends >= found.gap_job.size
    job = begun_by[begins].astype(np.int64)
    # Runs that the job was requeued from are no part of its first stretch, nor have they rows here.
    drawn_j = np.where(first, energy_j - found.lost_energy_j[job], np.diff(energy_j, prepend=0.0))
    lasts_s = end_s - begin_s
    return Stretches(
        job, begin_s, end_s,
        np.where(first, EventKind.START, EventKind.RESUME).astype(np.int64),
        np.where(last, EventKind.END, EventKind.PAUSE).astype(np.int64), energy_j,
        np.where(lasts_s > 1e-9, drawn_j / np.maximum(lasts_s, 1e-300), 0.0))
