"""Lays out a hierarchical net: the top page, then each module as a subpage, tokens on places.

`layout` computes what is drawn (shapes, arcs and texts with coordinates); `svg.py` writes it down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wattline.model.errors import InputError
from wattline.petri.arrange import positions
from wattline.petri.labels import Box, Label, Text, around, beside, set_labels, text_half
from wattline.petri.net import Arc, ArcKind, Net, Page, Point, Transition
from wattline.petri.simulate import Simulation

PLACE_RX, PLACE_RY = 62.0, 24.0
BOX_W, BOX_H = 104.0, 40.0
SUB_W, SUB_H = 190.0, 52.0
MARGIN = 40.0
TITLE_H = 44.0
VALUE_CHARS = 40
DRAWN_CHARS = 28
VALUES_SHOWN = 3
APART = 12.0
"""Between two arcs that tie the same place and transition."""
BADGE = 16.0
"""How far the number of tokens stands out of its place."""


@dataclass(frozen=True)
class Shape:
    """A place or a box, in coordinates of its page."""

    kind: str
    """place, transition or module"""
    name: str
    at: Point
    half: Point
    tokens: int | None = None
    values: tuple[str, ...] = ()
    page: str = ""
    """The page that a module stands for."""


@dataclass(frozen=True)
class Line:
    """An arc from a place to a transition or module."""

    kind: str
    """flow (takes or puts), test (needs a token, leaves it), inhibitor (needs none)"""
    start: Point
    end: Point
    head_at_start: bool = False
    head_at_end: bool = False
    near_start: str = ""
    near_end: str = ""


@dataclass(frozen=True)
class Sheet:
    """One page, laid out."""

    name: str
    shapes: tuple[Shape, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    size: Point


def layout(simulation: Simulation, page: str = "") -> list[Sheet]:
    """Every page of the net (or one of them), with the tokens as they are now."""
    net = simulation.net
    paths = _paths(net)
    names = [known.name for known in net.pages()]
    if page and page not in names:
        raise InputError(f"the net '{net.name}' has no page '{page}'; it has {', '.join(names)}")
    return [_sheet(known, paths[known.name], simulation)
            for known in net.pages() if not page or known.name == page]


def show_value(value: Any, chars: int = VALUE_CHARS) -> str:
    """A token's value in a few characters."""
    text = _short(value)
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _paths(net: Net) -> dict[str, str]:
    paths = {net.top.name: ""}

    def visit(page: Page, path: str) -> None:
        for substitution in page.substitutions:
            inner = f"{path}/{substitution.name}" if path else substitution.name
            paths[substitution.page.name] = inner
            visit(substitution.page, inner)

    visit(net.top, "")
    return paths


def _sheet(page: Page, path: str, simulation: Simulation) -> Sheet:
    at = positions(page, _half)
    places = {place.name: _place_shape(page, place.name, path, simulation, at[place.name])
              for place in page.places}
    boxes = [Shape("transition", t.name, at[t.name], _half("transition", t.name))
             for t in page.transitions]
    modules = [Shape("module", s.name, at[s.name], _half("module", s.name), page=s.page.name)
               for s in page.substitutions]
    lines = [line for transition, box in zip(page.transitions, boxes, strict=True)
             for line in _lines(transition, box, places)]
    for sub, shape in zip(page.substitutions, modules, strict=True):
        for socket in dict.fromkeys(sub.sockets.values()):
            start, end = _ends(places[socket], shape)
            lines.append(Line("flow", start, end, True, True))
    shapes = (*places.values(), *boxes, *modules)
    labels = _labels(page, shapes, lines)
    right = max([shape.at[0] + shape.half[0] for shape in shapes]
                + [label.at[0] + label.box.half[0] for label in labels]) + 2 * MARGIN
    bottom = max([shape.at[1] + shape.half[1] for shape in shapes]
                 + [label.at[1] + label.box.half[1] for label in labels]) + MARGIN
    return Sheet(page.name, shapes, tuple(lines), labels, (right, bottom + TITLE_H))


def _half(kind: str, name: str) -> Point:
    """Half the size of a shape: as wide as its name needs."""
    needed = text_half(name, 12)[0] + 8.0
    if kind == "module":
        return max(SUB_W / 2, needed) + 4, SUB_H / 2 + 4
    return (max(PLACE_RX, needed + 6.0), PLACE_RY) if kind == "place" else (
        max(BOX_W / 2, needed), BOX_H / 2)


def _place_shape(page: Page, name: str, path: str, simulation: Simulation, at: Point) -> Shape:
    place = page.place(name)
    tokens = simulation.marking[simulation.flat.index[path, name]]
    values = [_with_time(time_s, value, simulation.now_s) for time_s, _, value in tokens.list]
    shown = [show_value(value, DRAWN_CHARS) for value in values[:VALUES_SHOWN]]
    if len(values) > VALUES_SHOWN:
        shown.append(f"… {len(values) - VALUES_SHOWN} more")
    return Shape("place", place.label or name, at, _half("place", place.label or name),
                 tokens.count(), tuple(shown))


def _lines(transition: Transition, box: Shape, places: Mapping[str, Shape]) -> Iterator[Line]:
    """A line for what is taken and put, one for a test, one for an inhibitor arc, side by side."""
    for place in dict.fromkeys(arc.place for arc in transition.arcs):
        arcs = [arc for arc in transition.arcs if arc.place == place]
        flow = [arc for arc in arcs if arc.kind in (ArcKind.IN, ArcKind.ALL, ArcKind.OUT)]
        test = [arc for arc in arcs if arc.kind is ArcKind.TEST]
        absent = [arc for arc in arcs if arc.kind is ArcKind.INHIBITOR]
        groups = [(kind, group) for kind, group in
                  (("flow", flow), ("test", test), ("inhibitor", absent)) if group]
        for number, (kind, group) in enumerate(groups):
            start, end = _ends(places[place], box, APART * (number - (len(groups) - 1) / 2))
            taken = [_arc_text(arc) for arc in group if arc.kind is not ArcKind.OUT]
            put = [_arc_text(arc) for arc in group if arc.kind is ArcKind.OUT]
            yield Line(kind, start, end, kind == "flow" and bool(put),
                       kind == "flow" and bool(taken),
                       " ".join(filter(None, taken)) if kind != "inhibitor" else "",
                       " ".join(filter(None, put)))


def _arc_text(arc: Arc) -> str:
    text = "" if arc.inscription == "()" else arc.inscription
    if arc.weight != "1":
        text = f"{arc.weight} tokens"
    if arc.kind is ArcKind.ALL:
        text = f"all {text}"
    return text + (f" @+ {arc.delay_s}" if arc.delay_s else "")


def _ends(place: Shape, box: Shape, aside: float = 0.0) -> tuple[Point, Point]:
    """Where the arc between two shapes leaves the one and meets the other, moved aside."""
    (px, py), (bx, by) = place.at, box.at
    length = math.hypot(bx - px, by - py) or 1.0
    dx, dy = (bx - px) / length, (by - py) / length
    nx, ny = -dy * aside, dx * aside
    rx, ry = place.half
    # How far along the line the ellipse ends: (n + t d) lies on it.
    a = (dx / rx) ** 2 + (dy / ry) ** 2
    b = nx * dx / rx**2 + ny * dy / ry**2
    c = (nx / rx) ** 2 + (ny / ry) ** 2 - 1.0
    out = (-b + math.sqrt(max(0.0, b * b - a * c))) / a
    # From the middle of the box back to its edge, on the side that faces the place.
    back = min((box.half[0] + math.copysign(1.0, dx) * nx) / abs(dx) if dx else math.inf,
               (box.half[1] + math.copysign(1.0, dy) * ny) / abs(dy) if dy else math.inf)
    return ((px + nx + out * dx, py + ny + out * dy), (bx + nx - back * dx, by + ny - back * dy))


def _labels(page: Page, shapes: tuple[Shape, ...], lines: list[Line]) -> tuple[Label, ...]:
    texts: list[Text] = []
    for place, shape in zip(page.places, shapes, strict=False):
        texts += _place_texts(place.colour.name,
                              "port" if place.port else f"fusion {place.fusion}"
                              if place.fusion else "", shape)
    for transition, shape in zip(page.transitions, shapes[len(page.places) :], strict=False):
        texts += _transition_texts(transition, shape)
    for line in lines:
        texts += _line_texts(line)
    boxes = [Box(shape.at, shape.half) for shape in shapes]
    boxes += [Box((shape.at[0] + shape.half[0] - 8, shape.at[1] - shape.half[1] + 2), (BADGE, 9.0))
              for shape in shapes if shape.tokens]
    return set_labels(texts, boxes, [(line.start, line.end) for line in lines])


def _place_texts(colour: str, tag: str, shape: Shape) -> Iterator[Text]:
    (x, y), (rx, ry) = shape.at, shape.half
    for text, side, style in ((colour, 0.8, "colour"), (tag, -0.8, "tag")):
        if text:
            half = text_half(text, 9)
            corner = tuple((x + share * rx, y + way * (ry + half[1] + 2 + far))
                           for far in (0, 6, 12) for way in (1, -1)
                           for share in (side, 1.2 * side, 0.4 * side, 0.0, 1.6 * side, -side))
            yield Text(text, 9, style, corner)
    if shape.values:
        values = "\n".join(shape.values)
        half = text_half(values, 10)
        up, down = ry + 4 + half[1], ry + 14 + half[1]
        yield Text(values, 10, "value", tuple(
            (x + aside, y + way + (6 if way > 0 else -6) * far)
            for far in range(6) for way in (-up, down)
            for aside in (-8.0, -30.0, 30.0, -half[0], half[0], -1.4 * half[0], 1.4 * half[0])))


def _transition_texts(transition: Transition, shape: Shape) -> Iterator[Text]:
    def note(text: str, size: int, style: str, below: bool) -> Text:
        return Text(text, size, style,
                    around(shape.at, shape.half, text_half(text, size), below=below))

    if transition.guard:
        yield note(f"[{transition.guard}]", 10, "guard", below=False)
    for name, text in transition.let:
        yield note(f"{name} = {text}", 9, "note", below=True)
    if transition.priority:
        yield note(f"priority {transition.priority}", 9, "note", below=True)


def _line_texts(line: Line) -> Iterator[Text]:
    """What is taken stands near the place, what is put near the transition."""
    both = bool(line.near_start and line.near_end)
    near = (0.3, 0.2, 0.4, 0.5, 0.1) if both else (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
    far = (0.7, 0.8, 0.6, 0.5, 0.9) if both else near
    for text, shares in ((line.near_start, near), (line.near_end, far)):
        if text:
            half = text_half(text, 10)
            yield Text(text, 10, "arc", beside(line.start, line.end, half, shares))


def _with_time(time_s: float, value: Any, now_s: float) -> str:
    return _short(value) + (f" @{time_s:g}" if time_s > now_s else "")


def _short(value: Any) -> str:
    if hasattr(value, "shown"):
        return str(value.shown)
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    if value == ():
        return "none"
    if isinstance(value, tuple):
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{name}({', '.join(_short(item) for item in value)})"
    return str(value)
