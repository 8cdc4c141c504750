"""From jobs, machine and caps to the arrays that the loop runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wattline.engine.timers import WINDOW_END, WINDOW_START, push_timer
from wattline.engine.world import CAP, SPARE_ROWS, World, make_world
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import MOST_NODES, Machine, NodeClass
from wattline.model.reservation import Reservation
from wattline.model.signal import FloatArray, Signal
from wattline.policies.state import KIND, WINDOW, State, make_state


@dataclass(frozen=True)
class Rules:
    """The rules of a simulation beside its policy."""

    granularity: Literal["node", "core"] = "node"
    overrun: Literal["extend", "kill"] = "extend"
    choose_nodes: bool = False
    """Whether individual nodes are chosen; otherwise units are only counted."""
    cap_w: Signal | None = None
    reservations: Sequence[Reservation] = field(default_factory=tuple)
    user_share: Sequence[float] = field(default_factory=tuple)
    """Share of each user by code, for orders that weigh it; empty: none."""
    signals: Mapping[str, Signal] = field(default_factory=dict)
    """Step functions that a policy written in Python is shown, by name."""
    event_rows: int = SPARE_ROWS
    """Room in the event log, beyond three rows a job, to begin with; it grows as it must."""
    numbers: int = 0
    """Room for figures that a policy keeps between decisions."""
    speeds_together: bool = False
    """For policies that change the speeds of many jobs at once and do not plan by expected ends:
    those are not kept, and the log has one row for all changes of speed of a decision."""


def units_of(machine: Machine, granularity: str) -> int:
    """What jobs are given: nodes or cores. Each has its place in memory, so there is an end."""
    units = machine.core_count if granularity == "core" else machine.node_count
    if units > MOST_NODES:
        raise InputError(f"{machine.name} has {units:,} {granularity}s; at most {MOST_NODES:,} can "
                         "be simulated")
    return units


def sizes_of(jobs: JobTable, machine: Machine, granularity: str) -> IntArray:
    """Units that each job asks for: its processors, or the whole nodes that hold them."""
    if granularity == "core":
        return jobs.procs
    cores = {group.node_class.cores for group in machine.groups}
    if len(cores) > 1:
        raise InputError("nodes of several core counts need granularity = 'core'")
    per_node = cores.pop()
    return -(-jobs.procs // per_node)


def prepare(jobs: JobTable, machine: Machine, rules: Rules) -> tuple[State, World]:
    """Arrays for a simulation from its first submission on."""
    units = units_of(machine, rules.granularity)
    size = sizes_of(jobs, machine, rules.granularity)
    _check(jobs, size, units)
    per_unit = _per_unit(machine, rules.granularity)
    kinds, kind_of = _kinds(machine, per_unit)
    own = ~np.isnan(jobs.power_w)
    reference = machine.groups[0].node_class
    watts = np.where(own, jobs.power_w, size * reference.power_w_active * per_unit)
    state = make_state(
        jobs,
        size,
        watts,
        units=units,
        idle_w=reference.power_w_idle * per_unit,
        off_w=reference.power_w_off * per_unit,
        nodes=units if rules.choose_nodes else 0,
        numbers=rules.numbers,
        overrun_extends=rules.overrun == "extend",
        windows=_windows(rules.reservations),
        kinds=kinds,
        node_kind=kind_of if rules.choose_nodes else None,
    )
    state.live.own_watts = own
    _boot_figures(state, reference, per_unit)
    if len(rules.user_share):
        share = np.asarray(rules.user_share, dtype=np.float64)
        state.jobs.share = np.where(jobs.user >= 0, share[np.maximum(jobs.user, 0)], 0.0)
    first_s = float(jobs.submit_s[0]) if len(jobs) else 0.0
    caps = _cap_steps(rules, first_s)
    world = make_world(len(jobs), caps, first_s, state.nodes.size, rules.event_rows)
    state.clock.now_s = first_s
    state.clock.together = rules.speeds_together
    if len(caps):
        state.clock.cap_w_max = np.max(caps.cap_w)
    _set_window_timers(state, world, first_s)
    return state, world


def _check(jobs: JobTable, size: IntArray, units: int) -> None:
    too_large = np.flatnonzero(size > units)
    if too_large.size:
        row = too_large[0]
        raise InputError(
            f"job {jobs.job_id[row]} asks for {size[row]} units and the machine has {units} "
            f"({too_large.size} such jobs); drop them when reading the log"
        )
    if np.any(size < 1) or np.any(~(jobs.run_s >= 0)) or np.any(~(jobs.requested_s >= 0)):
        raise InputError("every job needs a size of at least 1 and times that are not negative")
    if np.any(jobs.power_w < 0):
        row = np.flatnonzero(jobs.power_w < 0)[0]
        raise InputError(f"job {jobs.job_id[row]}: power_w is {jobs.power_w[row]:g} W, "
                         "must be at least 0")


def _per_unit(machine: Machine, granularity: str) -> float:
    """What part of a node's power a unit has: a core its part of the node's."""
    return 1.0 / machine.groups[0].node_class.cores if granularity == "core" else 1.0


def _kinds(machine: Machine, per_unit: float) -> tuple[Any, IntArray]:
    kinds = np.zeros(len(machine.groups), KIND).view(np.recarray)
    counts = []
    for kind, group in zip(kinds, machine.groups, strict=True):
        share = 1.0 if per_unit == 1.0 else 1.0 / group.node_class.cores
        kind.idle_w = group.node_class.power_w_idle * share
        kind.active_w = group.node_class.power_w_active * share
        kind.speed = group.node_class.speed
        kind.count = group.count if per_unit == 1.0 else group.count * group.node_class.cores
        counts.append(int(kind.count))
    return kinds, np.repeat(np.arange(len(counts)), counts)


def _boot_figures(state: State, reference: NodeClass, per_unit: float) -> None:
    clock = state.clock[0]
    clock.boot_s = reference.boot_s
    clock.boot_w = reference.boot_power_w * per_unit
    clock.halt_s = reference.shutdown_s
    clock.halt_w = reference.shutdown_power_w * per_unit


def _windows(reservations: Sequence[Reservation]) -> Any:
    held = sorted((r for r in reservations if r.nodes), key=lambda r: (r.start_s, r.end_s))
    windows = np.zeros(len(held), WINDOW).view(np.recarray)
    for window, reservation in zip(windows, held, strict=True):
        window.start_s = reservation.start_s
        window.end_s = reservation.end_s
        window.units = reservation.nodes
    return windows


def effective_cap(rules: Rules) -> Signal | None:
    """The cap less the watts that reservations keep free while they last."""
    held = [r for r in rules.reservations if r.watts]
    if rules.cap_w is None or not held:
        return rules.cap_w
    times: FloatArray = np.unique(
        np.concatenate([rules.cap_w.time_s, *([r.start_s, r.end_s] for r in held)])
    )
    value = rules.cap_w.sample(times)
    for reservation in held:
        inside = (times >= reservation.start_s) & (times < reservation.end_s)
        value = value - inside * reservation.watts
    return Signal(times, value, "W")


def _cap_steps(rules: Rules, first_s: float) -> Any:
    cap = effective_cap(rules)
    if cap is None:
        return np.zeros(0, CAP).view(np.recarray)
    later = cap.time_s > first_s
    steps = np.zeros(1 + int(later.sum()), CAP).view(np.recarray)
    steps.time_s = np.concatenate([[first_s], cap.time_s[later]])
    steps.cap_w = np.concatenate([[cap.at(first_s)], cap.value[later]])
    return steps


def _set_window_timers(state: State, world: World, first_s: float) -> None:
    meter = world.meter[0]
    for index, window in enumerate(state.windows):
        if window.end_s <= first_s:
            state.clock[0].windows -= 1
            continue
        for time_s, kind in ((window.start_s, WINDOW_START), (window.end_s, WINDOW_END)):
            push_timer(state, meter.timers, max(float(time_s), first_s), kind, index)
            meter.timers += 1
