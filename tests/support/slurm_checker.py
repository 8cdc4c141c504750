"""Check that a schedule could have been: by the site's own files, apart from any simulator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor

from tests.support.slurm_files import Asked, Conf

LATE_S = 31.0
"""Limits are looked at every 30 s."""


@dataclass(frozen=True)
class Held:
    """Part of one node that a job had."""

    job: str
    node: str
    cpus: int
    memory_mb: int
    devices: int


@dataclass(frozen=True)
class Ran:
    start_s: float
    end_s: float


def broken_rules(
    conf: Conf, asked: Sequence[Asked], ran: Mapping[str, Ran], held: Iterable[Held],
    submit_limits: Mapping[str, int], refused: Iterable[str] = (),
) -> list[str]:
    """One line per rule that is broken; empty for a schedule that could have been."""
    jobs = {job.name: job for job in asked}
    rows = list(held)
    gone = set(refused)
    said = [f"{name} is lost" for name in jobs if name not in ran and name not in gone]
    said += [f"{name} was refused and ran" for name in gone if name in ran]
    by_job: dict[str, list[Held]] = defaultdict(list)
    for row in rows:
        by_job[row.job].append(row)
    for name, times in ran.items():
        said += _own_rules(conf, jobs[name], times, by_job[name])
    said += _overfull(conf, ran, rows)
    said += _too_many(asked, ran, submit_limits, gone)
    return said


def _own_rules(conf: Conf, job: Asked, times: Ran, rows: Sequence[Held]) -> list[str]:
    partition = conf.partitions[job.partition]
    needed = {
        "starts before it is submitted": times.start_s < job.submit_s - 1e-6,
        "has another number of nodes": len({row.node for row in rows}) != job.nodes,
        "has too few CPUs": sum(row.cpus for row in rows) < job.tasks,
        "is on nodes outside its partition": any(r.node not in partition.nodes for r in rows),
        "is on nodes without its feature": bool(job.feature) and any(
            job.feature not in conf.nodes[row.node].features for row in rows),
        "has too few devices": any(row.devices < job.devices for row in rows),
        "has too little memory": any(row.memory_mb < (
            partition.memory_per_cpu_mb * row.cpus if job.memory_mb is None else job.memory_mb)
            for row in rows),
        "uses a QOS that its partition does not allow":
            partition.qos is not None and job.qos not in partition.qos,
        "asks for more time than its partition has": job.limit_s > partition.most_s,
        "runs longer than its limit": times.end_s - times.start_s > job.limit_s + LATE_S,
        "runs shorter than it needs": _is_short(job, times),
    }
    return [f"{job.name} {what}" for what, broken in needed.items() if broken]


def _is_short(job: Asked, times: Ran) -> bool:
    """Slurm counts a limit in whole seconds: from 0.9 s to 60.0 s a job has run for a minute."""
    if job.run_s < 0.0:
        return False
    if job.run_s <= job.limit_s:
        return times.end_s - times.start_s < job.run_s - 1e-6
    return floor(times.end_s) - floor(times.start_s) < job.limit_s


def _overfull(conf: Conf, ran: Mapping[str, Ran], rows: Iterable[Held]) -> list[str]:
    """Nodes with more in use than they have, at any time; ends come before starts."""
    changes: dict[str, list[tuple[float, int, int, int, int]]] = defaultdict(list)
    for row in rows:
        times = ran[row.job]
        if times.end_s > times.start_s:
            changes[row.node].append((times.start_s, 1, row.cpus, row.memory_mb, row.devices))
            changes[row.node].append((times.end_s, 0, -row.cpus, -row.memory_mb, -row.devices))
    said = []
    for node, steps in changes.items():
        cpus = memory_mb = devices = 0
        has = conf.nodes[node]
        for at_s, _, more_cpus, more_mb, more_devices in sorted(steps):
            cpus, memory_mb, devices = cpus + more_cpus, memory_mb + more_mb, devices + more_devices
            if cpus > has.cpus or memory_mb > has.memory_mb or devices > has.devices:
                said.append(f"{node} has {cpus} CPUs, {memory_mb} MB, {devices} devices in use at "
                            f"{at_s:g} s")
                break
    return said


def _too_many(
    asked: Sequence[Asked], ran: Mapping[str, Ran], limits: Mapping[str, int], refused: set[str]
) -> list[str]:
    """Submissions over a limit, and refusals below it."""
    ends: list[tuple[float, str, str]] = sorted(
        (ran[job.name].end_s, job.user, job.qos) for job in asked if job.name in ran)
    there: Counter[tuple[str, str]] = Counter()
    said, place = [], 0
    for job in sorted(asked, key=lambda each: each.submit_s):
        while place < len(ends) and ends[place][0] <= job.submit_s:
            there[ends[place][1:]] -= 1
            place += 1
        full = there[job.user, job.qos] >= limits.get(job.qos, 1 << 60)
        if job.name in refused and not full:
            said.append(f"{job.name} was refused below the limit of its QOS")
        if job.name in ran:
            if full:
                said.append(f"{job.name} was taken over the limit of its QOS")
            there[job.user, job.qos] += 1
    return said
