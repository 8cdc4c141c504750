"""Jobs that had their nodes alone by the log, and whose measured watts are theirs alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from wattline.scenario.twin.asked import AskedJob, Counter
from wattline.scenario.twin.unmeasured import say_unmeasured
from wattline.shared_nodes.machine import Nodes
from wattline.site.lines import hosts_of

EXCLUSIVE = "had all CPUs of its nodes and asked for fewer: exclusive"
SHARED = ("its joules are of nodes that it may have shared: power from the parts of a node instead")
ABOVE_PARTS = ("was measured above what the parts of its nodes draw together: the measured watts "
               "count, and the machine may draw more than its parts")
BELOW_IDLE = "was measured below the idle power of its nodes: it counts as idle power"


def mark_whole_nodes(
    jobs: Sequence[AskedJob], nodes: Nodes, row_of: Mapping[str, int], filled: Counter
) -> None:
    """Note who had whole nodes; measured watts stay with these alone.

    A meter is of a node: what several jobs drew on it cannot be told apart, and would be counted
    once for each of them.
    """
    alone = []
    full_w = nodes.idle_w + nodes.cpus * nodes.cpu_w + (nodes.gres * nodes.gres_w).sum(axis=1)
    for job in jobs:
        rows = [row_of[name] for name in hosts_of(job.node_list, job.where)
                if name in row_of] if job.node_list else []
        whole = _is_whole(job, nodes, rows)
        alone.append(whole)
        if rows and whole and not job.exclusive and _cpus_asked(job) < job.cpus:
            job.exclusive = True
            filled.note(EXCLUSIVE, job.job_id)
        if math.isnan(job.power_per_node_w):
            continue
        if not whole:
            job.power_per_node_w = math.nan
            filled.note(SHARED, job.job_id)
        elif job.power_per_node_w < float((nodes.idle_w[rows] if rows else nodes.idle_w).min()):
            filled.note(BELOW_IDLE, job.job_id)
        elif job.power_per_node_w > float((full_w[rows] if rows else full_w).max()):
            filled.note(ABOVE_PARTS, job.job_id)
    say_unmeasured(jobs, alone, nodes, filled)


def _cpus_asked(job: AskedJob) -> int:
    """Where its tasks are not said they are those of its nodes, one each at least."""
    tasks = job.tasks if job.tasks > 0 else max(job.min_nodes, 1) * max(job.tasks_per_node, 1)
    return tasks * max(job.cpus_per_task, 1)


def _is_whole(job: AskedJob, nodes: Nodes, rows: Sequence[int]) -> bool:
    """By its CPUs where the log has them; without them only a job that asked for it."""
    if job.cpus < 1:
        return job.exclusive
    if rows:
        return job.cpus >= int(nodes.cpus[rows].sum())
    return job.exclusive or job.cpus >= max(job.nodes, 1) * int(nodes.cpus.max())
