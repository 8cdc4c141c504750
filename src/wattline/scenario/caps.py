"""The power cap of a scenario as a step function, and whether anything keeps it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from wattline.analysis.series import power_steps
from wattline.engine.prepare import Rules, sizes_of
from wattline.engine.simulate import simulate
from wattline.model.cap_value import RATED, Uncapped, is_cap_value, percentile_w, read_cap_value
from wattline.model.errors import InputError, in_callers_terms
from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.reading import is_file
from wattline.model.run import Run
from wattline.model.run_clock import RunClock
from wattline.model.signal import FloatArray, Signal
from wattline.model.unit_power import unit_share
from wattline.model.units import counted
from wattline.physics.powercap import CapChange, DrawLimits, PowerCap, WattReservation
from wattline.policies.contract import Composition
from wattline.policies.going_together import KEEPERS, is_moldable
from wattline.policies.registry import is_place, places
from wattline.policies.regulation.none import NoRegulation
from wattline.scenario.model import CapPlan, CapStep, Scenario
from wattline.scenario.times import clock_of
from wattline.traces.signals import read_cap

CHOICES = (f"choose a power policy that does with --power-policy (policy.power): "
           f"{', '.join(KEEPERS)}; or only measure the time above it with --watch-cap "
           "(power.watch_cap)")

OF_JOBS = ("block", "wait", "dvfs")
"""Power policies whose cap may count running jobs only."""

NO_CAP = "none"
"""Written for a cap that there is not: the one to compare others with."""


NOR = ", nor a file, nor none"


def without_cap(scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Take `cap = "none"` at its word, and say which policy has nothing to keep then."""
    none = {name: None for name in ("cap", "watch_cap")
            if getattr(scenario.power, name) == NO_CAP}
    if not none:
        return scenario, ()
    changes: dict[str, Any] = {"power": scenario.power.model_copy(update=none)}
    said: tuple[str, ...] = ()
    power = name_of(scenario.policy.power)
    if "cap" in none and power in KEEPERS:
        changes["policy"] = scenario.policy.model_copy(update={"power": "none"})
        said = (f"power.cap is none: the power policy '{power}' has nothing to keep and is left "
                "out",)
    return scenario.model_copy(update=changes), said


def has_keeper(scenario: Scenario, in_python: bool = False) -> bool:
    """Whether some policy would take a cap for one that it has to keep.

    A policy in Python sees the cap, so that it may keep it: whether it does is its business.
    """
    if scenario.twin is not None:
        return True  # its own scheduler does, and knows one that is only watched
    chosen = scenario.policy
    configure = name_of(chosen.configure)
    # A mistake that is named later.
    unknown = not is_place(configure) and configure not in places()["configure"]
    return (in_python or chosen.python is not None or name_of(chosen.power) != "none"
            or is_moldable(configure) or unknown)


def check_kept(scenario: Scenario, in_python: bool) -> None:
    """A cap needs somebody who keeps it; one that is only watched must have nobody."""
    kept = has_keeper(scenario, in_python)
    if scenario.power.cap_counts == "jobs":
        _check_counts(scenario, in_python)
    if scenario.power.cap is not None and not kept:
        raise InputError(f"power.cap: nothing keeps it; {CHOICES}")
    if scenario.power.watch_cap is not None and kept:
        raise InputError("power.watch_cap: it is measured and not kept, but the policy would take "
                         "it for a cap; give --cap (power.cap) instead")


def _check_counts(scenario: Scenario, in_python: bool) -> None:
    """A cap on running jobs is known to three policies, which tell jobs from idle nodes."""
    policy = scenario.policy
    power, configure = name_of(policy.power), name_of(policy.configure)
    if in_python or policy.python is not None or power not in OF_JOBS:
        raise InputError("power.cap_counts is 'jobs', which the power policies "
                         f"{', '.join(OF_JOBS)} know; with any other a cap counts the machine")
    if configure != "requested":
        raise InputError("power.cap_counts is 'jobs', which goes with policy.configure = "
                         f"'requested', not with '{configure}'")


def cap_windows(scenario: Scenario, clock: RunClock) -> tuple[WattReservation, ...]:
    """The reservations of the `[power.cap]` table on the clock of the run."""
    given = scenario.power.cap
    if not isinstance(given, CapPlan):
        return ()
    return tuple(
        WattReservation(clock.at(r.start_s, "power.cap.reservations.start"), r.duration_s,
                        r.watts, r.name)
        for r in given.reservations)


def steps_written(scenario: Scenario, clock: RunClock) -> list[float]:
    """When the steps of the cap that is written begin, without those that reservations make."""
    power = scenario.power
    given = power.watch_cap if power.cap is None else power.cap
    if isinstance(given, CapPlan):
        return sorted({clock.first_s, *(clock.at(each.at_s) for each in given.changes)})
    if isinstance(given, tuple):
        return [clock.at(each.time_s) for each in given]
    return list(read_cap(str(given), clock).time_s) if is_cap_file(given) else []


def cap_plan(scenario: Scenario, machine: Machine, clock: RunClock) -> PowerCap:
    """The `[power.cap]` table as a plan on the clock of the run, checked against the machine."""
    given = scenario.power.cap
    if not isinstance(given, CapPlan):
        return PowerCap()
    plan = PowerCap(
        watts=float("inf") if given.watts is None else given.watts,
        changes=tuple(CapChange(clock.at(c.at_s, "power.cap.changes.at"), c.watts)
                      for c in given.changes),
        reservations=cap_windows(scenario, clock),
        floor_w=given.floor_w,
        change_rate_w_per_s=given.change_rate_w_per_s,
    )
    try:
        return plan.checked(DrawLimits.of(machine))
    except InputError as error:
        raise InputError(f"power.cap: {error}") from None


def cap_signal(
    scenario: Scenario, jobs: JobTable, machine: Machine, rules: Rules,
    before_compiling: Callable[[], None] | None = None,
) -> Signal | None:
    """The cap in watts, whether it is kept or watched.

    A percentage of the run without a cap takes that run; `before_compiling` is called where what
    it needs is not compiled yet.
    """
    cap, watched = scenario.power.cap, scenario.power.watch_cap
    clock = clock_of(scenario, jobs)

    def uncapped_w(percent: float) -> float:
        return _uncapped(jobs, machine, replace(rules, cap_w=None), percent, before_compiling)

    if isinstance(cap, CapPlan):
        return cap_plan(scenario, machine, clock).signal(machine.power_w_max, clock.first_s)
    if cap is not None:
        configure = name_of(scenario.policy.configure)
        if is_of_uncapped_run(cap) and is_moldable(configure):
            raise InputError(f"power.cap: {cap} is of what the jobs draw as they are, and under "
                             f"policy.configure '{configure}' they draw what their configurations "
                             "do; write per cent of rated power (70%), or watts, like 9kW")
        signal = in_watts("power.cap", cap, machine.power_w_max, uncapped_w, clock)
        lowest = float(signal.value.min())
        if scenario.power.cap_counts == "jobs":
            if len(machine.groups) > 1:
                raise InputError("power.cap_counts is 'jobs', which needs a machine of one class "
                                 "of nodes")
            return signal
        if lowest < machine.power_w_idle:
            raise InputError(
                f"power.cap: {lowest:g} W is below the idle power of the machine "
                f"({machine.power_w_idle:g} W); it must be at least that"
            )
        return signal
    power = name_of(scenario.policy.power)
    if power in ("block", "wait", "dvfs"):
        raise InputError(f"power.cap: the power policy '{power}' needs a cap, like 70%, 1.4MW or "
                         "a file")
    if watched is None:
        return None
    return in_watts("power.watch_cap", watched, machine.power_w_max, uncapped_w, clock)


_UNCAPPED: WeakKeyDictionary[JobTable, dict[Hashable, float]] = WeakKeyDictionary()
"""Peaks and percentiles of job tables that are still in use: a sweep over caps asks for one again
and again."""


def _uncapped(
    jobs: JobTable, machine: Machine, rules: Rules, percent: float,
    before_compiling: Callable[[], None] | None,
) -> float:
    """The power of the jobs without a cap that is exceeded for the rest of the time."""
    known = _UNCAPPED.setdefault(jobs, {})
    key = (machine, rules.granularity, rules.overrun, rules.choose_nodes, rules.reservations,
           percent)
    if key not in known:
        run = simulate(jobs, machine, free_composition(rules), rules,
                       before_compiling=before_compiling)
        known[key] = run.power_w_peak if percent == 100.0 else _percentile_w(run, percent)
    return known[key]


def _percentile_w(run: Run, percent: float) -> float:
    steps = power_steps(run)
    return percentile_w(steps.value, steps.length_s, percent)


def is_of_uncapped_run(cap: object) -> bool:
    """Say whether a run without a cap has to say what this one is in watts."""
    return is_cap_value(cap) and read_cap_value(cap).of_uncapped_run  # type: ignore[arg-type]


def rated_notes(scenario: Scenario, jobs: JobTable, machine: Machine) -> tuple[str, ...]:
    """Remark on what rated power rests on, where the cap is a percentage of it."""
    given = (scenario.power.cap, scenario.power.watch_cap)
    if not any(is_cap_value(cap) and read_cap_value(cap).of == RATED  # type: ignore[arg-type]
               for cap in given):
        return ()
    found = []
    said_of_jobs = np.isnan(jobs.power_w).any() and not is_moldable(
        name_of(scenario.policy.configure))
    if not (scenario.machine.classes or said_of_jobs) and scenario.machine.node_active_w is None:
        found.append("the cap is of rated power, for which a busy node is assumed to draw "
                     f"{machine.groups[0].node_class.power_w_active:g} W; give --node-active-w")
    unit = scenario.machine.granularity
    unit_w, above_w = above_busy(jobs, machine, unit)
    if above_w.size:
        found.append(f"{counted(above_w.size, 'job')} above the {unit_w:g} W of a busy "
                     f"{unit} that rated power counts, up to {above_w.max():.4g} W")
    return tuple(in_callers_terms(line) for line in found)


def above_busy(jobs: JobTable, machine: Machine, granularity: str) -> tuple[float, FloatArray]:
    """Return the highest power of a busy node or core, and the watts per node or core of the jobs
    that draw more by the log."""
    unit_w = max(group.node_class.power_w_active * unit_share(group.node_class, granularity)
                 for group in machine.groups)
    each_w = jobs.power_w / np.maximum(sizes_of(jobs, machine, granularity), 1)
    return unit_w, each_w[each_w > unit_w * (1.0 + 1e-9)]


def is_cap_file(cap: object) -> bool:
    """Say whether a cap is an existing file; what reads as a cap is none, whatever lies there."""
    return isinstance(cap, str) and not is_cap_value(cap) and is_file(cap)


def in_watts(
    field: str, cap: float | str | tuple[CapStep, ...], rated_w: float,
    uncapped_w: Uncapped | None, clock: RunClock,
) -> Signal:
    """A cap as a step function on the clock of the run, however it is written."""
    if isinstance(cap, tuple):
        if not cap:
            raise InputError(f"{field}: the list of steps is empty")
        steps = [(clock.at(step.time_s, field), step.watts) for step in cap]
        for (earlier_s, _), (later_s, _) in pairwise(steps):
            if later_s <= earlier_s:
                raise InputError(f"{field}: its steps must rise in time; {clock.text(later_s)} "
                                 f"comes after {clock.text(earlier_s)}")
        return Signal.from_steps(steps, "W")
    if is_cap_file(cap):
        return read_cap(str(cap), clock)
    try:
        return Signal.constant(read_cap_value(cap, NOR).watts(rated_w, uncapped_w), "W")
    except InputError as error:
        raise InputError(f"{field}: {error}") from None


def free_composition(rules: Rules) -> Composition:
    """The policies of the run without a cap that a cap may be a percentage of."""
    from wattline.policies.admission.none import NoLimit
    from wattline.policies.backfill.easy import Easy
    from wattline.policies.configuration.requested import Requested
    from wattline.policies.order.fcfs import Fcfs
    from wattline.policies.placement.counted import Counted
    from wattline.policies.placement.first_fit import FirstFit

    placement = FirstFit() if rules.choose_nodes else Counted()
    return Composition(Fcfs(), Easy(), NoLimit(), Requested(), placement, NoRegulation())
