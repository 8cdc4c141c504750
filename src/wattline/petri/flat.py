"""From a hierarchical net to the flat one that is simulated: ports and fusion places become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wattline.model.errors import InputError
from wattline.petri.inscriptions import (
    Expression,
    Matcher,
    compile_expression,
    compile_pattern,
    names_bound,
)
from wattline.petri.net import UNIT, Arc, ArcKind, Net, Page, Place, Transition
from wattline.petri.plain import check_plain


@dataclass(frozen=True)
class FlatPlace:
    """A place of the flat net, known by the path of pages to it."""

    path: str
    place: Place


@dataclass(frozen=True, eq=False)
class FlatArc:
    """An arc with its inscriptions read."""

    arc: Arc
    place: int
    unit: bool
    match: Matcher | None
    value: Expression | None
    weight: Expression | int
    delay_s: Expression | None


@dataclass(frozen=True, eq=False)
class FlatTransition:
    """A transition of the flat net, known by the path of pages to it."""

    path: str
    transition: Transition
    inputs: tuple[FlatArc, ...]
    outputs: tuple[FlatArc, ...]
    let: tuple[tuple[str, Expression], ...]
    guard: Expression | None
    variables: tuple[str, ...]
    """What a binding shows: the names on the input arcs."""

    @property
    def priority(self) -> int:
        return self.transition.priority


@dataclass(frozen=True, eq=False)
class FlatNet:
    """What is simulated."""

    places: tuple[FlatPlace, ...]
    transitions: tuple[FlatTransition, ...]
    readers: tuple[tuple[int, ...], ...]
    """For each place the transitions with an input arc from it."""
    index: Mapping[tuple[str, str], int]
    """(path of the page, name on that page) -> place."""

    def place_number(self, name: str) -> int:
        """A place by its path or, where that is clear, by its bare name."""
        exact = [i for i, place in enumerate(self.places) if place.path == name]
        bare = sorted({i for (_, known), i in self.index.items() if known == name})
        found = exact or bare
        if len(found) != 1:
            what = "is no" if not found else "is more than one"
            raise InputError(f"'{name}' {what} place of this net; it has "
                             + ", ".join(place.path for place in self.places))
        return found[0]


def flatten(net: Net, *, structure_only: bool = False) -> FlatNet:
    """Lay all pages of a net flat and read their inscriptions.

    `structure_only` leaves the inscriptions unread, as is enough for a skeleton: then a weight that
    is not a number counts as `VARYING`.
    """
    builder = _Builder(net, structure_only)
    builder.add(net.top, "", {})
    readers = tuple(
        tuple(sorted({t for t, transition in enumerate(builder.transitions)
                      if any(arc.place == place for arc in transition.inputs)}))
        for place in range(len(builder.places))
    )
    return FlatNet(tuple(builder.places), tuple(builder.transitions), readers, builder.index)


VARYING = -1
"""In place of the weight of an arc of which only the structure is known: it hangs on the tokens."""


class _Builder:
    def __init__(self, net: Net, structure_only: bool) -> None:
        self.net = net
        self.structure_only = structure_only
        self.places: list[FlatPlace] = []
        self.transitions: list[FlatTransition] = []
        self.fused: dict[str, int] = {}
        self.index: dict[tuple[str, str], int] = {}

    def add(self, page: Page, path: str, sockets: Mapping[str, int]) -> None:
        own: dict[str, int] = {}
        for place in page.places:
            own[place.name] = self._number(place, path, sockets)
            self.index[path, place.name] = own[place.name]
        for transition in page.transitions:
            self.transitions.append(self._transition(transition, path, own))
        for substitution in page.substitutions:
            for port, socket in substitution.sockets.items():
                if socket not in own or not substitution.page.place(port).port:
                    raise InputError(f"'{substitution.name}' ties {port} to {socket}: one of them "
                                     "is not a place there, or not a port")
            inner = {port: own[socket] for port, socket in substitution.sockets.items()}
            self.add(substitution.page, _join(path, substitution.name), inner)

    def _number(self, place: Place, path: str, sockets: Mapping[str, int]) -> int:
        if place.port:
            if place.name not in sockets:
                raise InputError(f"port '{place.name}' of page '{path}' is tied to no socket")
            return sockets[place.name]
        if place.fusion and place.fusion in self.fused:
            return self.fused[place.fusion]
        self.places.append(FlatPlace(place.fusion or _join(path, place.name), place))
        if place.fusion:
            self.fused[place.fusion] = len(self.places) - 1
        return len(self.places) - 1

    def _transition(self, transition: Transition, path: str,
                    own: Mapping[str, int]) -> FlatTransition:
        where = _join(path, transition.name)
        arcs = [self._arc(arc, own, where) for arc in transition.arcs]
        counted = [arc.place for arc in arcs if arc.unit and arc.arc.kind is ArcKind.IN]
        if len(counted) != len(set(counted)):
            raise InputError(f"{where}: two arcs from one UNIT place; give one arc their weight")
        inputs = tuple(arc for arc in arcs if arc.arc.kind is not ArcKind.OUT)
        shown: dict[str, None] = {}
        for arc in inputs:
            if arc.match is not None:
                shown.update(dict.fromkeys(
                    name for name in names_bound(arc.arc.inscription, where)
                    if name not in self.net.declarations))
        let = () if self.structure_only else tuple(
            (name, self._expression(text, where)) for name, text in transition.let)
        reads_guard = bool(transition.guard) and not self.structure_only
        return FlatTransition(
            where, transition, inputs,
            tuple(arc for arc in arcs if arc.arc.kind is ArcKind.OUT), let,
            self._expression(transition.guard, where) if reads_guard else None,
            tuple(shown),
        )

    def _arc(self, arc: Arc, own: Mapping[str, int], where: str) -> FlatArc:
        place = own[arc.place]
        unit = self.places[place].place.colour is UNIT
        if arc.weight != "1" and not unit:
            raise InputError(f"{where}: the arc to '{arc.place}' has a weight, which only places "
                             "of colour UNIT can have")
        if arc.delay_s and unit:
            raise InputError(f"{where}: tokens of colour UNIT have no time, so no delay")
        is_out = arc.kind is ArcKind.OUT
        matches = arc.kind is not ArcKind.INHIBITOR and not is_out
        matches = matches and (not unit or arc.kind is ArcKind.ALL)
        weight: Expression | int = VARYING
        if arc.weight.isascii() and arc.weight.isdigit():
            weight = int(arc.weight)
        elif not self.structure_only:
            weight = self._expression(arc.weight, where)
        if self.structure_only:
            return FlatArc(arc, place, unit, None, None, weight, None)
        return FlatArc(
            arc, place, unit,
            self._pattern(arc.inscription, where) if matches else None,
            self._expression(arc.inscription, where) if is_out else None,
            weight,
            self._expression(arc.delay_s, where) if arc.delay_s else None,
        )

    def _expression(self, text: str, where: str) -> Expression:
        self._check(text, where)
        return compile_expression(text, self.net.declarations, where)

    def _pattern(self, text: str, where: str) -> Matcher:
        self._check(text, where)
        return compile_pattern(text, self.net.declarations, where)

    def _check(self, text: str, where: str) -> None:
        if self.net.from_file:
            check_plain(text, where)


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
