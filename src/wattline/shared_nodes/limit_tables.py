"""Tables of limits that kernels read: classes of jobs with equal ones, and their groups."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from wattline.shared_nodes.filled import OVER_JOB_LIMIT, Filled, Pairs
from wattline.shared_nodes.machine import NO_LIMIT, NODE, BoolArray, IntArray, SharedMachine
from wattline.shared_nodes.memberships import Memberships, memberships
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.same_rows import same_rows


def limit_classes(
    machine: SharedMachine, requests: Requests, rules: Rules, filled: Filled, pairs: Pairs,
    there: dict[str, Any], job_tres: IntArray,
) -> tuple[Memberships, IntArray]:
    """The classes of equal limits; jobs that break one by themselves wait for ever,
    or are refused where their QOS has it so."""
    if not rules.enforce_limits or not len(pairs.job):
        found, _ = memberships(machine, [(-1, -1, -1)])
        return found, np.zeros(len(pairs.job), np.int64)
    part_qos = machine.partitions.qos[pairs.partition]
    qos, association = requests.qos[pairs.job], requests.association[pairs.job]
    number, first = same_rows(part_qos, qos, association)
    keys = [(int(part_qos[row]), int(qos[row]), int(association[row])) for row in first]
    found, alone = memberships(machine, keys)
    over = (job_tres[pairs.job] > alone.tres[number]).any(axis=1)
    over |= there["min_nodes"] > alone.tres[number][:, NODE]
    over |= filled.columns["limit_s"][pairs.job] > alone.wall_s[number]
    fine = np.zeros(len(requests.submit_s), np.int64)
    np.add.at(fine, pairs.job, ~over)
    over_alone = (fine == 0) & (pairs.count > 0)
    denies = machine.qos.deny_on_limit
    if denies is not None and len(denies):
        denied = over_alone & (requests.qos >= 0) & denies[np.maximum(requests.qos, 0)]
        filled.refused[denied & (filled.refused == 0)] = OVER_JOB_LIMIT
    filled.never[over_alone & (filled.never == 0)] = OVER_JOB_LIMIT
    return found, number


def member_tables(machine: SharedMachine, found: Memberships, requests: Requests) -> dict[str, Any]:
    groups = max(len(found.groups), 1)
    tres = np.array(found.tres, dtype=np.int64).reshape(-1)
    arrays = int(requests.array.max(initial=-1)) + 1
    rows = _group_rows(found, groups)
    return {
        "member_first": np.array(found.first, np.int64),
        "member_last": np.array(found.last, np.int64),
        "member_group": np.array(found.group, np.int64), "member_tres": tres,
        "alone_tres": np.array(found.job_tres, dtype=np.int64).reshape(-1),
        "member_jobs": np.array(found.jobs, np.int64),
        "member_submit": np.array(found.submit, np.int64),
        "group_tres": np.zeros(groups * machine.resources, np.int64),
        "group_row": rows, "class_counts_nodes": counting_classes(found),
        "group_node_jobs": np.zeros((rows.max() + 1) * len(machine.nodes.names), np.int64),
        "group_jobs": np.zeros(groups, np.int64), "group_submit": np.zeros(groups, np.int64),
        "array_running": np.zeros(arrays, np.int64), "array_held": np.zeros(arrays, np.int64),
        "array_cycle": np.full(arrays, -1),
    }


def _group_rows(found: Memberships, groups: int) -> IntArray:
    """Of groups with a limit on nodes their row in the table of nodes in use; -1 of others."""
    limited = sorted({group for group, tres in zip(found.group, found.tres, strict=True)
                      if tres[NODE] < NO_LIMIT})
    rows = np.full(groups, -1)
    rows[limited] = np.arange(len(limited))
    return rows


def counting_classes(found: Memberships) -> BoolArray:
    """The classes of limits of which one is on nodes."""
    limited = np.array([tres[NODE] < NO_LIMIT for tres in found.tres], np.bool_)
    return np.array([limited[first:last].any() for first, last in itertools.pairwise(found.first)],
                    np.bool_)
