"""What sbatch makes of tasks, nodes and names of nodes before Slurm sees a job.

sbatch: --ntasks, --nodes, --nodelist, --ntasks-per-node; as tried on Slurm 22.05.8. A list of nodes
asks for all of them at least. A job has no more nodes than tasks, where it says both ("can't run 1
processes on 2 nodes, setting nnodes to 1"); of a longer list the first ones are left, in order of
names. More nodes by name than at most by number are refused, and so are more tasks than so many
nodes may have.
"""

from __future__ import annotations

from math import isfinite

from wattline.scenario.twin.asked import AskedJob


def too_many_named(job: AskedJob, named: int) -> str:
    """Why a job that names so many nodes is refused, or nothing."""
    if 0 < job.max_nodes < named:
        return f"names more nodes ({named:,}) than it asks for at most ({job.max_nodes:,})"
    return ""


def too_many_tasks(job: AskedJob) -> str:
    """Why a job has more tasks than fit on the most nodes that it asks for, or nothing."""
    most = job.max_nodes * job.tasks_per_node
    if job.max_nodes > 0 and 0 < most < job.tasks and not isfinite(job.start_s):
        return (f"more tasks ({job.tasks:,}) than its nodes may have with "
                f"{job.tasks_per_node:,} on each ({most:,})")
    return ""


def settle_nodes(job: AskedJob, named: int = -1) -> None:
    """Let a job ask for as many nodes as it names, and for no more than it has tasks.

    One that had more by a log was not submitted so, or its tasks are filled in.
    """
    job.min_nodes = max(job.min_nodes, named)
    if 0 < job.tasks < job.min_nodes and job.nodes < job.min_nodes:
        job.min_nodes = job.max_nodes = job.tasks
        job.node_range = False
