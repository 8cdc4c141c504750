"""A machine with shared nodes and its jobs in the tables that every run has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.units import fold_hosts
from wattline.scenario.twin.asked import NEVER_ENDS_S, AskedJob, plain_numbers
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.in_partition import LONGEST_S, limits_there_s
from wattline.shared_nodes.machine import SharedMachine
from wattline.traces.convert import slurm_state
from wattline.traces.raw import encode
from wattline.traces.trace import Trace


def machine_of(shared: SharedMachine) -> Machine:
    """Runs of equal nodes as groups; a core is a CPU that Slurm schedules."""
    nodes = shared.nodes
    full_w = nodes.idle_w + nodes.cpus * nodes.cpu_w + (nodes.gres * nodes.gres_w).sum(axis=1)
    groups: list[NodeGroup] = []
    begin = 0
    same = [*zip(nodes.cpus, nodes.sockets, nodes.idle_w, full_w, strict=True)]
    names: dict[tuple[float, ...], str] = {}
    for row in range(1, len(same) + 1):
        if row < len(same) and same[row] == same[begin]:
            continue
        cpus, sockets, idle_w, active_w = same[begin]
        name = names.setdefault(same[begin], nodes.names[begin])
        node = NodeClass(name, int(cpus), int(sockets), float(idle_w), float(active_w))
        groups.append(NodeGroup(node, row - begin))
        begin = row
    return Machine(tuple(groups), shared.cluster, "site", fold_hosts(nodes.names))


def trace_of(site: Site, source: str) -> Trace:
    """The jobs with what the log says of them."""
    jobs = site.log.jobs
    start_s = np.array([job.start_s for job in jobs])
    header = {} if site.log.unix_start_s is None else {
        "UnixStartTime": f"{site.log.unix_start_s:.0f}"}
    wait_s = start_s - site.made.requests.submit_s
    logged = {"wait_s": wait_s} if site.log.has_starts else {}
    return Trace(job_table(site), header, source=source, logged=logged,
                 remarks=tuple(f"{source}: {line}" for line in (
                     *site.log.left_out, *site.made.unfit, *site.log.filled, *site.made.filled)))


def job_table(site: Site) -> JobTable:
    """One row per request; a job that runs into its limit needs as long as that."""
    jobs, requests, machine = site.log.jobs, site.made.requests, site.machine
    limit_s = effective_limits_s(site)
    endless = requests.run_s >= NEVER_ENDS_S
    run_s = np.where(endless, np.where(limit_s < NEVER_ENDS_S, limit_s, requests.run_s),
                     requests.run_s)
    names = {"user": [job.user for job in jobs], "group": [job.account for job in jobs],
             "queue": [machine.qos.names[row] if row >= 0 else "" for row in requests.qos],
             "partition": [job.partition or _default_name(machine) for job in jobs]}
    coded = {column: encode(texts) for column, texts in names.items()}
    return JobTable.build(
        submit_s=requests.submit_s, run_s=run_s, requested_s=limit_s, procs=_cpus(jobs),
        job_id=_numbers(jobs),
        status=np.array([slurm_state(job.state) if job.state else -1 for job in jobs]),
        names={column: found[1] for column, found in coded.items()},
        **{column: found[0] for column, found in coded.items()})


def effective_limits_s(site: Site) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The limit that holds for each job: its own, or the longest of those of its partitions."""
    requests = site.made.requests
    job, partition = np.nonzero(requests.partitions)
    there_s = limits_there_s(site.machine, requests, site.rules, job, partition)
    found = np.zeros(len(requests.limit_s))
    np.maximum.at(found, job, np.where(there_s >= LONGEST_S, NEVER_ENDS_S, there_s))
    said = (requests.limit_s >= 0) & np.isfinite(requests.limit_s)
    return np.where(said, requests.limit_s, found)


def _default_name(machine: SharedMachine) -> str:
    row = machine.partitions.default
    return machine.partitions.names[row] if row >= 0 else ""


def _cpus(jobs: Sequence[AskedJob]) -> IntArray:
    """CPUs that each asks for, as far as it says."""
    found = []
    for job in jobs:
        nodes, per_task = max(1, job.min_nodes), max(1, job.cpus_per_task)
        tasks = max(job.tasks, max(1, job.tasks_per_node) * nodes, 1)
        found.append((job.tasks if job.tasks > 0 else tasks) * per_task)
    return np.array(found, dtype=np.int64)


def _numbers(jobs: Sequence[AskedJob]) -> IntArray:
    """Numbers of the jobs where all have one of their own, else they are counted."""
    return np.array(plain_numbers(jobs) or range(1, len(jobs) + 1), dtype=np.int64)
