"""From jobs, machine and caps to the arrays that the loop runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wattline.books.opening import (
    Terms,
    open_state,
    set_window_timers,
    units_of,
)
from wattline.books.record import SPARE_ROWS, Record, make_record
from wattline.engine.world import CAP, Ends, Nature, Simulated, make_ends
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.kernel_arrays import Mould
from wattline.model.machine import Machine
from wattline.model.reservation import Reservation
from wattline.model.signal import FloatArray, Signal
from wattline.model.unit_power import unit_active_w
from wattline.policies.memory import bound, memories
from wattline.policies.state import State


@dataclass(frozen=True)
class Rules:
    """The rules of a simulation beside its policy."""

    granularity: Literal["node", "core"] = "node"
    overrun: Literal["extend", "kill"] = "extend"
    choose_nodes: bool = False
    """Whether individual nodes are chosen; otherwise units are only counted."""
    cap_w: Signal | None = None
    cap_counts: Literal["machine", "jobs"] = "machine"
    """What time above the cap is measured of; policies are told by themselves (`jobs_only`)."""
    reservations: Sequence[Reservation] = field(default_factory=tuple)
    user_share: Sequence[float] = field(default_factory=tuple)
    """Share of each user by code, for orders that weigh it; empty: none."""
    signals: Mapping[str, Signal] = field(default_factory=dict)
    """Step functions that a policy written in Python is shown, by name."""
    event_rows: int = SPARE_ROWS
    """Room in the event log, beyond three rows per job, to begin with; it grows as it must."""
    logged: Mapping[str, Any] = field(default_factory=dict)
    """Further columns of the log, one value per job, for policies that ask for them."""
    nature: Nature = field(default_factory=Nature)
    """What the simulated world knows and policies do not."""
    speeds_together: bool = False
    """For policies that change the speeds of many jobs at once and do not plan by expected ends:
    those are not kept, and the log has one row for all changes of speed of a decision."""

    @property
    def terms(self) -> Terms:
        return Terms(self.granularity, self.overrun, self.choose_nodes, self.reservations,
                     self.speeds_together)


def sizes_of(jobs: JobTable, machine: Machine, granularity: str) -> IntArray:
    """Units that each job asks for: its processors, or the whole nodes that hold them."""
    return units_of_procs(jobs.procs, machine, granularity)


def units_of_procs(procs: IntArray, machine: Machine, granularity: str) -> IntArray:
    if granularity == "core":
        return procs
    cores = {group.node_class.cores for group in machine.groups}
    if len(cores) > 1:
        raise InputError("nodes of several core counts need granularity = 'core'")
    per_node = cores.pop()
    return -(-procs // per_node)


def shares_of(jobs: JobTable, rules: Rules) -> FloatArray:
    """The share of each job's user; 0 where nobody says."""
    if not len(rules.user_share):
        return np.zeros(len(jobs))
    share = np.asarray(rules.user_share, dtype=np.float64)
    return np.where(jobs.user >= 0, share[np.maximum(jobs.user, 0)], 0.0)


def prepare(
    jobs: JobTable, machine: Machine, rules: Rules
) -> tuple[State, Record, Simulated]:
    """Arrays for a simulation from its first submission on."""
    units = units_of(machine, rules.granularity)
    size = sizes_of(jobs, machine, rules.granularity)
    _check(jobs, size, units)
    own = ~np.isnan(jobs.power_w)
    watts = np.where(own, jobs.power_w, size * unit_active_w(machine, rules.granularity))
    state = open_state(machine, rules.terms, jobs, size, watts)
    state.live.own_watts = own
    state.jobs.share = shares_of(jobs, rules)
    first_s = float(jobs.submit_s[0]) if len(jobs) else 0.0
    caps = cap_steps(rules, first_s)
    record = make_record(len(jobs), len(caps), first_s, state.nodes.size, rules.event_rows)
    world = _world(jobs, rules, make_ends(len(state.running), caps))
    state.clock.now_s = first_s
    if len(caps):
        state.clock.cap_w_max = np.max(caps.cap_w)
    set_window_timers(state, record, first_s)
    return state, record, world


def highest_cap_w(state: State, steps: Any) -> float:
    """The highest cap of a state under another policy, with these steps to come.

    It never falls, as it does not where a policy goes on or a controller is told another cap: a job
    that no cap of now has room for waits for one that has. So the policy that is there gives the
    same starts whether it goes on or takes over from itself.
    """
    if not len(steps):
        return np.inf
    return max(float(state.clock[0].cap_w_max), float(np.max(steps.cap_w)))


class Opening:
    """Books, filled once, from which any number of runs of the same jobs begin.

    They may differ in their policy, and in what nature knows.
    """

    def __init__(self, jobs: JobTable, machine: Machine, rules: Rules) -> None:
        self.jobs, self.machine, self.rules = jobs, machine, rules
        state, record, world = prepare(jobs, machine, rules)
        self._state, self._record = Mould(state), Mould(record)
        self._ends = Mould(world.ends)

    def begin(self, rules: Rules) -> tuple[State, Record, Simulated]:
        """Arrays of a run's own; `rules` are those of the opening, but for their nature."""
        world = _world(self.jobs, rules, self._ends.cast())
        return self._state.cast(), self._record.cast(), world


def _world(jobs: JobTable, rules: Rules, ends: Ends) -> Simulated:
    """The world with arrays of its own, which knows these jobs."""
    world = Simulated(ends, *bound(rules.nature, len(jobs)))
    for memory in memories(world).values():
        memory.annotate(0, jobs, rules.logged)
    return world


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


def cap_steps(rules: Rules, first_s: float) -> Any:
    """The steps of the cap from the first instant on."""
    cap = effective_cap(rules)
    if cap is None:
        return np.zeros(0, CAP).view(np.recarray)
    later = cap.time_s > first_s
    steps = np.zeros(1 + int(later.sum()), CAP).view(np.recarray)
    steps.time_s = np.concatenate([[first_s], cap.time_s[later]])
    steps.cap_w = np.concatenate([[cap.at(first_s)], cap.value[later]])
    return steps


def note_caps(clock: Any, steps: Any) -> None:
    """Caps that a policy brings with it. One that is lower refuses nobody who waits for a higher
    one, in a simulation as on a machine: that may come back."""
    highest_w = float(np.max(steps.cap_w)) if len(steps) else np.inf
    clock.cap_w_max = max(float(clock.cap_w_max), highest_w)
