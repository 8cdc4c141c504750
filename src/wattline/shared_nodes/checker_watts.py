"""Do jobs draw what their parts draw? Watts and joules added up again, from the results alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.shared_nodes.bound_sums import stays_of
from wattline.shared_nodes.class_options import of_chosen
from wattline.shared_nodes.machine import FloatArray, SharedMachine
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.requests import Requests

ROUNDING = 1e-9
"""Relative; the checker's own, not the slack that policies share (`model/cap_slack.py`)."""


def watts_of_parts(
    machine: SharedMachine, requests: Requests, found: Schedule
) -> Iterator[str]:
    """On each node a job adds what its CPUs and devices draw, or what was measured or claimed.

    A job with all CPUs of a node may hold devices that it did not ask for, which draw nothing.
    """
    nodes, job, node = machine.nodes, found.allocation_job, found.allocation_node
    of_cpus_w = found.allocation_cpus * nodes.cpu_w[node] * requests.cpu_load[job]
    of_kind_w = np.broadcast_to(nodes.gres_w, nodes.gres.shape)[node]
    most_w = of_cpus_w + (found.allocation_gres * of_kind_w).sum(axis=1)
    least_w = np.where(found.allocation_cpus < nodes.cpus[node], most_w, of_cpus_w)
    options = requests.options
    of_job_w = requests.power_per_node_w if options is None else of_chosen(
        requests.power_per_node_w, options.power_per_node_w, found.option)
    measured_w = of_job_w[job]
    is_measured = ~np.isnan(measured_w)
    above_w = np.maximum(measured_w - nodes.idle_w[node], 0.0)
    least_w, most_w = (np.where(is_measured, above_w, each) for each in (least_w, most_w))
    apart = (found.allocation_w < least_w - 1e-6) | (found.allocation_w > most_w + 1e-6)
    for row in np.flatnonzero(apart)[:1].tolist():
        yield (f"job in row {job[row]} adds {found.allocation_w[row]:.10g} W on "
               f"{nodes.names[node[row]]}, where its parts draw {least_w[row]:.10g} to "
               f"{most_w[row]:.10g} W")


def joules_of_stays(machine: SharedMachine, found: Schedule) -> Iterator[str]:
    """All that jobs had on nodes, with their part of the idle power, makes their joules."""
    drawn_j = drawn_on_nodes_j(machine, found)
    energy_j = np.where(np.isfinite(found.end_s), found.energy_j, drawn_j)
    apart = ~np.isclose(drawn_j, energy_j, rtol=ROUNDING, atol=1e-3)
    for row in np.flatnonzero(apart)[:1].tolist():
        yield (f"job in row {row} has {found.energy_j[row]:.10g} J, and drew {drawn_j[row]:.10g} J "
               "on its nodes")


def drawn_on_nodes_j(machine: SharedMachine, found: Schedule) -> FloatArray:
    held, nodes = stays_of(found), machine.nodes
    idle_w = held.cpus / nodes.cpus[held.node] * nodes.idle_w[held.node]
    return np.bincount(held.job, (held.watts_w + idle_w) * (held.to_s - held.from_s),
                       len(found.start_s)).astype(np.float64)
