"""What became of jobs on shared nodes, as the log of events that every run has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine
from wattline.model.run import EventKind, EventLog, Outcome, Run, Schedule
from wattline.model.signal import FloatArray, Signal
from wattline.scenario.twin.class_energy import class_energy_of
from wattline.scenario.twin.placing import placement_of
from wattline.scenario.twin.stretches import stretches_of
from wattline.shared_nodes import outcome
from wattline.shared_nodes.machine import SharedMachine

TOLERANCE = 1e-9
"""Relative, as that of the audit."""


def run_of(found: outcome.Schedule, jobs: JobTable, shared: SharedMachine, machine: Machine,
           cap_w: Signal | None, engine_s: float) -> Run:
    """The run; a unit is a CPU, and energies are those of the kernel."""
    ran = np.isfinite(found.start_s) & np.isfinite(found.end_s)
    cpus = np.bincount(found.allocation_job, found.allocation_cpus, len(jobs)).astype(np.int64)
    cpus = np.where(ran, cpus, 0)
    jobs = replace(jobs, restart=jobs.restart + found.requeues)
    schedule = Schedule(
        start_s=np.where(ran, found.start_s, np.nan), end_s=np.where(ran, found.end_s, np.nan),
        nodes=cpus, energy_j=found.energy_j,
        outcome=np.where(ran, _outcomes(found), Outcome.NOT_RUN).astype(np.int64),
        configuration=np.zeros(len(jobs), dtype=np.int64))
    idle_w = float(shared.nodes.idle_w.sum())
    events = _events(found, jobs, schedule, ran, idle_w)
    end_s = float(events.time_s[-1]) if len(events) else 0.0
    held_s = np.diff(events.time_s, append=end_s)
    energy = float(np.dot(events.power_w, held_s))
    above_s, above_j = _above(events, end_s, cap_w)
    start_s = float(events.time_s[0]) if len(events) else 0.0
    return Run(
        jobs=jobs, schedule=schedule, events=events, machine=machine, units=machine.core_count,
        start_s=start_s, end_s=end_s, energy_j=energy,
        class_energy_j=class_energy_of(found, shared, machine, energy, end_s - start_s),
        time_above_cap_s=above_s, energy_above_cap_j=above_j,
        power_w_peak=float(events.power_w[held_s > 0].max(initial=0.0)), cap_w=cap_w,
        placement=placement_of(found, shared), engine_s=engine_s, policy_powers=True,
        notes={"main_passes": float(found.passes), "backfill_passes": float(found.backfill_passes),
               "requeues": float(found.requeues.sum()),
               "suspended_jobs": float(np.unique(found.gap_job).size),
               "suspended_h": float(found.suspended_s.sum()) / 3600.0})


def _outcomes(found: outcome.Schedule) -> IntArray:
    """How the jobs that ran ended."""
    stopped = {outcome.KILLED: Outcome.KILLED, outcome.NODE_FAILED: Outcome.NODE_FAILED,
               outcome.PREEMPTED: Outcome.PREEMPTED}
    ended = np.full(len(found.state), Outcome.COMPLETED, dtype=np.int64)
    for state, how in stopped.items():
        ended[found.state == state] = how
    return ended


def _events(found: outcome.Schedule, jobs: JobTable, schedule: Schedule,
            ran: np.ndarray[tuple[int], np.dtype[np.bool_]], idle_w: float) -> EventLog:
    """Submissions, starts, suspensions and ends, and what else changed the machine's power."""
    held = stretches_of(found, schedule, np.flatnonzero(ran))
    refused = (found.state == outcome.REFUSED).astype(np.float64)
    known = np.concatenate((jobs.submit_s, held.begin_s, held.end_s))
    # Audits know by an event of nodes that some sleep, also where they did so with a submission.
    asleep = found.event_time_s[found.event_power_w < idle_w * (1.0 - TOLERANCE)][:1]
    other = np.union1d(np.setdiff1d(found.event_time_s, known), asleep)
    other = other[other >= (jobs.submit_s[0] if len(jobs) else 0.0)]
    other = other[other <= (float(known.max()) if held.job.size else np.inf)]
    time_s = np.concatenate((known, other))
    kind = np.concatenate((np.full(len(jobs), EventKind.SUBMIT), held.begin_kind, held.end_kind,
                           np.full(other.size, EventKind.NODE))).astype(np.int64)
    job = np.concatenate((np.arange(len(jobs)), held.job, held.job,
                          np.full(other.size, -1))).astype(np.int64)
    value = np.concatenate((refused, held.power_w, held.energy_j, np.zeros(other.size)))
    rank = np.where(kind == EventKind.REQUEUE, EventKind.PAUSE, kind)
    # A stretch of no length begins before it ends in the same instant.
    rank[len(jobs) + held.job.size:][:held.job.size][held.end_s <= held.begin_s] = 99
    order = np.lexsort((job, rank, time_s))
    time_s, kind, job, value = time_s[order], kind[order], job[order], value[order]
    # A job waits until its nodes are up, and has other CPUs each time that it starts or goes on.
    taken = np.concatenate((np.zeros(len(jobs), np.int64), held.cpus, -held.cpus,
                            np.zeros(other.size, np.int64)))[order]
    waits = ((kind == EventKind.SUBMIT) & (value == 0)) | np.isin(
        kind, (EventKind.PAUSE, EventKind.REQUEUE))
    goes = np.isin(kind, (EventKind.START, EventKind.RESUME))
    busy, queued = np.cumsum(taken), np.cumsum(waits.astype(np.int64) - goes)
    return EventLog(time_s=time_s, kind=kind, job=job,
                    power_w=_logged(found, found.event_power_w, time_s, idle_w),
                    busy=busy.astype(np.int64), queued=queued.astype(np.int64), value=value)


def _logged(found: outcome.Schedule, what: FloatArray | IntArray, time_s: FloatArray,
            before: float) -> FloatArray:
    """A figure of the machine from each time on; `before` its first change."""
    if not found.event_time_s.size:
        return np.full(time_s.size, float(before))
    at = np.searchsorted(found.event_time_s, time_s, "right") - 1
    return np.where(at >= 0, what[np.maximum(at, 0)], float(before))


def _above(events: EventLog, end_s: float, cap_w: Signal | None) -> tuple[float, float]:
    """Seconds and joules above a cap, as the audit counts them."""
    if cap_w is None or not len(events):
        return 0.0, 0.0
    edges = np.unique(np.concatenate((events.time_s, [end_s], cap_w.time_s)))
    edges = edges[(edges >= events.time_s[0]) & (edges <= end_s)]
    row = np.searchsorted(events.time_s, edges[:-1], "right") - 1
    over_w = events.power_w[row] - cap_w.sample(edges[:-1])
    above = over_w > TOLERANCE * np.maximum(np.abs(events.power_w[row]), 1.0)
    length_s = np.diff(edges)
    return float(length_s[above].sum()), float(np.dot(over_w[above], length_s[above]))
