"""What can be chosen along each axis, in words: for the command that lists policies and Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wattline.model.errors import InputError
from wattline.model.nearest import did_you_mean
from wattline.policies.declaration import ALL_AXES, AXES, Declaration
from wattline.policies.going_together import refused_pairs
from wattline.policies.loading import load_object
from wattline.policies.parameter_rows import parameter_rows
from wattline.policies.registry import declared, is_place, source_of

Declared = Mapping[str, Mapping[str, Declaration]]


def list_policies(axis: str | None = None) -> list[dict[str, Any]]:
    """All policies, built-in and installed, a row each: axis, name, summary, from, parameters.

    >>> import wattline as wl
    >>> [row["name"] for row in wl.list_policies("backfill")]
    ['none', 'easy', 'conservative']
    """
    if axis is not None and axis not in ALL_AXES:
        raise InputError(f"there is no axis '{axis}'; there are: {', '.join(ALL_AXES)}")
    return [{"axis": own, "name": name, "summary": each.summary, "from": source_of(own, name),
             "needs": each.needs, "parameters": parameter_rows(each.parameters)}
            for own, named in declared().items() if axis in (None, own)
            for name, each in named.items()]


def describe_policy(name: str) -> list[dict[str, Any]]:
    """All about the policies of a name (or AXIS.NAME), or about what is declared at a place.

    A place is `MODULE:NAME`, whose code is then run. Beside the parameters stand the choices along
    other axes that it does not go with, each with the reason.

    >>> import wattline as wl
    >>> [each["name"] for each in wl.describe_policy("dvfs")[0]["parameters"]]
    ['latency_s']
    """
    found = declared()
    return [_at(name, found)] if is_place(name) else _named(name, found)


def _named(name: str, found: Declared) -> list[dict[str, Any]]:
    places = [(axis, choice) for axis, choices in found.items() for choice in choices
              if name in (choice, f"{axis}.{choice}")]
    if not places:
        names = [choice for choices in found.values() for choice in choices]
        raise InputError(f"there is no policy '{name}'; `wattline policies` lists them"
                         f"{did_you_mean(name, names)}")
    return [_about(found[axis][choice], choice, source_of(axis, choice), found)
            for axis, choice in places]


def _at(place: str, found: Declared) -> dict[str, Any]:
    """What is declared at a place that was named, and that nobody need have installed."""
    declaration = load_object(place, "wattline policies")
    if isinstance(declaration, Declaration):
        return _about(declaration, place, place, found)
    if not callable(getattr(declaration, "decide", None)):
        raise InputError(f"{place} is neither a Declaration of wattline.policies.declaration nor a "
                         "class with decide(view)")
    summary = (declaration.__doc__ or "").strip().split("\n")[0]
    return {"axis": "python", "name": place, "summary": summary, "from": place, "needs": "",
            "parameters": [], "refused": []}


def _about(
    declaration: Declaration, name: str, source: str, found: Declared
) -> dict[str, Any]:
    axis = declaration.axis
    others: dict[str, Iterable[str]] = {
        other: choices if other != axis else (name,) for other, choices in found.items()
        if other in AXES}
    clashes = [pair for pair in refused_pairs(others)
               if axis in (pair["axis"], pair["other_axis"])]
    return {"axis": axis, "name": name, "summary": declaration.summary, "from": source,
            "needs": declaration.needs, "parameters": parameter_rows(declaration.parameters),
            "refused": clashes}
