"""CPUs and memory that a job asks for by GPU, as those of its tasks and nodes.

sbatch: --cpus-per-gpu, --mem-per-gpu. The CPUs for all GPUs of the job are divided among its tasks,
rounded up; a node has memory for as many GPUs as the one with the most of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from wattline.scenario.twin.asked import Asked, Counter, Kind

ROUNDED = "asks for CPUs per GPU that its tasks cannot share equally: rounded up for each task"
NO_GPU = "asks for CPUs or memory per GPU and for no GPU: it gets none for that"


def settle_per_gpu(job: Asked, filled: Counter) -> bool:
    """Put them into what it asks for by task and node; whether there is anything."""
    if job.cpus_per_gpu < 1 and job.memory_per_gpu_mb < 1:
        return False
    per_node, per_job, per_task = (
        _gpus(asked) for asked in (job.gres_per_node, job.gres_per_job, job.gres_per_task))
    if per_node + per_job + per_task == 0:
        filled.note(NO_GPU, job.job_id)
        return False
    nodes = max(job.min_nodes, 1)
    tasks = job.tasks if job.tasks > 0 else nodes * max(job.tasks_per_node, 1)
    if job.cpus_per_gpu > 0:
        cpus = (per_node * nodes + per_job + per_task * tasks) * job.cpus_per_gpu
        if cpus > tasks and cpus % tasks:
            filled.note(ROUNDED, job.job_id)
        job.cpus_per_task = max(job.cpus_per_task, -(-cpus // tasks))
    if job.memory_per_gpu_mb > 0 and job.memory_per_node_mb < 0 and job.memory_per_cpu_mb < 0:
        if per_node + per_job == 0:
            of_task_mb = per_task * job.memory_per_gpu_mb
            job.memory_per_cpu_mb = -(-of_task_mb // max(job.cpus_per_task, 1))
        else:
            here = per_node - (-per_job // nodes) + per_task * -(-tasks // nodes)
            job.memory_per_node_mb = here * job.memory_per_gpu_mb
    return True


def needed_by_gpus(job: Asked, nodes: int) -> tuple[int, int]:
    """CPUs and MB of a node for its part of the GPUs that a job asks for in all."""
    here = -(-_gpus(job.gres_per_job) // nodes)
    return here * max(job.cpus_per_gpu, 0), here * max(job.memory_per_gpu_mb, 0)


def has_gpus(job: Asked) -> bool:
    return any(_gpus(asked) for asked in (job.gres_per_node, job.gres_per_job, job.gres_per_task))


def _gpus(asked: Mapping[Kind, int]) -> int:
    return sum(number for (name, _), number in asked.items() if name == "gpu")
