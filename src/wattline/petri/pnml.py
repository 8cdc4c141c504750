"""Writes a net as PNML, the exchange format of Petri net tools (ISO/IEC 15909-2).

A net of tokens without values is written as a place/transition net (`ptnet`). A coloured one is a
`highlevelnet` whose labels are text, because its inscriptions are Python and not the terms of the
standard; times, priorities and the kinds of arcs that the standard lacks stand in elements that
other tools skip. Pages are laid flat on one: many tools read one page only.
"""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

from wattline.petri.flat import FlatArc, FlatNet, FlatPlace, FlatTransition, flatten
from wattline.petri.inscriptions import Timed
from wattline.petri.net import UNIT, ArcKind, Net, Point
from wattline.petri.skeleton import page_shifts, token_count

NAMESPACE = "http://www.pnml.org/version-2009/grammar/pnml"
GRAMMAR = "http://www.pnml.org/version-2009/grammar/"
TOOL, TOOL_VERSION = "wattline", "1"
ARC_TYPES = {ArcKind.TEST: "test", ArcKind.INHIBITOR: "inhibitor", ArcKind.ALL: "reset"}
"""Kinds of arcs that ISO 15909-2 has not, under the names that other tools use for them."""

Element = ElementTree.Element


def to_pnml(net: Net) -> str:
    """The net as a PNML document; `skeleton(net)` first for tools that know no colours."""
    flat = flatten(net, structure_only=True)
    coloured = is_coloured(flat)
    root = ElementTree.Element("pnml", xmlns=NAMESPACE)
    element = ElementTree.SubElement(root, "net", id="net", type=GRAMMAR + _type(flat, coloured))
    _label(element, "name", net.name)
    if net.about or coloured:  # its labels are ours: other tools' coloured nets are not read
        _tool(element, about=net.about)
    if coloured:
        values = {name: value for name, value in net.declarations.items() if _is_plain(value)}
        if values:
            _label(element, "declaration", "\n".join(
                f"{name} = {value!r}" for name, value in values.items()))
    page = ElementTree.SubElement(element, "page", id="page")
    shift = page_shifts(net)
    for number, place in enumerate(flat.places):
        _place(page, f"p{number}", place, shift, coloured)
    for number, transition in enumerate(flat.transitions):
        _transition(page, f"t{number}", transition, shift)
    count = 0
    for number, transition in enumerate(flat.transitions):
        for arc in (*transition.inputs, *transition.outputs):
            _arc(page, f"a{count}", f"t{number}", arc, coloured)
            count += 1
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def is_coloured(flat: FlatNet) -> bool:
    """Whether a place/transition net could not say it."""
    return any(place.place.colour is not UNIT for place in flat.places) or any(
        not arc.arc.weight.isdigit() for t in flat.transitions for arc in (*t.inputs, *t.outputs)
    ) or any(t.transition.guard or t.transition.let for t in flat.transitions)


def _type(flat: FlatNet, coloured: bool) -> str:
    if coloured:
        return "highlevelnet"
    special = any(arc.arc.kind in ARC_TYPES for t in flat.transitions for arc in t.inputs)
    return "pnmlcoremodel" if special else "ptnet"


def _place(page: Element, number: str, place: FlatPlace, shift: dict[str, float],
           coloured: bool) -> None:
    element = ElementTree.SubElement(page, "place", id=number)
    _label(element, "name", place.path)
    _graphics(element, place.place.at, place.path, shift)
    count = token_count(place.place)
    if not coloured:
        if count:
            _label(element, "initialMarking", str(count))
        return
    _label(element, "type", place.place.colour.name)
    if place.place.colour is UNIT:
        _label(element, "hlinitialMarking", str(count))
    elif count:
        _label(element, "hlinitialMarking",
               "".join(f"{_token(token)}, " for token in place.place.initial).strip())


def _token(token: Any) -> str:
    if isinstance(token, Timed):
        return f"Timed({token.value!r}, {token.time_s!r})"
    return repr(token)


def _transition(page: Element, number: str, transition: FlatTransition,
                shift: dict[str, float]) -> None:
    element = ElementTree.SubElement(page, "transition", id=number)
    _label(element, "name", transition.path)
    _graphics(element, transition.transition.at, transition.path, shift)
    if transition.transition.guard:
        _label(element, "condition", transition.transition.guard)
    extra = {}
    if transition.priority:
        extra["priority"] = str(transition.priority)
    if transition.transition.let:
        extra["let"] = "\n".join(f"{name} = {text}" for name, text in transition.transition.let)
    if extra:
        _tool(element, **extra)


def _arc(page: Element, number: str, transition: str, arc: FlatArc, coloured: bool) -> None:
    place, out = f"p{arc.place}", arc.arc.kind is ArcKind.OUT
    source, target = (transition, place) if out else (place, transition)
    element = ElementTree.SubElement(page, "arc", id=number, source=source, target=target)
    kind = arc.arc.kind
    if coloured and kind is not ArcKind.INHIBITOR:
        counted = arc.unit and kind is not ArcKind.ALL
        _label(element, "hlinscription", arc.arc.weight if counted else arc.arc.inscription)
    elif not coloured and arc.arc.weight != "1":
        _label(element, "inscription", arc.arc.weight)
    if kind in ARC_TYPES:
        _label(element, "arctype", ARC_TYPES[kind])
    if arc.arc.delay_s:
        _tool(element, delay=arc.arc.delay_s)


def _label(parent: Element, tag: str, text: str) -> None:
    label = ElementTree.SubElement(parent, tag)
    ElementTree.SubElement(label, "text").text = text


def _tool(parent: Element, **values: str) -> None:
    element = ElementTree.SubElement(parent, "toolspecific", tool=TOOL, version=TOOL_VERSION)
    for name, value in values.items():
        ElementTree.SubElement(element, name).text = value


def _graphics(parent: Element, at: Point, path: str, shift: dict[str, float]) -> None:
    graphics = ElementTree.SubElement(parent, "graphics")
    y = at[1] + shift.get(path.rpartition("/")[0], 0.0)
    ElementTree.SubElement(graphics, "position", x=f"{at[0]:g}", y=f"{y:g}")


def _is_plain(value: Any) -> bool:
    """Whether a value can be written down and read again."""
    if isinstance(value, dict):
        return all(_is_plain(part) for pair in value.items() for part in pair)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return all(_is_plain(part) for part in value)
    return isinstance(value, str) or (isinstance(value, (int, float)) and math.isfinite(value))
