"""Associations and QOS as the tables of the books: shares, usage, billing, who preempts whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.shared_nodes.machine import FloatArray, SharedMachine
from wattline.shared_nodes.preempt_loops import without_circles
from wattline.shared_nodes.resets import reset_times
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.share_tree import depth_of, share_parents, share_parts


def association_arrays(machine: SharedMachine, rules: Rules) -> dict[str, Any]:
    """The tree of associations before anything was used, and what QOS say."""
    tree = machine.associations
    count = len(tree.parent)
    parent = share_parents(tree)
    part = share_parts(tree, parent)
    depth = np.array([depth_of(parent, row) for row in range(count)], np.int64)
    order = np.argsort(depth, kind="stable").astype(np.int64)
    norm = np.ones(count)
    for row in order:
        if parent[row] >= 0:
            norm[row] = norm[parent[row]] * (part[row] if part[row] >= 0 else 1.0)
    users = np.flatnonzero(tree.user >= 0).astype(np.int64)
    qos = machine.qos
    return {
        "assoc_parent": parent, "assoc_part": part, "assoc_norm": norm, "assoc_depth": depth,
        "assoc_by_depth": order, "assoc_usage": np.zeros(count), "assoc_rate": np.zeros(count),
        "assoc_pending": np.zeros(count), "assoc_since": np.zeros(count),
        "assoc_factor": np.ones(count), "assoc_level": np.zeros(count),
        "users_order": users.copy(), "users_scratch": users.copy(),
        "billing": _billing(machine, rules).ravel(),
        "reset_s": reset_times(rules.priority.reset_period, rules.unix_start_s),
        # A job without a QOS (row -1) finds the last one here, which counts fully.
        "usage_factor": np.append(qos.usage_factor.astype(np.float64), 1.0),
        "qos_preempts": without_circles(qos.preempts)[0].ravel(),
        "qos_rank": np.minimum(qos.priority, 0xFFFF).astype(np.int64),
        "qos_mode": qos.preempt_mode.astype(np.int64).copy(),
        "qos_grace": qos.grace_s.astype(np.float64).copy(),
        "qos_no_reserve": qos.no_reserve.copy(),
        "assoc_tried": np.zeros(count, np.int64),
        "user_tried": np.zeros(len(tree.users) + 1, np.int64),
    }


def _billing(machine: SharedMachine, rules: Rules) -> FloatArray:
    weights = np.zeros((len(machine.partitions.names), machine.resources))
    weights[:, 0] = 1.0
    for row, given in enumerate(rules.priority.billing):
        if given:
            weights[row] = 0.0
            weights[row, : len(given)] = given
    return weights
