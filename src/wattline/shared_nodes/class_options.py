"""Classes of node among which a job chooses: which it likes best, and what it needs on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.shared_nodes.machine import FloatArray, IntArray, SharedMachine
from wattline.shared_nodes.same_rows import same_rows
from wattline.shared_nodes.state import NEVER_S


@dataclass(frozen=True, eq=False)
class ClassOptions:
    """One row per option of a job, its best first; jobs without one get nodes of any class."""

    class_of_node: IntArray
    """Row of the class of each node, or -1."""
    first: IntArray
    """Jobs + 1: where the options of each begin."""
    kind: IntArray
    """Row of the class that an option is of; a job may have several of one class."""
    score: FloatArray
    """Lower is better."""
    claimed_s: FloatArray
    """Time that the job is believed to need, by which a class is passed over."""
    run_s: FloatArray
    """What the job then needs."""
    power_per_node_w: FloatArray
    """Mean watts of each of its nodes, idle power included."""
    patience: float = 0.0
    """Options that score worse than the best by more than this are none; 0: all are."""


def option_arrays(machine: SharedMachine, options: ClassOptions | None) -> dict[str, Any]:
    """The tables of the books; without options they are empty."""
    if options is None:
        none, nothing = np.zeros(0, np.int64), np.zeros(0)
        return {"kind_of_node": none, "option_kind": none.copy(), "option_row": none.copy(),
                "option_left": none.copy(), "shut_nodes": none.copy(), "were_open": none.copy(),
                **{name: nothing.copy() for name in (
                    "option_score", "option_claimed_s", "option_s", "option_w", "option_alone_w",
                    "option_after_s", "option_until_s", "fall_s")}}
    count, nodes = len(options.kind), len(machine.nodes.names)
    return {
        "kind_of_node": options.class_of_node.astype(np.int64),
        "option_kind": options.kind.astype(np.int64), "option_row": np.arange(count),
        "option_left": np.zeros(count, np.int64),
        "option_score": options.score.astype(np.float64),
        "option_claimed_s": options.claimed_s.astype(np.float64),
        "option_s": options.run_s.astype(np.float64),
        "option_w": options.power_per_node_w.astype(np.float64),
        "option_alone_w": np.zeros(count), "option_after_s": np.full(count, -NEVER_S),
        "option_until_s": np.full(count, NEVER_S), "fall_s": np.zeros(0),
        "shut_nodes": np.zeros(nodes, np.int64), "were_open": np.zeros(nodes, np.int64),
    }


def option_columns(options: ClassOptions | None) -> dict[str, Any]:
    """Columns of the table of asks."""
    if options is None:
        return {"option": -1}
    return {"first_option": options.first[:-1], "options": np.diff(options.first), "option": -1}


def option_numbers(options: ClassOptions | None, job: IntArray) -> IntArray:
    """The same number for jobs that choose alike, of which one that fails speaks for the others."""
    if options is None:
        return np.zeros(len(job), np.int64)
    count = np.diff(options.first)
    most = int(count.max(initial=0))
    columns: list[Any] = [count]
    for place in range(most):
        at = np.minimum(options.first[:-1] + place, len(options.kind) - 1)
        columns += [np.where(place < count, column[at], 0.0) for column in (
            options.kind, options.score, options.claimed_s, options.power_per_node_w)]
    return np.asarray(same_rows(*columns)[0])[job]


def least_option_watts(
    machine: SharedMachine, options: ClassOptions, job: IntArray, entry: Any
) -> FloatArray:
    """`least_w` of the entries: a job never adds less on any of its classes, nor as it is."""
    idle_w = np.zeros(max(options.class_of_node.max(initial=-1), options.kind.max(initial=-1)) + 1)
    known = options.class_of_node >= 0
    np.maximum.at(idle_w, options.class_of_node[known], machine.nodes.idle_w[known])
    added_w = np.maximum(options.power_per_node_w - idle_w[options.kind], 0.0)
    least_w = np.full(len(options.first) - 1, np.inf)
    np.minimum.at(least_w, np.repeat(np.arange(len(least_w)), np.diff(options.first)), added_w)
    return np.asarray(np.minimum(entry["least_w"], least_w[job] * entry["min_nodes"]))


def of_chosen(own: FloatArray, of_option: FloatArray, chosen: IntArray) -> FloatArray:
    """A figure of each job: by the option that it ran by, else its own."""
    found = own.copy()
    has = np.flatnonzero(chosen >= 0)
    found[has] = of_option[chosen[has]]
    return found
