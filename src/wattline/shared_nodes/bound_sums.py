"""What parts of the machine drew at most, added up from a schedule alone: beside the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wattline.model.run import NodeStays, PowerBound
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outcome import Schedule

ROUNDING = 1e-9
"""Relative; its own, not the slack that policies share (`model/cap_slack.py`)."""


def over_bounds(
    machine: SharedMachine, found: Schedule, bounds: Sequence[PowerBound]
) -> Iterator[str]:
    """A line for each part that drew more than its limit."""
    for bound, peak_w in zip(bounds, peaks_w(machine, found, bounds), strict=True):
        if peak_w > bound.limit_w * (1 + ROUNDING) + 1e-6:
            yield f"{bound.entity} draws {peak_w:.10g} W, and its limit is {bound.limit_w:.10g} W"


def peaks_w(
    machine: SharedMachine, found: Schedule, bounds: Sequence[PowerBound]
) -> list[float]:
    """The most that each part drew: its idle nodes, and what jobs added on its nodes.

    With every run of jobs that were requeued, and every stretch of those that were suspended.
    """
    held = stays_of(found)
    lasting = held.to_s > held.from_s
    watts, node = held.watts_w[lasting], held.node[lasting]
    time_s = np.concatenate((held.to_s[lasting], held.from_s[lasting]))
    order = np.lexsort((np.repeat((0, 1), watts.size), time_s))  # ends come first
    found_w = []
    for bound in bounds:
        share = np.zeros(len(machine.nodes.names))
        share[bound.nodes] = 1.0 if bound.share is None else bound.share
        counted = watts * share[node]
        drawn_w = np.cumsum(np.concatenate((-counted, counted))[order])
        found_w.append(bound.idle_w + float(drawn_w.max(initial=0.0)))
    return found_w


def stays_of(found: Schedule) -> NodeStays:
    """Who had what of which node from when to when, in all runs; those that were left first."""
    job = found.allocation_job
    last_w = np.where(found.never_up[job], 0.0, found.allocation_w)
    return NodeStays(
        job=np.concatenate((found.left_job, job)),
        node=np.concatenate((found.left_node, found.allocation_node)),
        cpus=np.concatenate((found.left_cpus, found.allocation_cpus)),
        watts_w=np.concatenate((found.left_w, last_w)),
        from_s=np.concatenate((found.left_from_s, found.allocation_from_s)),
        to_s=np.concatenate((found.left_to_s, found.end_s[job])),
        memory_mb=np.concatenate((found.left_memory_mb, found.allocation_memory_mb)),
        given_s=np.concatenate((found.left_given_s, found.allocation_given_s)))
