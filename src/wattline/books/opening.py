"""Opening the books of a machine: its units, powers and reservations as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wattline.books.record import Record
from wattline.books.timers import WINDOW_END, WINDOW_START, push_timer
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.kernel import uncompiled
from wattline.model.machine import MOST_NODES, Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.unit_power import unit_share
from wattline.policies.state import OVER, State, make_state
from wattline.policies.state_records import UnitKind, Window


@dataclass(frozen=True)
class Terms:
    """How the books of a machine are kept, whatever its policy is."""

    granularity: Literal["node", "core"] = "node"
    overrun: Literal["extend", "kill"] = "extend"
    choose_nodes: bool = False
    """Whether individual nodes are chosen; otherwise units are only counted."""
    reservations: Sequence[Reservation] = field(default_factory=tuple)
    speeds_together: bool = False
    """Expected ends are not kept, and speeds change together: see the engine's `Rules`."""


def open_state(
    machine: Machine, terms: Terms, jobs: JobTable, size: Any, watts: Any, rows: int = 0
) -> State:
    """The state of an idle machine, with these jobs in its table and room for `rows`."""
    units = units_of(machine, terms.granularity)
    kinds, kind_of = _kinds(machine, terms.granularity)
    reference = machine.groups[0].node_class
    per_unit = unit_share(reference, terms.granularity)
    state = make_state(
        jobs,
        size,
        watts,
        units=units,
        idle_w=reference.power_w_idle * per_unit,
        off_w=reference.power_w_off * per_unit,
        nodes=units if terms.choose_nodes else 0,
        rows=rows,
        overrun_extends=terms.overrun == "extend",
        windows=_windows(terms.reservations),
        kinds=kinds,
        node_kind=kind_of if terms.choose_nodes else None,
    )
    _boot_figures(state, reference, per_unit)
    state.clock.together = terms.speeds_together
    return state


def units_of(machine: Machine, granularity: str) -> int:
    """What jobs are given: nodes or cores. Each has its place in memory, so there is an end."""
    units = machine.core_count if granularity == "core" else machine.node_count
    if units > MOST_NODES:
        raise InputError(f"{machine.name} has {units:,} {granularity}s; at most {MOST_NODES:,} can "
                         "be simulated")
    return units


def _kinds(machine: Machine, granularity: str) -> tuple[Any, IntArray]:
    kinds = UnitKind.table(len(machine.groups))
    counts = []
    for kind, group in zip(kinds, machine.groups, strict=True):
        share = unit_share(group.node_class, granularity)
        kind.idle_w = group.node_class.power_w_idle * share
        kind.active_w = group.node_class.power_w_active * share
        kind.speed = group.node_class.speed
        kind.count = group.count * (group.node_class.cores if granularity == "core" else 1)
        counts.append(int(kind.count))
    return kinds, np.repeat(np.arange(len(counts)), counts)


def _boot_figures(state: State, reference: NodeClass, per_unit: float) -> None:
    clock = state.clock[0]
    clock.boot_s = reference.boot_s
    clock.boot_w = reference.boot_power_w * per_unit
    clock.halt_s = reference.shutdown_s
    clock.halt_w = reference.shutdown_power_w * per_unit


def held_nodes(reservations: Sequence[Reservation]) -> list[Reservation]:
    """Those that keep nodes, in the order of their rows."""
    return sorted((r for r in reservations if r.nodes), key=lambda r: (r.start_s, r.end_s))


def _windows(reservations: Sequence[Reservation]) -> Any:
    held = held_nodes(reservations)
    windows = Window.table(len(held))
    for window, reservation in zip(windows, held, strict=True):
        window.start_s = reservation.start_s
        window.end_s = reservation.end_s
        window.units = reservation.nodes
    return windows


def set_window_timers(state: State, record: Record, first_s: float) -> None:
    meter = record.meter[0]
    for index, window in enumerate(state.windows):
        if window.end_s <= first_s:
            state.clock[0].windows -= 1
            window.stage = OVER
            continue
        for time_s, kind in ((window.start_s, WINDOW_START), (window.end_s, WINDOW_END)):
            with uncompiled():  # a few timers take less than a second of the compiler
                push_timer(state, meter.timers, max(float(time_s), first_s), kind, index)
            meter.timers += 1
