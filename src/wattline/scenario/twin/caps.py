"""The cap of a twin in watts over time, less what is reserved of it."""

from __future__ import annotations

from dataclasses import replace

from wattline.engine.prepare import Rules, effective_cap
from wattline.model.cap_value import Uncapped
from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.model.run_clock import RunClock
from wattline.model.signal import Signal
from wattline.scenario.caps import cap_plan, in_watts
from wattline.scenario.model import CapPlan, Scenario
from wattline.scenario.planned_cap import windows
from wattline.scenario.times import reservations_of


def cap_over_time(
    scenario: Scenario, machine: Machine, uncapped_w: Uncapped, clock: RunClock
) -> Signal | None:
    """The cap, kept or watched; a percentage of the run without one asks for that."""
    power = scenario.power
    if isinstance(power.cap, CapPlan):
        plan = cap_plan(scenario, machine, clock)
        whole = plan.signal(machine.power_w_max, clock.first_s)
        left = replace(plan, reservations=(*plan.reservations, *windows(scenario, clock))).signal(
            machine.power_w_max, clock.first_s)
    else:
        field, given = ("power.cap", power.cap) if power.cap is not None else (
            "power.watch_cap", power.watch_cap)
        if given is None:
            if name_of(scenario.policy.power) == "block":
                raise InputError("power.cap: the power policy 'block' needs a cap, like 70%, "
                                 "1.4MW or a file")
            return None
        whole = in_watts(field, given, machine.power_w_max, uncapped_w, clock)
        left = effective_cap(
            Rules(cap_w=whole, reservations=reservations_of(scenario, clock))) or whole
    if power.cap is not None:
        _refuse_below_idle("power.cap: ", whole, machine)
        _refuse_below_idle("reservations: what they leave of the cap, ", left, machine)
    return left


def _refuse_below_idle(words: str, cap_w: Signal, machine: Machine) -> None:
    lowest = float(cap_w.value.min())
    if lowest < machine.power_w_idle:
        raise InputError(f"{words}{lowest:g} W{',' if words.endswith(', ') else ''} is below the "
                         f"idle power of the machine ({machine.power_w_idle:g} W); it must be at "
                         "least that")
