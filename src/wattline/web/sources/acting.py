"""What an operator can order, and whether what was said of it can be meant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wattline.model.errors import InputError
from wattline.model.mistakes import shown
from wattline.web.sources.shape import Act

ACTIONS: Mapping[str, tuple[str, ...]] = {
    "set_cap": ("watts",),
    "reserve": ("watts", "duration_s", "in_s", "name"),
    "unreserve": ("name",),
    "set_mode": ("mode",),
}
"""The actions, and what each may say."""
MODES = ("decide", "guard")
MOST_W, MOST_S = 1e12, 3.2e9


def checked(act: Act) -> Act:
    """The action as it was asked for, or one line that says what would be right."""
    if act.action not in ACTIONS:
        raise InputError(f"there is no action '{act.action[:40]}'; there are: "
                         f"{', '.join(ACTIONS)}")
    strange = sorted(set(act.value) - set(ACTIONS[act.action]))
    if strange:
        raise InputError(f"{act.action} takes {', '.join(ACTIONS[act.action])}, "
                         f"not '{strange[0][:40]}'")
    if act.action == "unreserve":
        _name(act.value, needed=True)
        return act
    if act.action == "set_mode":
        if act.value.get("mode") not in MODES:
            raise InputError(f"{_given(act.value, 'mode')}, must be one of: {', '.join(MODES)}")
        return act
    if act.action == "set_cap" and act.value.get("watts", 0) is None:
        return act
    _figure(act.value, "watts", MOST_W)
    if act.action == "reserve":
        _figure(act.value, "duration_s", MOST_S)
        if act.value.get("in_s") is not None:
            _figure(act.value, "in_s", MOST_S, least=True)
        _name(act.value, needed=False)
    return act


def _figure(value: Mapping[str, Any], name: str, most: float, least: bool = False) -> None:
    given = value.get(name)
    right = f"must be a number {'from 0' if least else 'above 0'} up to {most:g}"
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise InputError(f"{_given(value, name)}, {right}")
    if not math.isfinite(given) or given > most or given < 0 or (given == 0 and not least):
        raise InputError(f"{name} is {given:g}, {right}")


def _given(value: Mapping[str, Any], name: str) -> str:
    """What was said of a field, as far as an error quotes it."""
    return f"{name} is {shown(value[name])}" if name in value else f"{name} is not given"


def _name(value: Mapping[str, Any], needed: bool) -> None:
    given = value.get("name")
    if given is None and not needed:
        return
    if not isinstance(given, str) or not 0 < len(given) <= 64 or not given.isprintable():
        raise InputError("name must be a text of 1 to 64 characters")
