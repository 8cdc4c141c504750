"""Draws a hierarchical net as SVG: the top page, then each module as a subpage, tokens on places.

`layout` computes what is drawn (shapes with coordinates), `svg` writes it down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from wattline.model.errors import InputError
from wattline.petri.net import ArcKind, Net, Page, Point, Transition
from wattline.petri.simulate import Simulation

PLACE_RX, PLACE_RY = 62.0, 24.0
BOX_W, BOX_H = 104.0, 40.0
SUB_W, SUB_H = 190.0, 52.0
MARGIN = 40.0
TITLE_H = 44.0
VALUE_CHARS = 40
VALUES_SHOWN = 3


@dataclass(frozen=True)
class Shape:
    """A place or a box, in coordinates of its page."""

    kind: str
    """place, transition or module"""
    name: str
    at: Point
    half: Point
    notes: tuple[str, ...] = ()
    """guard above, priority below; colour set for a place"""
    tokens: int | None = None
    values: tuple[str, ...] = ()
    tag: str = ""
    """port, fusion, or the page that a module stands for"""


@dataclass(frozen=True)
class Line:
    """An arc: which ends have arrow heads, what stands beside it."""

    start: Point
    end: Point
    head_at_start: bool
    head_at_end: bool
    near_start: str = ""
    near_end: str = ""


@dataclass(frozen=True)
class Sheet:
    """One page, laid out."""

    name: str
    shapes: tuple[Shape, ...]
    lines: tuple[Line, ...]
    size: Point
    offset: Point = field(default=(0.0, 0.0))


def layout(simulation: Simulation, page: str = "") -> list[Sheet]:
    """Every page of the net (or one of them), with the tokens as they are now."""
    net = simulation.net
    paths = _paths(net)
    names = [known.name for known in net.pages()]
    if page and page not in names:
        raise InputError(f"the net '{net.name}' has no page '{page}'; it has {', '.join(names)}")
    return [_sheet(known, paths[known.name], simulation)
            for known in net.pages() if not page or known.name == page]


def svg(sheets: Sequence[Sheet], title: str) -> str:
    """One drawing with the sheets below each other."""
    width = max(sheet.size[0] for sheet in sheets)
    height = sum(sheet.size[1] for sheet in sheets) + TITLE_H
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, Arial, sans-serif" '
        'font-size="12">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" '
        'fill="#333"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        _text((MARGIN, 28), title, anchor="start", size=15, weight="bold"),
    ]
    y = TITLE_H
    for sheet in sheets:
        parts.append(f'<g id="{_anchor(sheet.name)}" transform="translate(0 {y:.0f})">')
        parts.extend(_draw_sheet(sheet, width))
        parts.append("</g>")
        y += sheet.size[1]
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


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
    shapes = [
        *(_place_shape(page, i, path, simulation) for i in range(len(page.places))),
        *(_transition_shape(transition) for transition in page.transitions),
        *(Shape("module", sub.name, sub.at, (SUB_W / 2 + 4, SUB_H / 2 + 4), tag=sub.page.name)
          for sub in page.substitutions),
    ]
    where = {shape.name: shape for shape in shapes[: len(page.places)]}
    lines: list[Line] = []
    for transition, shape in zip(page.transitions, shapes[len(page.places) :], strict=False):
        for place in dict.fromkeys(arc.place for arc in transition.arcs):
            if not _only_inhibits(transition, place):
                lines.append(_line(transition, place, where[place], shape))
    modules = shapes[len(page.places) + len(page.transitions) :]
    for sub, shape in zip(page.substitutions, modules, strict=True):
        for socket in dict.fromkeys(sub.sockets.values()):
            start, end = _ends(where[socket], shape)
            lines.append(Line(start, end, True, True))
    right = max(shape.at[0] + shape.half[0] for shape in shapes) + 3.2 * MARGIN
    bottom = max(shape.at[1] + shape.half[1] for shape in shapes) + 2.4 * MARGIN
    labelled = tuple(_relabel(shape, page) for shape in shapes)
    return Sheet(page.name, labelled, tuple(lines), (right, bottom + TITLE_H))


def _only_inhibits(transition: Transition, place: str) -> bool:
    """Events wait for the end of a pass by an inhibitor arc; drawn as a note, not as a line."""
    kinds = {arc.kind for arc in transition.arcs if arc.place == place}
    return kinds == {ArcKind.INHIBITOR}


def _relabel(shape: Shape, page: Page) -> Shape:
    if shape.kind != "place":
        return shape
    label = page.place(shape.name).label
    return shape if not label else Shape(
        shape.kind, label, shape.at, shape.half, shape.notes, shape.tokens, shape.values, shape.tag)


def _place_shape(page: Page, number: int, path: str, simulation: Simulation) -> Shape:
    place = page.places[number]
    tokens = simulation.marking[simulation.flat.index[path, place.name]]
    values = [_with_time(time_s, value, simulation.now_s) for time_s, _, value in tokens.list]
    shown = [show_value(value) for value in values[:VALUES_SHOWN]]
    if len(values) > VALUES_SHOWN:
        shown.append(f"… {len(values) - VALUES_SHOWN} more")
    tag = "port" if place.port else f"fusion {place.fusion}" if place.fusion else ""
    return Shape("place", place.name, place.at, (PLACE_RX, PLACE_RY),
                 (tokens.colour.name,), tokens.count(), tuple(shown), tag)


def _transition_shape(transition: Transition) -> Shape:
    above = [f"[{transition.guard}]"] if transition.guard else []
    below = [f"{name} = {text}" for name, text in transition.let]
    inhibits = [arc.place for arc in transition.arcs if arc.kind is ArcKind.INHIBITOR
                and _only_inhibits(transition, arc.place)]
    below.append(f"priority {transition.priority}"
                 + "".join(f", not during {place}" for place in inhibits))
    return Shape("transition", transition.name, transition.at, (BOX_W / 2, BOX_H / 2),
                 (*above, "|", *below))


def _line(transition: Transition, place: str, place_shape: Shape, box: Shape) -> Line:
    arcs = [arc for arc in transition.arcs if arc.place == place]
    taken = [_arc_text(arc.inscription, arc.weight, arc.delay_s, arc.kind) for arc in arcs
             if arc.kind in (ArcKind.IN, ArcKind.TEST, ArcKind.ALL)]
    put = [_arc_text(arc.inscription, arc.weight, arc.delay_s, arc.kind) for arc in arcs
           if arc.kind is ArcKind.OUT]
    test = any(arc.kind is ArcKind.TEST for arc in arcs)
    start, end = _ends(place_shape, box)
    return Line(start, end, bool(put) or test, bool(taken), " ".join(taken), " ".join(put))


def _arc_text(inscription: str, weight: str, delay_s: str, kind: ArcKind) -> str:
    text = "" if inscription == "()" else inscription
    if weight != "1":
        text = f"{weight} tokens"
    if kind is ArcKind.ALL:
        text = f"all {text}"
    return text + (f" @+ {delay_s}" if delay_s else "")


def _ends(place: Shape, box: Shape) -> tuple[Point, Point]:
    (px, py), (bx, by) = place.at, box.at
    angle = math.atan2((by - py) / place.half[1], (bx - px) / place.half[0])
    start = (px + place.half[0] * math.cos(angle), py + place.half[1] * math.sin(angle))
    dx, dy = px - bx, py - by
    scale = min(box.half[0] / abs(dx) if dx else math.inf,
                box.half[1] / abs(dy) if dy else math.inf)
    return start, (bx + dx * scale, by + dy * scale)


def _draw_sheet(sheet: Sheet, width: float) -> Iterable[str]:
    yield (f'<rect x="{MARGIN / 4}" y="0" width="{width - MARGIN / 2}" '
           f'height="{sheet.size[1] - MARGIN / 4}" rx="8" fill="#fbfbfb" stroke="#ccc"/>')
    yield _text((MARGIN, 26), sheet.name, anchor="start", size=14, weight="bold")
    yield f'<g transform="translate({MARGIN} {TITLE_H})">'
    for shape in sheet.shapes:
        yield from _draw_notes(shape)
    for line in sheet.lines:
        yield _draw_line(line)
    for line in sheet.lines:
        yield from _draw_inscriptions(line)
    for shape in sheet.shapes:
        yield from (_draw_place(shape) if shape.kind == "place" else _draw_box(shape))
    yield "</g>"


def _draw_line(line: Line) -> str:
    heads = (' marker-start="url(#head)"' if line.head_at_start else "") + (
        ' marker-end="url(#head)"' if line.head_at_end else "")
    return (f'<line x1="{line.start[0]:.1f}" y1="{line.start[1]:.1f}" x2="{line.end[0]:.1f}" '
            f'y2="{line.end[1]:.1f}" stroke="#333"{heads}/>')


def _draw_inscriptions(line: Line) -> Iterable[str]:
    """What is taken stands near the place, what is put near the transition."""
    both = bool(line.near_start and line.near_end)
    for text, share in ((line.near_start, 0.33 if both else 0.5),
                        (line.near_end, 0.64 if both else 0.5)):
        if not text:
            continue
        at = (line.start[0] + share * (line.end[0] - line.start[0]),
              line.start[1] + share * (line.end[1] - line.start[1]))
        yield _boxed(at, text)


def _draw_place(shape: Shape) -> Iterable[str]:
    x, y = shape.at
    yield (f'<ellipse cx="{x}" cy="{y}" rx="{shape.half[0]}" ry="{shape.half[1]}" '
           f'fill="#eaf6ea" stroke="#2d7d2d" stroke-width="1.6"/>')
    yield _text((x, y + 4), shape.name)
    yield _text((x + shape.half[0] - 6, y + shape.half[1] + 8), shape.notes[0], size=9,
                style="italic", colour="#555")
    if shape.tag:
        yield _text((x - shape.half[0] + 2, y + shape.half[1] + 8), shape.tag, anchor="middle",
                    size=9, colour="#1b4f9c")
    if shape.tokens:
        cx, cy = x + shape.half[0] - 8, y - shape.half[1] + 2
        label = str(shape.tokens)
        yield (f'<rect x="{cx - 5 - 3.6 * len(label)}" y="{cy - 9}" width="{10 + 7.2 * len(label)}"'
               f' height="18" rx="9" fill="#6fce6f" stroke="#2d7d2d"/>')
        yield _text((cx, cy + 4), label, size=11, weight="bold")
        for i, value in enumerate(shape.values):
            yield _boxed((x, y - shape.half[1] - 13 * (len(shape.values) - i)), value, "#1f6b1f",
                         "#dff5df")


def _draw_box(shape: Shape) -> Iterable[str]:
    (x, y), (w, h) = shape.at, shape.half
    module = shape.kind == "module"
    if module:
        yield f'<a href="#{_anchor(shape.tag)}">'
        yield _rect(shape.at, (w, h), "#1b4f9c", "white")
        w, h = w - 4, h - 4
    yield _rect(shape.at, (w, h), "#1b4f9c" if module else "#333",
                "#e8f0fc" if module else "#fff7e0")
    yield _text((x, y if module else y + 4), shape.name, weight="bold" if module else "normal")
    if module:
        yield _text((x, y + 15), f"subpage {shape.tag}", size=9, colour="#1b4f9c")
        yield "</a>"


def _draw_notes(shape: Shape) -> Iterable[str]:
    """Guards above, computed names and the priority below; drawn first, so that arcs stay whole."""
    if shape.kind != "transition":
        return
    (x, y), (_, h) = shape.at, shape.half
    split = shape.notes.index("|")
    for i, note in enumerate(shape.notes[:split]):
        yield _boxed((x, y - h - 8 - 11 * i), note, "#8a1f1f")
    for i, note in enumerate(shape.notes[split + 1 :]):
        yield _boxed((x, y + h + 9 + 11 * i), note, "#555", size=9)


def _rect(at: Point, half: Point, stroke: str, fill: str) -> str:
    return (f'<rect x="{at[0] - half[0]:.1f}" y="{at[1] - half[1]:.1f}" width="{2 * half[0]:.1f}" '
            f'height="{2 * half[1]:.1f}" fill="{fill}" stroke="{stroke}" stroke-width="1.6"/>')


def _boxed(at: Point, text: str, colour: str = "#222", fill: str = "#fbfbfb", *,
           size: int = 10) -> str:
    half = 0.275 * size * len(text) + 3
    return (f'<rect x="{at[0] - half:.1f}" y="{at[1] - 6:.1f}" width="{2 * half:.1f}" '
            f'height="12" fill="{fill}" fill-opacity="0.9"/>'
            + _text((at[0], at[1] + 3), text, size=size, colour=colour))


def _text(at: Point, text: str, *, anchor: str = "middle", size: int = 12, colour: str = "#111",
          weight: str = "normal", style: str = "normal") -> str:
    extra = "" if weight == "normal" else f' font-weight="{weight}"'
    extra += "" if style == "normal" else f' font-style="{style}"'
    return (f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{colour}"{extra}>{escape(text)}</text>')


def _anchor(name: str) -> str:
    return "page-" + "".join(c if c.isalnum() else "-" for c in name.lower())


def _with_time(time_s: float, value: Any, now_s: float) -> str:
    return _short(value) + (f" @{time_s:g}" if time_s > now_s else "")


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    if hasattr(value, "shown"):
        return str(value.shown)
    if value == ():
        return "none"
    if isinstance(value, tuple):
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{name}({', '.join(_short(item) for item in value)})"
    return str(value)
