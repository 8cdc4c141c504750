"""CPUs and memory that a job asks for by GPU, as those of its tasks and nodes.

sbatch: --cpus-per-gpu, --mem-per-gpu. The CPUs for all GPUs of the job are divided among its tasks,
rounded up; a node has memory for its GPUs. Of GPUs that a job asks for in all it is known only with
its nodes how many each has: the rules of the machine then give it CPUs and memory for these.
"""

from __future__ import annotations

from collections.abc import Mapping

from wattline.scenario.twin.asked import AskedJob, Counter, Kind

ROUNDED = "asks for CPUs per GPU that its tasks cannot share equally: rounded up for each task"
NO_GPU = "asks for CPUs or memory per GPU and for no GPU: it gets none for that"


def settle_per_gpu(job: AskedJob, filled: Counter) -> bool:
    """Put them into what it asks for by task and node; whether there is anything."""
    if job.cpus_per_gpu < 1 and job.memory_per_gpu_mb < 1:
        return False
    if not has_gpus(job):
        filled.note(NO_GPU, job.job_id)
        return False
    if gpus_of(job.gres_per_job):
        if job.memory_per_node_mb >= 0 or job.memory_per_cpu_mb >= 0:
            job.memory_per_gpu_mb = -1  # what it says of nodes or CPUs counts
        return True
    per_node, per_task = gpus_of(job.gres_per_node), gpus_of(job.gres_per_task)
    nodes = max(job.min_nodes, 1)
    tasks = job.tasks if job.tasks > 0 else nodes * max(job.tasks_per_node, 1)
    if job.cpus_per_gpu > 0:
        cpus = (per_node * nodes + per_task * tasks) * job.cpus_per_gpu
        if cpus > tasks and cpus % tasks:
            filled.note(ROUNDED, job.job_id)
        job.cpus_per_task = max(job.cpus_per_task, -(-cpus // tasks))
    if job.memory_per_gpu_mb > 0 and job.memory_per_node_mb < 0 and job.memory_per_cpu_mb < 0:
        if per_node == 0:
            of_task_mb = per_task * job.memory_per_gpu_mb
            job.memory_per_cpu_mb = -(-of_task_mb // max(job.cpus_per_task, 1))
        else:
            here = per_node + per_task * -(-tasks // nodes)
            job.memory_per_node_mb = here * job.memory_per_gpu_mb
    return True


def has_gpus(job: AskedJob) -> bool:
    return any(gpus_of(asked) for asked in (job.gres_per_node, job.gres_per_job, job.gres_per_task))


def gpus_of(asked: Mapping[Kind, int]) -> int:
    return sum(number for (name, _), number in asked.items() if name == "gpu")
