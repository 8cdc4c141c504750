"""Caps and limits of parts that nothing on the machine can reach: they are none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.cap import ROUNDING_W
from wattline.shared_nodes.machine import FloatArray, SharedMachine
from wattline.shared_nodes.requests import Requests


def within_reach(
    machine: SharedMachine, requests: Requests, cap: Signal | None, bounds: Sequence[PowerBound]
) -> tuple[Signal | None, Sequence[PowerBound]]:
    """The cap, unless it is never below what all nodes can draw together, and of the limits those
    below what their nodes can draw."""
    if cap is None and not bounds:
        return None, ()
    most_w = most_node_watts(machine, requests)
    if cap is not None and cap.value.min() >= most_w.sum() - ROUNDING_W:
        cap = None
    added_w = most_w - machine.nodes.idle_w
    kept = [bound for bound in bounds if bound.limit_w - bound.idle_w
            < (added_w[bound.nodes] * (1.0 if bound.share is None else bound.share)).sum()
            - ROUNDING_W]
    return cap, kept


def most_node_watts(machine: SharedMachine, requests: Requests) -> FloatArray:
    """Of each node with all its parts in use.

    Jobs with watts of their own, measured or by class of node, may draw more than its parts, and as
    many of them as fit share a node: then there is no saying.
    """
    nodes = machine.nodes
    if requests.options is not None or not np.isnan(requests.power_per_node_w).all():
        return np.full(len(nodes.names), np.inf)
    of_cpus_w = nodes.cpus * nodes.cpu_w * requests.cpu_load.max(initial=0.0)
    return np.asarray(nodes.idle_w + of_cpus_w + (nodes.gres * nodes.gres_w).sum(axis=1))
