"""Policies to choose from, as a person writes them: `sjf`, `power=dvfs cap=80%`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.policies.declaration import AXES
from wattline.policies.going_together import KEEPERS
from wattline.policies.registry import places
from wattline.scenario.load import parse_value
from wattline.scenario.model import Scenario

CURRENT = "as it is"


@dataclass(frozen=True)
class Choice:
    """What is changed of the scenario, under the name by which it was asked for."""

    name: str
    changes: dict[str, Any]


def read_choices(texts: Iterable[str], scenario: Scenario) -> list[Choice]:
    """The candidates, what is there now first; without any, what usually matters."""
    listed = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    found = [Choice(CURRENT, {})]
    for text in listed or _usual(scenario):
        choice = Choice(text, _changes(text))
        if choice.changes and choice.name not in [each.name for each in found]:
            found.append(choice)
    return found


def _usual(scenario: Scenario) -> list[str]:
    """Other orders, and where there is a cap other ways to keep it."""
    orders = [name for name in ("fcfs", "sjf", "largest", "wfp")
              if name != name_of(scenario.policy.order)]
    if scenario.power.cap in (None, "none"):
        return orders
    keepers = [name for name in KEEPERS[:3] if name != name_of(scenario.policy.power)]
    return [*orders, *keepers]


def _changes(text: str) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for part in text.replace("+", " ").split():
        name, equals, value = part.partition("=")
        if not equals:
            changes |= _by_name(part, text)
        elif name in AXES:
            changes[f"policy.{name}"] = parse_value(value)
        elif name == "cap":
            changes["power.cap"] = parse_value(value)
        elif "." in name:
            changes[name] = parse_value(value)
        else:
            raise InputError(f"'{part}' of the candidate '{text}' is neither a policy, nor "
                             "AXIS=POLICY, nor cap=WATTS, nor a field with a dot")
    return changes


def _by_name(name: str, text: str) -> dict[str, Any]:
    axes = [axis for axis in AXES if name in places()[axis]]
    if not axes:
        raise InputError(f"'{name}' of the candidate '{text}' is no policy; `wattline policies` "
                         "lists them")
    if len(axes) > 1:
        raise InputError(f"'{name}' of the candidate '{text}' is a policy along {axes}; write it "
                         f"like {axes[0]}={name}")
    return {f"policy.{axes[0]}": name}
