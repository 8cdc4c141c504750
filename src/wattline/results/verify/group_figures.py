"""Figures by size, user and node class, worked out again for the rule of printed figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import TOLERANCE, held_s

MOST_USERS = 20
"""Only the users who used most are told."""
LABELS = {"by_size": "nodes", "by_user": "user", "by_class": "class"}
Rows = npt.NDArray[np.intp]


def told_groups(told: Mapping[str, Any]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return what is told of each group, by table and by the group's name."""
    return {table: {f"{each[label]}": each for each in told[table]}
            for table, label in LABELS.items() if isinstance(told.get(table), list)}


def sizes(run: Run, rows: Rows) -> dict[str, Rows]:
    """Rows of jobs by powers of two of their units: 1, 2, 3-4, 5-8, and so on."""
    power = np.ceil(np.log2(np.maximum(run.schedule.nodes[rows], 1))).astype(int)
    return {_between(each): rows[power == each] for each in np.unique(power).tolist()}


def _between(power: int) -> str:
    return str(2**power) if power < 2 else f"{2 ** (power - 1) + 1}-{2**power}"


def users(run: Run, rows: Rows, unit_s: FloatArray) -> dict[str, Rows]:
    """Rows of jobs of the users who used most, with all that are level with the last of them."""
    codes, user = np.unique(run.jobs.user[rows], return_inverse=True)
    used = np.bincount(user, unit_s, len(codes))
    top = np.argsort(-used, kind="stable")[:MOST_USERS]
    tied = np.flatnonzero(used >= used[top[-1]] * (1 - TOLERANCE)) if len(top) else top
    names = run.jobs.names.get("user", ())
    found = {}
    for each in tied.tolist():
        code = int(codes[each])
        name = "unknown" if code < 0 else names[code] if code < len(names) else str(code)
        found[name] = rows[user == each]
    return found


def classes(run: Run, rows: Rows) -> dict[str, dict[str, Any]]:
    """Nodes, joules and jobs of each class; which jobs is known of one, or by named nodes."""
    found: dict[str, dict[str, Any]] = {}
    by_core, first = run.units != run.machine.node_count, 0
    names = {group.node_class.name for group in run.machine.groups}
    ran = np.zeros(len(run.jobs), dtype=np.bool_)
    ran[rows] = True
    for group in run.machine.groups:
        name = group.node_class.name
        units = group.count * (group.node_class.cores if by_core else 1)
        mine = found.setdefault(name, {"nodes": 0, "jobs": None})
        mine["nodes"] += group.count
        mine["energy_j"] = run.class_energy_j.get(name, math.nan)
        if len(names) == 1:
            mine["jobs"] = rows
            span_s = run.units * (run.end_s - run.start_s)
            busy_s = float(np.sum(run.events.busy * held_s(run)))
            mine["busy"] = busy_s / span_s if span_s > 0 else math.nan
        elif run.placement is not None:
            place = run.placement
            inside = (place.first < first + units) & (place.first + place.count > first)
            there = np.zeros(len(run.jobs), dtype=np.bool_)
            there[place.job[inside]] = True
            here = np.flatnonzero(there & ran)
            mine["jobs"] = here if mine["jobs"] is None else np.union1d(mine["jobs"], here)
        first += units
    return found
