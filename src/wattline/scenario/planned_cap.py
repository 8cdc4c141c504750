"""All that limits the power of a scenario as one plan: its cap, and watts that are reserved.

Its times count from the first submission: what `wattline power` shows is known without a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.model.run_clock import NoDates, RunClock
from wattline.model.signal import Signal
from wattline.physics.powercap import CapChange, PowerCap, WattReservation
from wattline.scenario.build import cap_over_time, dated, read_trace
from wattline.scenario.caps import cap_plan, in_watts, is_of_uncapped_run
from wattline.scenario.model import CapPlan, Scenario
from wattline.scenario.times import clock_of, reservations_of

Made = TypeVar("Made")


def by_clock(scenario: Scenario, make: Callable[[RunClock], Made]) -> Made:
    """Make something with the clock that begins at the first submission.

    The log is read only where a date needs to know when that is.
    """
    try:
        return make(RunClock())
    except NoDates:
        trace = read_trace(scenario)
        return make(clock_of(dated(scenario, trace), trace.jobs).from_first)


def planned_cap(scenario: Scenario, machine: Machine, source: str) -> PowerCap:
    """The cap, and the watts of `[[reservations]]`."""
    cap = scenario.power.cap
    planned = cap is None or isinstance(cap, CapPlan)

    def with_windows(clock: RunClock) -> PowerCap:
        plan = (cap_plan(scenario, machine, clock) if planned
                else resolved(scenario, machine, source, clock))
        return replace(plan, reservations=(*plan.reservations, *windows(scenario, clock)))

    return by_clock(scenario, with_windows)


def windows(scenario: Scenario, clock: RunClock) -> tuple[WattReservation, ...]:
    """The watts of `[[reservations]]`, which bind where there is a cap or a policy plans them."""
    if scenario.power.cap is None and name_of(scenario.policy.power) != "adaptive":
        return ()
    return tuple(WattReservation(each.start_s, each.duration_s, each.watts, each.name)
                 for each in reservations_of(scenario, clock) if each.watts)


def resolved(scenario: Scenario, machine: Machine, source: str, clock: RunClock) -> PowerCap:
    """A cap that is no table, in watts: from the start, and its later steps."""
    try:
        found = _over_time(scenario, machine, clock)
    except NoDates:
        raise
    except InputError as error:
        raise InputError(
            f"{source}: power.cap cannot be worked out ({error}); write it in watts, like "
            "\"65kW\", or set one with `wattline power set --cap`"
        ) from None
    steps = zip(found.time_s.tolist(), found.value.tolist(), strict=True)
    return PowerCap(found.at(0.0), tuple(CapChange(t, w) for t, w in steps if t > 0))


def _over_time(scenario: Scenario, machine: Machine, clock: RunClock) -> Signal:
    """Only a percentage of the run without a cap takes the jobs, and that run."""
    cap = scenario.power.cap
    assert isinstance(cap, (float, str, tuple))
    if is_of_uncapped_run(cap):
        found = cap_over_time(scenario)
        assert found is not None
        return found
    return in_watts("power.cap", cap, machine.power_w_max, None, clock)
