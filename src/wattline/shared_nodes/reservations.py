"""Nodes that are kept for some jobs for a time, as tables; reserving.py has the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.shared_nodes.machine import BoolArray, IntArray, Reservations, SharedMachine
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.state_waiting import Resv


def no_reservations(nodes: int) -> Reservations:
    none = np.zeros(0)
    flags = np.zeros(0, bool)
    return Reservations((), np.zeros((0, nodes), bool), none, none, none, flags, flags)


def reservations_of(machine: SharedMachine) -> Reservations:
    return no_reservations(len(machine.nodes.names)) if machine.reservations is None \
        else machine.reservations


def asked_reservations(requests: Requests) -> IntArray:
    """Per job the row of the reservation that it is to run in, or -1."""
    if requests.reservation is None:
        return np.full(len(requests.submit_s), -1)
    return requests.reservation


def reserved_nodes(machine: SharedMachine, reservation: int) -> BoolArray:
    """The nodes of one reservation, or all nodes for -1."""
    if reservation < 0:
        return np.ones(len(machine.nodes.names), bool)
    return np.asarray(reservations_of(machine).nodes[reservation])


def reservation_arrays(machine: SharedMachine) -> dict[str, Any]:
    """Reservations, their nodes, and the times at which one begins or ends."""
    found = reservations_of(machine)
    resv: Any = Resv.table(len(found.names))
    resv["start_s"], resv["end_s"], resv["kill_s"] = found.start_s, found.end_s, found.kill_s
    resv["maint"], resv["overlap"], resv["failed"] = found.maintenance, found.overlaps, -1
    times = np.unique(np.concatenate((found.start_s, found.end_s)))
    return {"resv": resv, "resv_nodes": found.nodes.ravel().copy(),
            "resv_s": times[np.isfinite(times)],
            "closed": np.zeros(len(machine.nodes.names), np.int64)}
