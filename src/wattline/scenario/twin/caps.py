"""The cap of a twin in watts over time, less what is reserved of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wattline.engine.prepare import Rules, effective_cap
from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal
from wattline.scenario.caps import cap_plan, in_watts
from wattline.scenario.model import CapPlan, Scenario
from wattline.scenario.planned_cap import windows


def reserved_watts(scenario: Scenario) -> tuple[Reservation, ...]:
    """The windows of `[[reservations]]`."""
    return tuple(Reservation(each.start_s, each.duration_s, 0, each.watts, each.name)
                 for each in scenario.reservations)


def cap_over_time(
    scenario: Scenario, machine: Machine, peak_w: Callable[[], float]
) -> Signal | None:
    """The cap, kept or watched; a part of the peak asks for that."""
    power = scenario.power
    if isinstance(power.cap, CapPlan):
        plan = cap_plan(scenario, machine)
        whole = plan.signal(machine.power_w_max)
        left = replace(plan, reservations=(*plan.reservations, *windows(scenario))).signal(
            machine.power_w_max)
    else:
        field, given = ("power.cap", power.cap) if power.cap is not None else (
            "power.watch_cap", power.watch_cap)
        if given is None:
            if name_of(scenario.policy.power) == "block":
                raise InputError("power.cap: the power policy 'block' needs a cap, like 0.7, "
                                 "1.4MW or a file")
            return None
        whole = in_watts(field, given, peak_w)
        left = effective_cap(Rules(cap_w=whole, reservations=reserved_watts(scenario))) or whole
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
