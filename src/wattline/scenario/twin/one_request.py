"""Devices that a job asks for in several ways at once: one request with several conditions.

sbatch: --gpus (in all), --gpus-per-node and --gres (on each node), --gpus-per-task. They are not
added up: in all divided by each node says how many nodes it has, in all divided by each task how
many tasks, and each node divided by each task how many tasks a node. Slurm refuses a job at its
submission where that leaves a rest or contradicts -N, -n or --ntasks-per-node.
"""

from __future__ import annotations

from wattline.scenario.twin.asked import AskedJob, Kind


def settle_devices(job: AskedJob) -> str:
    """Let one way of asking stand for all; why the job contradicts itself, or nothing."""
    for kind in {*job.gres_per_job, *job.gres_per_node, *job.gres_per_task}:
        ways = [asked.get(kind, 0) for asked in (
            job.gres_per_job, job.gres_per_node, job.gres_per_task)]
        if sum(number > 0 for number in ways) > 1 and not _settle(job, kind, *ways):
            return f"asks for {_said(kind, *ways)}, which contradicts its nodes or tasks or itself"
    return ""


def _settle(job: AskedJob, kind: Kind, in_all: int, on_node: int, by_task: int) -> bool:
    if in_all and on_node:
        if in_all % on_node or not _set_nodes(job, in_all // on_node):
            return False
        del job.gres_per_job[kind]
    if in_all and by_task:
        if in_all % by_task or job.tasks not in (-1, in_all // by_task):
            return False
        job.tasks = in_all // by_task
        job.gres_per_job.pop(kind, None)
    if on_node and by_task:
        each = on_node // by_task
        if on_node % by_task or job.tasks_per_node not in (-1, each):
            return False
        job.tasks_per_node = each
        del job.gres_per_task[kind]
    return True


def _set_nodes(job: AskedJob, nodes: int) -> bool:
    """Whether the job may have so many; then it has."""
    if nodes < job.min_nodes or 0 < job.max_nodes < nodes:
        return False
    job.min_nodes = job.max_nodes = nodes
    return True


def _said(kind: Kind, in_all: int, on_node: int, by_task: int) -> str:
    name = ":".join(filter(None, kind))
    ways = ((in_all, "in all"), (on_node, "on each node"), (by_task, "for each task"))
    return ", ".join(f"{number} {name} {where}" for number, where in ways if number)
