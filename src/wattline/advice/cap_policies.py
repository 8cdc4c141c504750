"""Power policies that a scenario can be run under, found before any of them is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wattline.model.cap_value import cap_field
from wattline.model.errors import InputError
from wattline.scenario.in_python import Asked
from wattline.scenario.load import changed, validate
from wattline.scenario.model import Scenario

ANY_CAP_W = 1e12
"""To see whether a scenario goes with a power policy at all: no machine draws so much."""


def that_go(
    keepers: Mapping[str, dict[str, Any]], planned: Asked, is_named: bool,
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the policies that the scenario can be run under, and why not others: before any run.

    One that was asked for by name is refused.
    """
    found: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for name, keeper in keepers.items():
        try:
            tried = replace(planned, scenario=under_cap(planned.scenario, keeper, ANY_CAP_W))
            tried.plan()
        except InputError as error:
            if is_named:
                raise
            left_out[name] = plainly(error, planned.scenario)
        else:
            found[name] = keeper
    if not found:
        raise InputError(none_goes(left_out))
    return found, left_out


def plainly(error: InputError, scenario: Scenario) -> str:
    return str(error).removeprefix(f"{scenario.name}: ")


def none_goes(left_out: Mapping[str, str]) -> str:
    return f"no power policy goes with this scenario: {'; '.join(left_out.values())}"


def under_cap(scenario: Scenario, power: Mapping[str, Any], cap_w: float | None) -> Scenario:
    """The same scenario under another power policy and cap."""
    fields = scenario.model_dump(mode="python", exclude_none=True)
    given = fields.get("policy", {}).get("power")
    kept = given if isinstance(given, str) else (given or {}).get("name")
    changes: dict[str, Any] = {"policy.power": dict(power)}
    if power == {"name": kept}:  # with the parameters that the scenario gives it
        changes = {}
    section = dict(fields.get("power", {}))
    for name in ("cap", "watch_cap"):
        section.pop(name, None)
    if cap_w is not None:
        section["cap"] = cap_field(cap_w)
    fields["power"] = section
    return validate(changed(fields, changes), scenario.name)
