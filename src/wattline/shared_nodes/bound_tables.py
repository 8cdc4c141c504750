"""Limits of parts of the machine as the tables that kernels read: see bounds.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wattline.model.run import PowerBound
from wattline.shared_nodes.machine import IntArray, Nodes
from wattline.shared_nodes.same_rows import same_rows

ROUNDINGS = 1e-11
"""Of a limit: two sums of the same watts in another order are closer, unless tens of thousands."""
MOST_STARTS = 256
"""Requests for which it is kept from when on each part may have room."""


def bound_arrays(
    nodes: Nodes, bounds: Sequence[PowerBound], rows: int, plans: int, requests: int
) -> dict[str, Any]:
    """Which parts each node is in and the other way round, and what is left in each of them.

    `rows` are those of the table of allocations, `plans` those of planned jobs.
    """
    count = len(nodes.names)
    inside = [np.asarray(each.nodes, np.int64) for each in bounds]
    share = [np.ones(each.nodes.size) if each.share is None else each.share for each in bounds]
    node = np.concatenate([*inside, np.zeros(0, np.int64)])
    part = np.concatenate([*share, np.zeros(0)]).astype(np.float64)
    bound = np.repeat(np.arange(len(bounds)), [each.size for each in inside]).astype(np.int64)
    order = np.argsort(node, kind="stable")
    kept = 1 if bounds else 0  # what is not used takes no memory
    # A step now and one right after, where each of the jobs of the part is over, which have a CPU
    # at least, and where each plan begins and ends.
    steps = [4 + 2 * plans + 2 * int(nodes.cpus[each].sum()) for each in inside]
    slots = min(MOST_STARTS, requests) * kept
    return {
        "node_parts": np.searchsorted(node[order], np.arange(count + 1)).astype(np.int64),
        "part_bound": bound[order], "part_share": part[order],
        "bound_parts": np.searchsorted(bound, np.arange(len(bounds) + 1)).astype(np.int64),
        "bound_node": node, "bound_share": part,
        "bound_room_w": np.array([each.limit_w - each.idle_w for each in bounds], np.float64),
        "bound_added_w": np.zeros(len(bounds)), "bound_left_w": np.full(len(bounds), np.nan),
        "bound_slack_w": np.array([ROUNDINGS * each.limit_w for each in bounds], np.float64),
        "bound_least_share": np.array([each.min(initial=1.0) for each in share], np.float64),
        "bound_steps": np.cumsum([0, *steps]).astype(np.int64),
        "bound_count": np.zeros(len(bounds), np.int64),
        "bound_changes": np.zeros(len(bounds), np.int64),
        "bound_s": np.zeros(sum(steps)), "bound_w": np.zeros(sum(steps)),
        "start_ask": np.full(slots, -1), "start_cycle": np.full(slots, -1),
        "start_from_s": np.zeros(slots * len(bounds)),
        "start_seen": np.full(slots * len(bounds), -1),
        "no_watts_cycle": np.full((requests + 1) * kept, -1),
        "no_plan_cycle": np.full((requests + 1) * kept, -1),
        "plan_w": np.zeros(plans * len(bounds)),
        "row_w": np.zeros(rows), "barred": np.zeros((count + 1) * kept, np.int64),
        "barred_cpus": np.zeros((count + 1) * kept, np.int64),
        "all_open": np.zeros((count + 1) * kept, np.int64),
        "node_kind": _kinds(nodes) if bounds else np.zeros(0, np.int64),
    }


def even_shares(bounds: Sequence[PowerBound]) -> bool:
    """Whether each part counts all its nodes alike, so that a job adds the same on whichever."""
    return all(each.share is None or len(np.unique(each.share)) <= 1 for each in bounds)


def _kinds(nodes: Nodes) -> IntArray:
    """Numbers of nodes on which the same job draws the same."""
    of_devices = np.broadcast_to(nodes.gres_w, nodes.gres.shape)
    number, _ = same_rows(nodes.idle_w, nodes.cpu_w, *of_devices.T)
    return np.asarray(number, np.int64)
