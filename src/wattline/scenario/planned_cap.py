"""All that limits the power of a scenario as one plan: its cap, and watts that are reserved."""

from __future__ import annotations

from dataclasses import replace

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.machine import Machine
from wattline.model.reading import is_file
from wattline.model.signal import Signal
from wattline.physics.powercap import CapChange, PowerCap, WattReservation
from wattline.scenario.build import cap_over_time
from wattline.scenario.caps import cap_plan, in_watts, is_share
from wattline.scenario.model import CapPlan, Scenario


def planned_cap(scenario: Scenario, machine: Machine, source: str) -> PowerCap:
    """The cap, and the watts of `[[reservations]]`."""
    cap = scenario.power.cap
    planned = cap is None or isinstance(cap, CapPlan)
    plan = cap_plan(scenario, machine) if planned else resolved(scenario, source)
    return replace(plan, reservations=(*plan.reservations, *windows(scenario)))


def windows(scenario: Scenario) -> tuple[WattReservation, ...]:
    """The watts of `[[reservations]]`, which bind where there is a cap or a policy plans them."""
    if scenario.power.cap is None and name_of(scenario.policy.power) != "adaptive":
        return ()
    return tuple(WattReservation(each.start_s, each.duration_s, each.watts, each.name)
                 for each in scenario.reservations if each.watts)


def resolved(scenario: Scenario, source: str) -> PowerCap:
    """A cap that is no table, in watts: from the start, and its later steps."""
    try:
        found = _over_time(scenario)
    except InputError as error:
        raise InputError(
            f"{source}: power.cap cannot be worked out ({error}); write it in watts, like "
            "\"65kW\", or set one with `wattline power set --cap`"
        ) from None
    steps = zip(found.time_s.tolist(), found.value.tolist(), strict=True)
    return PowerCap(found.at(0.0), tuple(CapChange(t, w) for t, w in steps if t > 0))


def _over_time(scenario: Scenario) -> Signal:
    """Only a part of the peak takes the jobs, and a run of them."""
    cap = scenario.power.cap
    assert isinstance(cap, (float, str, tuple))
    share = not isinstance(cap, tuple) and not _is_file(cap) and is_share(cap)
    found = cap_over_time(scenario) if share else in_watts("power.cap", cap, lambda: 1.0)
    assert found is not None
    return found


def _is_file(cap: float | str) -> bool:
    return isinstance(cap, str) and is_file(cap)
