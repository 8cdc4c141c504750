"""What a coloured, timed, hierarchical Petri net is made of: pages, places, transitions, arcs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from wattline.model.errors import InputError

Point = tuple[float, float]


@dataclass(frozen=True)
class Colour:
    """A colour set: the type of the tokens that a place may hold."""

    name: str
    kind: type | tuple[type, ...] = object

    def holds(self, value: Any) -> bool:
        return isinstance(value, self.kind)


UNIT = Colour("UNIT", tuple)
"""Tokens without a value; a place of this colour only counts them, so a million costs nothing."""


class ArcKind(Enum):
    """How an arc ties a place to a transition."""

    IN = "in"
    """Takes a ready token that matches the inscription."""
    OUT = "out"
    """Puts the tokens that the inscription gives."""
    TEST = "test"
    """Needs a token that matches and leaves it there."""
    INHIBITOR = "inhibitor"
    """Needs the place to hold no ready token."""
    ALL = "all"
    """Takes every token, ready or not, and binds them as one tuple (a number for UNIT)."""


@dataclass(frozen=True)
class Arc:
    """One arc of a transition. `weight` counts tokens and is only for places of colour UNIT."""

    kind: ArcKind
    place: str
    inscription: str = "()"
    weight: str = "1"
    delay_s: str = ""
    """For OUT: an expression; the token is ready that many seconds from now."""


@dataclass(frozen=True)
class Place:
    """Holds tokens. A port is one with the socket place that its page is given."""

    name: str
    colour: Colour = UNIT
    initial: tuple[Any, ...] = ()
    """Initial tokens: values, or `Timed` values; for UNIT, one number: how many."""
    port: bool = False
    fusion: str = ""
    """Places with the same fusion name are one place, on whatever pages they are drawn."""
    label: str = ""
    at: Point = (0.0, 0.0)


@dataclass(frozen=True)
class Transition:
    """Fires when its input arcs find tokens and its guard holds."""

    name: str
    arcs: tuple[Arc, ...]
    guard: str = ""
    let: tuple[tuple[str, str], ...] = ()
    """Names for intermediate values, computed in order before the guard."""
    priority: int = 0
    """The smaller number fires first; only the smallest enabled one may fire."""
    at: Point = (0.0, 0.0)


@dataclass(frozen=True)
class Substitution:
    """A box on a page that stands for a whole page."""

    name: str
    page: Page
    sockets: Mapping[str, str]
    """Port place of the subpage -> place of this page."""
    at: Point = (0.0, 0.0)


@dataclass(frozen=True)
class Page:
    """One drawing of a hierarchical net."""

    name: str
    places: tuple[Place, ...] = ()
    transitions: tuple[Transition, ...] = ()
    substitutions: tuple[Substitution, ...] = ()

    def __post_init__(self) -> None:
        names = [place.name for place in self.places]
        _no_twice(self.name, "place", names)
        _no_twice(self.name, "transition",
                  [t.name for t in self.transitions] + [s.name for s in self.substitutions])
        for transition in self.transitions:
            for arc in transition.arcs:
                if arc.place not in names:
                    raise InputError(f"page '{self.name}': transition '{transition.name}' has an "
                                     f"arc to '{arc.place}', which is no place of the page")

    def place(self, name: str) -> Place:
        for place in self.places:
            if place.name == name:
                return place
        raise InputError(f"page '{self.name}' has no place '{name}'")


@dataclass(frozen=True)
class Net:
    """A hierarchical net: its top page and the functions and constants of its inscriptions."""

    name: str
    top: Page
    declarations: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    from_file: bool = False
    """Somebody else may have written it: its inscriptions may compute, and do nothing else."""
    remarks: tuple[str, ...] = ()
    """What of a file was not used, or of a net was left out: to be said beside every answer."""

    def pages(self) -> list[Page]:
        """All pages, the top page first, each once."""
        found: list[Page] = []

        def visit(page: Page) -> None:
            if page not in found:
                found.append(page)
                for substitution in page.substitutions:
                    visit(substitution.page)

        visit(self.top)
        return found


def take(place: str, inscription: str = "()", weight: str = "1") -> Arc:
    return Arc(ArcKind.IN, place, inscription, weight)


def put(place: str, inscription: str = "()", weight: str = "1", delay_s: str = "") -> Arc:
    return Arc(ArcKind.OUT, place, inscription, weight, delay_s)


def see(place: str, inscription: str = "()", weight: str = "1") -> Arc:
    return Arc(ArcKind.TEST, place, inscription, weight)


def absent(place: str) -> Arc:
    return Arc(ArcKind.INHIBITOR, place)


def take_all(place: str, inscription: str) -> Arc:
    return Arc(ArcKind.ALL, place, inscription)


def _no_twice(page: str, what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"page '{page}' has the {what} '{twice[0]}' twice")
