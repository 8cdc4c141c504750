"""Runs to test with: a strict first-come-first-served schedule worked out the slow, plain way."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import EventKind, EventLog, Outcome, Placement, Run, Schedule
from wattline.model.signal import Signal

IDLE_W, ACTIVE_W = 100.0, 250.0


def some_jobs(count: int = 200, nodes: int = 16, seed: int = 1, **columns: Any) -> JobTable:
    rng = np.random.default_rng(seed)
    run_s = np.round(rng.lognormal(6.5, 1.2, count))
    submit_s = np.cumsum(np.round(rng.exponential(320.0, count)))
    return JobTable.build(
        submit_s=submit_s,
        run_s=run_s,
        requested_s=run_s * rng.integers(1, 5, count),
        procs=np.minimum(nodes, 2 ** rng.integers(0, 5, count)),
        user=rng.integers(0, 5, count),
        names={"user": ("ada", "bob", "chi", "dan", "eve")},
        **columns,
    )


def fcfs_run(
    jobs: JobTable, nodes: int = 16, cap_w: Signal | None = None, placed: bool = True
) -> Run:
    """Jobs in order, each on the lowest free nodes; one that is too large never runs."""
    machine = Machine.uniform(nodes, NodeClass(power_w_idle=IDLE_W, power_w_active=ACTIVE_W))
    count = len(jobs)
    start, end = np.full(count, np.nan), np.full(count, np.nan)
    energy, outcome = np.zeros(count), np.full(count, int(Outcome.NOT_RUN))
    given = np.zeros(count, dtype=np.int64)
    rows: list[tuple[float, int, int, float, int, int, float]] = []
    places: list[tuple[int, int, int]] = []
    free, held = set(range(nodes)), {}
    running: list[tuple[float, int]] = []
    queue: list[int] = []
    power_w = nodes * IDLE_W

    def log(time_s: float, kind: EventKind, job: int) -> None:
        drawn_w = job_power_w(job) if kind == EventKind.START else 0.0
        rows.append((time_s, int(kind), job, power_w, nodes - len(free), len(queue), drawn_w))

    def job_power_w(job: int) -> float:
        known = float(jobs.power_w[job])
        return known if not np.isnan(known) else float(jobs.procs[job] * ACTIVE_W)

    upcoming = 0
    while upcoming < count or running:
        times = [running[0][0]] if running else []
        times += [float(jobs.submit_s[upcoming])] if upcoming < count else []
        now = min(times)
        while running and running[0][0] == now:
            _, job = heapq.heappop(running)
            free |= held.pop(job)
            power_w += jobs.procs[job] * IDLE_W - job_power_w(job)
            log(now, EventKind.END, job)
        while upcoming < count and jobs.submit_s[upcoming] == now:
            if jobs.procs[upcoming] <= nodes:
                queue.append(upcoming)
            log(now, EventKind.SUBMIT, upcoming)
            upcoming += 1
        while queue and jobs.procs[queue[0]] <= len(free):
            job = queue.pop(0)
            mine = sorted(free)[: int(jobs.procs[job])]
            free -= set(mine)
            held[job] = set(mine)
            places.extend((job, first, size) for first, size in _runs(mine))
            start[job], given[job] = now, jobs.procs[job]
            allowed_s = min(float(jobs.run_s[job]), float(jobs.requested_s[job]))
            end[job] = now + allowed_s
            energy[job] = job_power_w(job) * allowed_s
            killed = jobs.run_s[job] > jobs.requested_s[job]
            outcome[job] = int(Outcome.KILLED if killed else Outcome.COMPLETED)
            heapq.heappush(running, (end[job], job))
            power_w += job_power_w(job) - jobs.procs[job] * IDLE_W
            log(now, EventKind.START, job)
    schedule = Schedule(start, end, given, energy, outcome, np.zeros(count, dtype=np.int64))
    return _finish(jobs=jobs, machine=machine, rows=rows, schedule=schedule,
                   places=places if placed else None, cap_w=cap_w)


def _runs(units: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for unit in units:
        if found and sum(found[-1]) == unit:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((unit, 1))
    return found


def _finish(*, jobs: JobTable, machine: Machine, rows: list[Any], schedule: Schedule,
            places: list[Any] | None, cap_w: Signal | None) -> Run:
    table = np.array(rows, dtype=np.float64).reshape(-1, 7)
    time_s, kind, job, power_w, busy, queued, value = table.T
    events = EventLog(time_s.copy(), kind.astype(np.int64), job.astype(np.int64), power_w.copy(),
                      busy.astype(np.int64), queued.astype(np.int64), value.copy())
    held_s = np.diff(time_s, append=time_s[-1])
    energy_j = float(np.dot(power_w, held_s))
    above_s, above_j = _above(time_s, power_w, cap_w) if cap_w else (0.0, 0.0)
    spots = np.array(places if places is not None else [], dtype=np.int64).reshape(-1, 3)
    return Run(
        jobs=jobs, schedule=schedule, events=events, machine=machine, units=machine.node_count,
        start_s=float(time_s[0]), end_s=float(time_s[-1]), energy_j=energy_j,
        class_energy_j={"node": energy_j}, time_above_cap_s=above_s, energy_above_cap_j=above_j,
        power_w_peak=float(power_w[held_s > 0].max(initial=0.0)), cap_w=cap_w,
        placement=Placement(*spots.T.copy()) if places is not None else None,
        engine_s=0.25,
        scenario={"name": "hand-made", "seed": 7, "trace": {"unix_start_s": 844_000_000},
                  "policy": {"order": "fcfs", "backfill": "none"}},
        notes={"wakes": 3.0},
    )


def _above(time_s: Any, power_w: Any, cap_w: Signal) -> tuple[float, float]:
    """Second by second would do; the plain way is to cut each step at each change of the cap."""
    above_s = above_j = 0.0
    for begin, finish, power in zip(time_s[:-1], time_s[1:], power_w[:-1], strict=True):
        cuts = [begin, *[t for t in cap_w.time_s if begin < t < finish], finish]
        for low, high in itertools.pairwise(cuts):
            over_w = power - cap_w.at(low)
            if over_w > 0:
                above_s += high - low
                above_j += over_w * (high - low)
    return above_s, above_j


def changed(run: Run, part: str, **columns: Any) -> Run:
    """The run with columns of its schedule, events or placement replaced."""
    return replace(run, **{part: replace(getattr(run, part), **columns)})
