"""Joules by node class of a machine with shared nodes: idle power, and what jobs added to it."""

from __future__ import annotations

import math

import numpy as np

from wattline.model.machine import Machine
from wattline.shared_nodes.machine import FloatArray, SharedMachine
from wattline.shared_nodes.outcome import Schedule

ROUNDING = 1e-6


def class_energy_of(found: Schedule, shared: SharedMachine, machine: Machine, energy_j: float,
                    span_s: float) -> dict[str, float]:
    """Empty where it is not known: some jobs ran in several stretches, or nodes slept.

    What a job adds is shared by its nodes in proportion to the rated watts of what it holds there.
    """
    names = [group.node_class.name for group in machine.groups for _ in range(group.count)]
    classes = list(dict.fromkeys(names))
    if len(classes) == 1:
        return {classes[0]: energy_j}
    if found.requeues.any() or found.gap_job.size:
        return {}
    of_node = np.array([classes.index(name) for name in names])
    total_j = np.bincount(of_node, shared.nodes.idle_w) * span_s
    total_j += np.bincount(of_node[found.allocation_node], _added_j(found, shared), len(classes))
    if not math.isclose(float(total_j.sum()), energy_j, rel_tol=ROUNDING, abs_tol=1e-3):
        return {}  # nodes slept
    return dict(zip(classes, total_j.tolist(), strict=True))


def _added_j(found: Schedule, shared: SharedMachine) -> FloatArray:
    """Joules above idle of each job on each of its nodes."""
    nodes = shared.nodes
    job, node, cpus = found.allocation_job, found.allocation_node, found.allocation_cpus
    jobs = len(found.start_s)
    lasts_s = np.nan_to_num(found.end_s - found.start_s)
    idle_w = np.bincount(job, cpus / nodes.cpus[node] * nodes.idle_w[node], jobs)
    added_j = np.nan_to_num(found.energy_j) - idle_w * lasts_s
    device_w = np.broadcast_to(nodes.gres_w, nodes.gres.shape)[node]
    rated_w = cpus * nodes.cpu_w[node] + (found.allocation_gres * device_w).sum(axis=1)
    of_job_w = np.bincount(job, rated_w, jobs)[job]
    evenly = 1.0 / np.maximum(np.bincount(job, minlength=jobs), 1)[job]
    part = np.where(of_job_w > 0, rated_w / np.maximum(of_job_w, 1e-300), evenly)
    joules: FloatArray = part * added_j[job]
    return joules
