"""Events and decisions as plain values that JSON carries, and back."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any

from wattline.books.decision import Decision
from wattline.books.events import ORDER, Event, Stalled, Submitted
from wattline.books.possible import MOST_FIGURE, no_event, no_job
from wattline.model.errors import InputError
from wattline.policies.control import Control

NO_CAP = "none"
"""A cap that is taken away: JSON has no infinity."""
_KINDS = {kind.__name__.lower(): kind for kind in ORDER}


def event_values(event: Any) -> list[Any]:
    """The kind of an event and its fields, but for those that say nothing."""
    values: dict[str, Any] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        default = field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        silent = isinstance(value, float) and math.isnan(value)
        if value != default and not silent:
            values[field.name] = _plain(value)
    return [type(event).__name__.lower(), values]


def event_from(values: Any) -> Event:
    """The event that these values are of."""
    try:
        name, given = values
        kind = _KINDS[name]
        given = {field: tuple(value) if isinstance(value, list) else value
                 for field, value in given.items()}
        if kind is Stalled:
            given["stalls"] = {int(router): stalls for router, stalls in given["stalls"].items()}
        made: Event = kind(**given)
        reason = no_event(made) or (no_job(made, MOST_FIGURE) if isinstance(made, Submitted)
                                    else "")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{str(values)[:60]} is no event ({error})") from None
    if reason:
        raise InputError(f"{str(values)[:60]} is no event ({reason})")
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "items"):
        return {str(name): _plain(part) for name, part in value.items()}
    return value.item() if hasattr(value, "item") else value


def decision_values(decision: Decision) -> list[Any]:
    control = {field.name: getattr(decision.control, field.name) for field in fields(Control)
               if getattr(decision.control, field.name) != field.default}
    if control.get("cap_w") == math.inf:
        control["cap_w"] = NO_CAP
    return [decision.kind, decision.job, decision.rate, decision.power_w, _plain(control)]


def decision_from(values: Any) -> Decision:
    try:
        kind, job, rate, power_w, control = values
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                 for name, value in control.items()}
        if given.get("cap_w") == NO_CAP:
            given["cap_w"] = math.inf
        return Decision(str(kind), job, float(rate), float(power_w), Control(**given))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{str(values)[:60]} is no decision ({error})") from None
