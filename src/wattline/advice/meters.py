"""Meters of a ledger by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError

if TYPE_CHECKING:  # views load the compiler
    from wattline.model.views.view import MachineView


def chosen_meters(names: str, seen: Mapping[str, Any]) -> list[str]:
    """The meters that were asked for (`feed:A,feed:B`), each once; all have been seen."""
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for name in found:
        if name not in seen:
            raise InputError(f"--meter: no joules of a meter '{name}' lie in this period; leave "
                             "it out, or import its series")
    return found


def entity_of(view: MachineView, meter: str) -> str | None:
    """What a view calls the place of a meter: its name, or what follows its colon."""
    return next((name for name in (meter, meter.partition(":")[2]) if name in view.tree.index),
                None)


def refuse_nested(meters: Sequence[str], views: Iterable[MachineView]) -> None:
    """Two meters of which one lies beneath the other would count the same joules twice."""
    for view in views:
        tree = view.tree
        places = {meter: tree.of(name) for meter in meters if (name := entity_of(view, meter))}
        for upper, lower in permutations(places, 2):
            if places[upper] < places[lower] < int(tree.end[places[upper]]):
                raise InputError(f"--meter: {lower} lies beneath {upper} in view '{view.name}', "
                                 "and its joules would count twice; name one of them")


def unknown_order(meters: Sequence[str]) -> str:
    """What to say of meters of several kinds, where no view tells which lies beneath which."""
    kinds = {name.partition(":")[0] for name in meters}
    if len(kinds) < 2:
        return ""
    return (f"{', '.join(meters)} are added up: whether one lies beneath another is not known "
            "without --views")
