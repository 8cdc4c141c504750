"""What parts of the machine drew at most, added up from a schedule alone: beside the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wattline.model.run import PowerBound
from wattline.shared_nodes.class_options import of_chosen
from wattline.shared_nodes.machine import FloatArray, SharedMachine
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.requests import Requests

ROUNDING = 1e-9


def over_bounds(machine: SharedMachine, requests: Requests, found: Schedule,
                bounds: Sequence[PowerBound]) -> Iterator[str]:
    """A line for each part that drew more than its limit."""
    for bound, peak_w in zip(bounds, peaks_w(machine, requests, found, bounds), strict=True):
        if peak_w > bound.limit_w * (1 + ROUNDING) + 1e-6:
            yield f"{bound.entity} draws {peak_w:.10g} W, and its limit is {bound.limit_w:.10g} W"


def peaks_w(machine: SharedMachine, requests: Requests, found: Schedule,
            bounds: Sequence[PowerBound]) -> list[float]:
    """The most that each part drew: its idle nodes, and what jobs add on its nodes.

    Jobs that were requeued or suspended are left out: of them only the last nodes are known.
    """
    job = found.allocation_job
    once = (found.requeues == 0) & (found.suspended_s == 0.0) & (found.end_s > found.start_s)
    rows = np.flatnonzero(once[job])
    watts = added_watts(machine, requests, found)[rows]
    start_s, end_s, node = found.start_s[job[rows]], found.end_s[job[rows]], \
        found.allocation_node[rows]
    time_s = np.concatenate((end_s, start_s))
    order = np.lexsort((np.repeat((0, 1), rows.size), time_s))  # ends come first
    found_w = []
    for bound in bounds:
        share = np.zeros(len(machine.nodes.names))
        share[bound.nodes] = 1.0 if bound.share is None else bound.share
        counted = watts * share[node]
        drawn_w = np.cumsum(np.concatenate((-counted, counted))[order])
        found_w.append(bound.idle_w + float(drawn_w.max(initial=0.0)))
    return found_w


def added_watts(machine: SharedMachine, requests: Requests, found: Schedule) -> FloatArray:
    """What a job adds on each node that it held, from its parts there.

    A job with all CPUs of its nodes may hold devices that draw nothing, as it was exclusive: its
    devices draw what its joules have beyond its CPUs, in equal parts.
    """
    nodes, job, node = machine.nodes, found.allocation_job, found.allocation_node
    of_kind = np.broadcast_to(nodes.gres_w, nodes.gres.shape)[node]
    of_cpus = found.allocation_cpus * nodes.cpu_w[node] * requests.cpu_load[job]
    of_devices = (found.allocation_gres * of_kind).sum(axis=1)
    count = len(found.start_s)
    run_s = np.where(found.end_s > found.start_s, found.end_s - found.start_s, np.inf)
    idle_w = found.allocation_cpus / nodes.cpus[node] * nodes.idle_w[node]
    rest_w = found.energy_j / run_s - np.bincount(job, idle_w + of_cpus, count)
    equal_w = (rest_w / np.maximum(np.bincount(job, minlength=count), 1))[job]
    is_shared = np.bincount(job, found.allocation_cpus < nodes.cpus[node], count)[job] > 0
    by_parts = of_cpus + np.where(is_shared, of_devices, np.clip(equal_w, 0.0, of_devices))
    options = requests.options
    measured_w = requests.power_per_node_w if options is None else of_chosen(
        requests.power_per_node_w, options.power_per_node_w, found.option)
    measured_w = measured_w[job]
    return np.where(np.isnan(measured_w), by_parts,
                    np.maximum(measured_w - nodes.idle_w[node], 0.0))
