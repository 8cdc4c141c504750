"""The power cap of a scenario as a step function, and whether anything keeps it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.machine import MOST_POWER_W, Machine
from wattline.model.reading import is_file
from wattline.model.signal import Signal
from wattline.model.units import parse_fraction, parse_power, unit_hint
from wattline.physics.powercap import CapChange, DrawLimits, PowerCap, WattReservation
from wattline.policies.contract import Composition
from wattline.policies.going_together import KEEPERS, is_moldable
from wattline.policies.registry import is_place, places
from wattline.policies.regulation.none import NoRegulation
from wattline.scenario.model import CapPlan, CapStep, Scenario
from wattline.traces.signals import read_cap

CHOICES = (f"choose a power policy that does with --power-policy (policy.power): "
           f"{', '.join(KEEPERS)}; or only measure the time above it with --watch-cap "
           "(power.watch_cap)")

OF_JOBS = ("block", "wait", "dvfs")
"""Power policies whose cap may count running jobs only."""

NO_CAP = "none"
"""Written for a cap that there is not: the one to compare others with."""


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


def cap_plan(scenario: Scenario, machine: Machine) -> PowerCap:
    """The `[power.cap]` table as a plan, checked against the machine."""
    given = scenario.power.cap
    if not isinstance(given, CapPlan):
        return PowerCap()
    plan = PowerCap(
        watts=float("inf") if given.watts is None else given.watts,
        changes=tuple(CapChange(c.at_s, c.watts) for c in given.changes),
        reservations=tuple(WattReservation(r.start_s, r.duration_s, r.watts, r.name)
                           for r in given.reservations),
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

    A part of the peak takes a run without a cap; `before_compiling` is called where what that needs
    is not compiled yet.
    """
    cap, watched = scenario.power.cap, scenario.power.watch_cap

    def peak_w() -> float:
        return _peak_w(jobs, machine, replace(rules, cap_w=None), before_compiling)

    if isinstance(cap, CapPlan):
        return cap_plan(scenario, machine).signal(machine.power_w_max)
    if cap is not None:
        configure = name_of(scenario.policy.configure)
        if is_part_of_peak(cap) and is_moldable(configure):
            raise InputError(f"power.cap: {cap} is a part of what the jobs draw as they are, and "
                             f"under policy.configure '{configure}' they draw what their "
                             "configurations do; write watts, like 9kW")
        signal = in_watts("power.cap", cap, peak_w)
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
        raise InputError(f"power.cap: the power policy '{power}' needs a cap, like 0.7, 1.4MW or "
                         "a file")
    if watched is None:
        return None
    return in_watts("power.watch_cap", watched, peak_w)


_PEAKS: WeakKeyDictionary[JobTable, dict[Hashable, float]] = WeakKeyDictionary()
"""Peaks of job tables that are still in use: a sweep over caps asks for one again and again."""


def _peak_w(
    jobs: JobTable, machine: Machine, rules: Rules, before_compiling: Callable[[], None] | None
) -> float:
    """What the jobs draw at most without a cap."""
    known = _PEAKS.setdefault(jobs, {})
    key = (machine, rules.granularity, rules.overrun, rules.choose_nodes, rules.reservations)
    if key not in known:
        known[key] = simulate(jobs, machine, free_composition(rules), rules,
                              before_compiling=before_compiling).power_w_peak
    return known[key]


def is_part_of_peak(cap: object) -> bool:
    """Whether a run without a cap has to say what this one is in watts."""
    return isinstance(cap, (float, int, str)) and not is_file(str(cap)) and is_share(cap)


def is_share(cap: float | str) -> bool:
    """Whether a cap is a part of the peak that the jobs reach without one."""
    if isinstance(cap, str):
        return not cap.strip().endswith("W") and _number("power.cap", cap) <= 1
    return cap <= 1


def in_watts(
    field: str, cap: float | str | tuple[CapStep, ...], peak_w: Callable[[], float]
) -> Signal:
    """A cap as a step function, however it is written; a part of the peak asks for that."""
    if isinstance(cap, tuple):
        if not cap:
            raise InputError(f"{field}: the list of steps is empty")
        return Signal.from_steps(((step.time_s, step.watts) for step in cap), "W")
    in_units = False
    if isinstance(cap, str):
        if is_file(cap):
            return read_cap(cap)
        in_units = cap.strip().endswith("W")
        cap = _number(field, cap)
    if not 0 < cap <= MOST_POWER_W:
        raise InputError(f"{field}: {cap:g} must be a positive number of watts, up to "
                         f"{MOST_POWER_W:g}, or a fraction")
    # Up to 1 a fraction of what the same jobs would draw at most without a cap.
    return Signal.constant(cap * peak_w() if cap <= 1 and not in_units else cap, "W")


def _number(field: str, text: str) -> float:
    if text.strip().endswith("%"):
        share = parse_fraction(text)
        if not 0 < share <= 1:
            raise InputError(f"{field}: {text} must be above 0 % and at most 100 %")
        return share
    try:
        return parse_power(text)
    except InputError:
        raise InputError(
            f"{field}: '{text}' is neither watts, nor a fraction, nor a file, nor none"
            + unit_hint(text)
        ) from None


def free_composition(rules: Rules) -> Composition:
    """The policies under which the peak is found that a cap may be a part of."""
    from wattline.policies.admission.none import NoLimit
    from wattline.policies.backfill.easy import Easy
    from wattline.policies.configuration.requested import Requested
    from wattline.policies.order.fcfs import Fcfs
    from wattline.policies.placement.counted import Counted
    from wattline.policies.placement.first_fit import FirstFit

    placement = FirstFit() if rules.choose_nodes else Counted()
    return Composition(Fcfs(), Easy(), NoLimit(), Requested(), placement, NoRegulation())
