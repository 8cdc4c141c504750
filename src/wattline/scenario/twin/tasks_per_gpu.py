"""Tasks that a job asks for by GPU, or GPUs by its tasks.

sbatch: --ntasks-per-gpu. With GPUs asked for, their number times that is the job's tasks, whatever
--ntasks says; without, --ntasks says how many GPUs of any type it has in all. Slurm refuses a job
at its submission that has neither, whose tasks leave a rest, or that has GPUs by task as well.
"""

from __future__ import annotations

from math import isfinite

from wattline.scenario.twin.asked import AskedJob
from wattline.scenario.twin.per_gpu import gpus_of


def settle_tasks_per_gpu(job: AskedJob) -> str:
    """Put tasks or GPUs into the job; why it contradicts itself, or nothing."""
    each = job.tasks_per_gpu
    if each < 1:
        return ""
    asks = f"asks for {each} tasks per GPU"
    if gpus_of(job.gres_per_task):
        return f"{asks}, and for GPUs per task"
    if job.tasks_per_node > 0:
        return f"{asks}, and for {job.tasks_per_node} per node"
    gpus = gpus_of(job.gres_per_job) + max(job.min_nodes, 1) * gpus_of(job.gres_per_node)
    if gpus:
        job.tasks = gpus * each
    elif job.tasks < 1:
        return f"{asks}, and for neither GPUs nor tasks"
    elif job.tasks % each:
        return f"{asks}, which its {job.tasks} tasks are no multiple of"
    else:
        job.gres_per_job[("gpu", "")] = job.tasks // each
    _spread(job)
    return ""


def _spread(job: AskedJob) -> None:
    """Over nodes that it counts, tasks are spread evenly, as Slurm 22.05.8 does."""
    if job.min_nodes > 1 and job.min_nodes == job.max_nodes and job.tasks % job.min_nodes == 0:
        job.tasks_per_node = job.tasks // job.min_nodes


def too_few_cpus(job: AskedJob) -> str:
    """Slurm refuses a job whose GPUs in all bring fewer CPUs than its tasks need.

    Not one that ran by the log: its tasks may be filled in from CPUs that were rounded up.
    """
    if isfinite(job.start_s):
        return ""
    cpus = gpus_of(job.gres_per_job) * job.cpus_per_gpu
    needed = job.tasks * max(job.cpus_per_task, 1)
    if 0 < cpus < needed:
        return f"asks for {needed} CPUs by its tasks, and for {cpus} by its GPUs"
    return ""
