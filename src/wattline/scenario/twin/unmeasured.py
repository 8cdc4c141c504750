"""Jobs of a log with measured watts that has none of theirs: what is taken instead, and how much.

They draw what the parts of their nodes do. So that nobody takes that for measured, it is said with
the joules that rest on it, by the run times of the log.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from wattline.model.units import format_energy
from wattline.scenario.twin.asked import AskedJob, Counter
from wattline.scenario.twin.section import MOST_WATTS
from wattline.shared_nodes.machine import Nodes

EMPTY = "has no measured watts, as others of the log have"
NO_NUMBER = "its measured watts are no number"
NOT_ABOVE_0 = "its measured watts are not above 0"
TOO_MANY = f"its measured watts are above {MOST_WATTS:,.0f} W per node"


def put_watts(job: AskedJob, per_node_w: float, is_empty: bool = False) -> None:
    """Let the job draw what was measured, or note why it does not."""
    if 0 < per_node_w <= MOST_WATTS:
        job.power_per_node_w = per_node_w
    elif math.isnan(per_node_w):
        job.unmeasured = EMPTY if is_empty else NO_NUMBER
    else:
        job.unmeasured = NOT_ABOVE_0 if per_node_w <= 0 else TOO_MANY


def say_unmeasured(jobs: Sequence[AskedJob], whole: Sequence[bool], nodes: Nodes,
                   filled: Counter) -> None:
    """Jobs that had whole nodes alone: the watts of others are those of parts in any case."""
    mine = [job for job, alone in zip(jobs, whole, strict=True) if alone]
    measured_j = sum(_node_seconds(job) * job.power_per_node_w for job in mine
                     if not math.isnan(job.power_per_node_w))
    for why in dict.fromkeys(job.unmeasured for job in mine if job.unmeasured):
        if why == EMPTY and measured_j == 0:
            continue  # a log without measured watts, whatever its columns are
        listed = [job for job in mine if job.unmeasured == why]
        parts_j = sum(_node_seconds(job) * _parts_w(job, nodes) for job in listed)
        said = (f"{why}: power from the parts of a node instead, about {format_energy(parts_j)} "
                f"beside {format_energy(measured_j)} that were measured")
        for job in listed:
            filled.note(said, job.job_id)


def _node_seconds(job: AskedJob) -> float:
    found = max(job.nodes, 1) * (job.end_s - job.start_s - job.suspended_s)
    return max(found, 0.0) if math.isfinite(found) else 0.0  # one that still ran has no end


def _parts_w(job: AskedJob, nodes: Nodes) -> float:
    """Of a node of mean size, with all of its CPUs and the devices that the job asks for on it."""
    watts = float((nodes.idle_w + nodes.cpus * nodes.cpu_w).mean())
    for (name, model), number in job.gres_per_node.items():
        columns = [at for at, kind in enumerate(nodes.gres_kinds)
                   if kind[0] == name and model in ("", kind[1])]
        watts += number * float(nodes.gres_w[:, columns].max(initial=0.0))
    return watts
