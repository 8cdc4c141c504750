"""Policies to choose from, as a person writes them: `sjf`, `power=dvfs cap=80%`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wattline.model.cap_value import WATTS, is_cap_value, read_cap_value
from wattline.model.errors import InputError, WattlineError
from wattline.model.fields import name_of
from wattline.policies.declaration import AXES
from wattline.policies.going_together import KEEPERS
from wattline.policies.registry import places
from wattline.scenario.load import changed, parse_value, validate
from wattline.scenario.model import Scenario
from wattline.scenario.sweep import USUAL_KEEPER, split_values, with_keeper

CURRENT = "as it is"
_CHOSEN = ("policy", "power")
"""Sections of a scenario that a running machine can change."""
_BETWEEN = re.compile(r"\s+|(?<![\d.][eE])\+|\+(?!\d)")
"""What stands between the parts of a candidate; the sign in `cap=1.0e+3` is part of its number."""
OF_THE_MACHINE = ("power.idle_fraction",)
"""Fields of theirs that say what the nodes are."""


@dataclass(frozen=True)
class NamedChanges:
    """What is changed of the scenario, under the name by which it was asked for."""

    name: str
    changes: dict[str, Any]
    said: str = ""
    """What was chosen for it that nobody chose."""


def read_choices(texts: Iterable[str], scenario: Scenario) -> list[NamedChanges]:
    """The candidates, what is there now first; without any, what usually matters."""
    listed = [part.strip() for text in texts for part in split_values(text) if part.strip()]
    found: list[NamedChanges] = []
    there: list[str] = []
    for text in listed or _usual(scenario):
        choice = _kept(NamedChanges(text, _changes(text)), scenario)
        if not choice.changes or choice.name in [each.name for each in found]:
            continue
        if changes_nothing(choice, scenario):
            there.append(text)
        else:
            found.append(choice)
    said = f"left out, since it is there already: {', '.join(there)}" if there else ""
    return [NamedChanges(CURRENT, {}, said), *found]


def changes_nothing(choice: NamedChanges, scenario: Scenario) -> bool:
    """Whether a choice is what is there, under another name."""
    fields = scenario.model_dump(mode="json", exclude_none=True)
    return _compared(validate(changed(fields, choice.changes), choice.name)) == _compared(scenario)


def _compared(scenario: Scenario) -> dict[str, Any]:
    """The fields of a scenario, with a cap in watts however it was written."""
    fields = scenario.model_dump(mode="json", exclude_none=True)
    cap = fields["power"].get("cap", "none")
    if is_cap_value(cap) and (value := read_cap_value(cap)).of == WATTS:
        fields["power"]["cap"] = value.number
    return fields


def _kept(choice: NamedChanges, scenario: Scenario) -> NamedChanges:
    """A cap that nobody would keep has the power policy that it has along an axis of a sweep."""
    if not choice.changes:
        return choice
    fields = scenario.model_dump(mode="json", exclude_none=True)
    try:
        own = validate(changed(fields, choice.changes), choice.name)
        _, chosen = with_keeper(own, choice.changes)
    except WattlineError as error:
        raise InputError(f"candidate '{choice.name}': {error}") from None
    if not chosen:
        return choice
    return NamedChanges(
        choice.name, {**choice.changes, "policy.power": USUAL_KEEPER},
        f"candidate '{choice.name}' names no power policy: '{USUAL_KEEPER}' keeps its cap")


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
    for part in filter(None, _parts(text)):
        field, value = _change(part, text)
        if changes.get(field, value) != value:
            raise InputError(f"candidate '{text}': {field} is both '{changes[field]}' and "
                             f"'{value}'")
        changes[field] = value
    return changes


def _parts(text: str) -> list[str]:
    """What stands between spaces and plus signs, but not inside tables, lists and quotes."""
    found, begin = [], 0
    for between in _BETWEEN.finditer(text):
        before = text[: between.start()]
        opened = sum(before.count(sign) for sign in "[{") - sum(map(before.count, "]}"))
        if opened == 0 and before.count('"') % 2 == 0:
            found.append(text[begin:between.start()])
            begin = between.end()
    return [*found, text[begin:]]


def _change(part: str, text: str) -> tuple[str, Any]:
    """A field of the scenario and its value, as one word of a candidate says it."""
    name, equals, value = part.partition("=")
    if not equals:
        return _by_name(part, text), part
    if name in AXES:
        return f"policy.{name}", parse_value(value)
    if name == "cap":
        return "power.cap", parse_value(value)
    section, dot, _ = name.partition(".")
    if not dot:
        raise InputError(f"'{part}' of the candidate '{text}' is neither a policy, nor "
                         "AXIS=POLICY, nor cap=WATTS, nor a field with a dot")
    if section not in _CHOSEN or name in OF_THE_MACHINE:
        raise InputError(f"candidate '{text}': {name} cannot be changed while the machine runs; a "
                         "candidate changes policies (policy.*) and how power is limited (power.*)")
    return name, parse_value(value)


def _by_name(name: str, text: str) -> str:
    """The field that a policy's name is a value of."""
    axes = [axis for axis in AXES if name in places()[axis]]
    if not axes:
        raise InputError(f"'{name}' of the candidate '{text}' is no policy; `wattline policies` "
                         "lists them")
    if len(axes) > 1:
        raise InputError(f"'{name}' of the candidate '{text}' is a policy along {axes}; write it "
                         f"like {axes[0]}={name}")
    return f"policy.{axes[0]}"
