"""Joules by node class: idle power of all its nodes, and what jobs drew above it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.books.log import END, PAUSE, RESUME, START
from wattline.model.machine import Machine
from wattline.model.run import EventLog, Placement
from wattline.model.signal import FloatArray


def class_energy(
    machine: Machine, kinds: Any, log: EventLog, units: Any, placement: Placement | None,
    meter: Any, end_s: float,
) -> dict[str, float]:
    """What a job drew above idle is shared by its nodes in proportion to their own rise.

    A job that was paused may have gone on elsewhere, so the sum is over its stays on nodes.
    """
    if len(machine.groups) == 1 or placement is None:
        return {machine.groups[0].node_class.name: float(meter.energy_j)}
    stay_s, stay_j, stay = _stays(log, units, placement)
    nodes = _nodes_by_class(kinds, placement, stay, stay_s.size)
    rise_w = nodes * (kinds.active_w - kinds.idle_w)[:, None]
    share = _shares(rise_w, nodes)
    above_j = stay_j - (nodes * kinds.idle_w[:, None]).sum(axis=0) * stay_s
    span_s = end_s - float(meter.start_s)
    energy: FloatArray = kinds.idle_w * kinds.count * span_s + (share * above_j).sum(axis=1)
    by_class: dict[str, float] = {}
    for group, joules in zip(machine.groups, energy, strict=True):
        name = group.node_class.name
        by_class[name] = by_class.get(name, 0.0) + float(joules)
    return by_class


def _stays(
    log: EventLog, units: Any, placement: Placement
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
    """Length and joules of each stay of a job on nodes, and the stay that each run belongs to.

    Runs of nodes are written down in the order in which stays begin.
    """
    begin = np.flatnonzero(np.isin(log.kind, (START, RESUME)))
    finish = np.flatnonzero(np.isin(log.kind, (END, PAUSE)))
    # A job's stays follow each other, so sorting both by job pairs them.
    by_job = np.argsort(log.job[begin], kind="stable")
    ends = finish[np.argsort(log.job[finish], kind="stable")]
    job = log.job[ends]
    total_j = log.value[ends]
    before_j = np.where(np.append(True, job[1:] != job[:-1])[: job.size], 0.0,
                        np.append(0.0, total_j)[: job.size])
    stay_s, stay_j = np.zeros(begin.size), np.zeros(begin.size)
    stay_s[by_job] = log.time_s[ends] - log.time_s[begin[by_job]]
    stay_j[by_job] = total_j - before_j
    filled = np.cumsum(units[log.job[begin]])
    first = np.cumsum(placement.count) - placement.count
    return stay_s, stay_j, np.searchsorted(filled, first, "right")


def _nodes_by_class(
    kinds: Any, placement: Placement, stay: npt.NDArray[np.intp], stays: int
) -> FloatArray:
    """How many nodes of each class each stay held."""
    bounds = np.concatenate([[0], np.cumsum(kinds.count)])
    nodes = np.zeros((len(kinds), stays))
    for index in range(len(kinds)):
        low = np.maximum(placement.first, bounds[index])
        high = np.minimum(placement.first + placement.count, bounds[index + 1])
        np.add.at(nodes[index], stay, np.maximum(high - low, 0))
    return nodes


def _shares(rise_w: FloatArray, nodes: FloatArray) -> FloatArray:
    """By the rise of the nodes; by their number where active nodes draw no more than idle ones."""
    weight = np.where(rise_w.sum(axis=0) > 0, rise_w, nodes)
    shares: FloatArray = weight / np.maximum(weight.sum(axis=0), 1e-300)
    return shares
