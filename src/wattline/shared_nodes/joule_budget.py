"""An energy budget of a machine with shared nodes, as it is given, and as the tables of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.physics.budget_terms import CHARGE_NOW
from wattline.shared_nodes.machine import FloatArray, IntArray, Nodes
from wattline.shared_nodes.same_rows import same_rows
from wattline.shared_nodes.state_joules import JouleBook, Page

PAGES = 64


@dataclass(frozen=True, eq=False)
class JouleBudget:
    """Periods one after the other, each with `energy_j`; after the planned ones the last repeats.

    Slots are those of the whole-node budget (`policies.admission.budget_setup.slot_tables`).
    """

    energy_j: float
    start_s: float
    length_s: float
    min_w: float
    """Of all nodes idle, whether they sleep or not..."""
    max_w: float
    """...and of all nodes busy: a slot that is planned with so much holds nobody back."""
    edge_s: FloatArray
    order: IntArray
    first: IntArray
    carry: int = 0
    unspent: int = 0
    hold: int = 0
    """1: jobs that no period has room for are held instead of refused."""
    switching_j: float = 0.0
    """Nodes that wake draw idle power, which every period pays for anyway..."""
    switching_s: float = 0.0
    """...and the time that they take counts as the job's."""


def joule_arrays(budget: JouleBudget | None, entries: int, nodes: Nodes) -> dict[str, Any]:
    """The book before anything was drawn; without a budget all of it is empty."""
    if budget is None:
        return {"book": JouleBook.table(0), "page": Page.table(0), "slot_edge_s": np.zeros(0),
                "slot_order": np.zeros(0, np.int64), "slot_first": np.zeros(0, np.int64),
                "alone_w": np.zeros(0), "alone_s": np.zeros(0), "watt_kind": np.zeros(0, np.int64)}
    book: Any = JouleBook.table(1)
    for name in ("start_s", "length_s", "energy_j", "min_w", "max_w", "carry", "unspent"):
        book[name] = getattr(budget, name)
    book["patience_s"] = (len(budget.first) + 2) * budget.length_s  # see joules_alone.py too
    book["slot_end_s"] = budget.start_s
    book["idle_since_s"] = budget.start_s
    book["summed_moves"] = -1
    return {"book": book, "page": Page.table(PAGES if budget.carry == CHARGE_NOW else 0),
            "slot_edge_s": budget.edge_s.astype(np.float64),
            "slot_order": budget.order.astype(np.int64),
            "slot_first": budget.first.astype(np.int64),
            "alone_w": np.full(entries, np.inf), "alone_s": np.zeros(entries),
            "watt_kind": _kinds(nodes), "shut_nodes": np.zeros(len(nodes.names), np.int64),
            "were_open": np.zeros(len(nodes.names), np.int64)}


def _kinds(nodes: Nodes) -> IntArray:
    """Numbers of nodes on which a job that is alone draws the same."""
    of_devices = np.broadcast_to(nodes.gres_w, nodes.gres.shape)
    number, _ = same_rows(nodes.idle_w, nodes.cpu_w, nodes.cpus, nodes.threads_per_core,
                          *nodes.gres.T, *of_devices.T)
    return np.asarray(number, np.int64)
