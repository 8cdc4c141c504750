"""Reads a net from PNML (ISO/IEC 15909-2): plain nets of any tool, coloured ones of ours.

Pages are laid flat and reference nodes become what they refer to. What would make it another net
and is not known here is refused (`pnml_understood`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from wattline.model.errors import InputError
from wattline.model.reading import read_file
from wattline.petri.inscriptions import Timed
from wattline.petri.net import UNIT, Arc, ArcKind, Colour, Net, Page, Place, Point, Transition
from wattline.petri.pnml import ARC_TYPES, TOOL
from wattline.petri.pnml_understood import check_net, label_text, tag_of, written_here

MOST_BYTES = 64 * 2**20
MOST_DEPTH = 100
_KINDS = {text: kind for kind, text in ARC_TYPES.items()} | {
    "read": ArcKind.TEST, "normal": ArcKind.IN}
_COLOURED_TYPES = ("highlevelnet", "symmetricnet")
_PLAIN_TYPES = ("ptnet", "pnmlcoremodel")

Element = ElementTree.Element


def read_pnml(path: str | Path) -> Net:
    """The first net of a PNML file; that there are more is a remark."""
    nets = _nets_of(path)
    return _Reader(str(path), nets[0], others=len(nets) - 1).net()


def _nets_of(path: str | Path) -> list[Element]:
    data = read_file(path, MOST_BYTES)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError(f"{path}: has a document type of its own, which a PNML file has not")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not an XML file: {error}") from None
    nets = [child for child in root if tag_of(child) == "net"]
    if tag_of(root) != "pnml" or not nets:
        raise InputError(f"{path}: no <net> within <pnml>; a PNML file has one")
    return nets


class _Reader:
    def __init__(self, source: str, net: Element, others: int) -> None:
        self.source, self.element = source, net
        self.ignored = check_net(source, net)
        self.remarks = [f"{source}: {others} more <net> not read, only the first"] if others else []
        self.coloured = self._is_coloured()
        self.nodes = {"place": dict[str, Element](), "transition": dict[str, Element]()}
        self.arcs: list[Element] = []
        self.references: dict[str, str] = {}
        self.kinds: dict[str, str] = {}

    def _is_coloured(self) -> bool:
        """By its type where that is of the standard, otherwise by its labels, and then said.

        Tools write types of their own, most of them for place/transition nets.
        """
        kind = self.element.get("type") or ""
        tags = {tag_of(element) for element in self.element.iter()}
        coloured = tags & {"hlinitialMarking", "hlinscription"}
        plain = tags & {"initialMarking", "inscription"}
        if coloured and plain:
            raise self._mistake(f"has labels of coloured nets ({', '.join(sorted(coloured))}) and "
                                f"of plain ones ({', '.join(sorted(plain))}); a net has one kind")
        if kind.endswith(_PLAIN_TYPES) and not coloured:
            return False
        if (coloured or (kind.endswith(_COLOURED_TYPES) and not plain)) and not written_here(
                self.element):
            raise self._mistake("a coloured net that another tool wrote: its labels are not "
                                "understood here; unfold it to a place/transition net")
        if kind.endswith(_COLOURED_TYPES) and not plain:
            return True
        self.remarks.append(
            f"{self.source}: the type of the net, '{kind[:80]}', does not say what its labels "
            f"mean; read as a {'coloured' if coloured else 'place/transition'} net")
        return bool(coloured)

    def net(self) -> Net:
        for child in self._spread(self.element, 0):
            self._sort(child)
        for number, kind in self.kinds.items():
            if self._referred(number) not in self.nodes[kind]:
                raise self._mistake(f"the reference '{number[:40]}' refers to no {kind}")
        names = {kind: self._names(nodes) for kind, nodes in self.nodes.items()}
        places = tuple(self._place(element, names["place"][number])
                       for number, element in self.nodes["place"].items())
        colours = {place.name: place.colour for place in places}
        arcs = self._arcs(names, colours)
        transitions = tuple(
            self._transition(element, names["transition"][number], tuple(arcs.get(number, ())))
            for number, element in self.nodes["transition"].items())
        name = label_text(self.source, self.element, "name") or Path(self.source).stem
        page = Page(name, places, transitions)
        about = _tool_text(self.element, "about") or f"{name}, from {Path(self.source).name}"
        remarks = self.remarks + [f"{self.source}: {count} <{what}> not used here"
                                  for what, count in self.ignored.items()]
        return Net(name, page, self._declarations(), about, from_file=True,
                   remarks=tuple(remarks))

    def _spread(self, element: Element, depth: int) -> Iterator[Element]:
        if depth > MOST_DEPTH:
            raise self._mistake(f"pages lie more than {MOST_DEPTH} deep in one another")
        for child in element:
            if tag_of(child) == "page":
                yield from self._spread(child, depth + 1)
            else:
                yield child

    def _sort(self, child: Element) -> None:
        tag, number = tag_of(child), child.get("id") or ""
        reference = tag in ("referencePlace", "referenceTransition")
        if (tag in self.nodes or reference) and (
                not number or number in self.references or any(
                    number in nodes for nodes in self.nodes.values())):
            raise self._mistake(f"a <{tag}> with the id '{number}', which is missing or not "
                                "the only one")
        if tag in self.nodes:
            self.nodes[tag][number] = child
        elif reference:
            self.references[number] = child.get("ref") or ""
            self.kinds[number] = "place" if tag == "referencePlace" else "transition"
        elif tag == "arc":
            self.arcs.append(child)

    def _names(self, nodes: dict[str, Element]) -> dict[str, str]:
        """Names where they are clear, else ids: tools allow two nodes of one name."""
        wanted = {number: label_text(self.source, element, "name") or number
                  for number, element in nodes.items()}
        often = Counter(wanted.values())
        return {number: name if often[name] == 1 else number for number, name in wanted.items()}

    def _place(self, element: Element, name: str) -> Place:
        colour_name = label_text(self.source, element, "type")
        if not self.coloured or colour_name == UNIT.name:
            label = "hlinitialMarking" if self.coloured else "initialMarking"
            text = label_text(self.source, element, label) or "0"
            return Place(name, UNIT, (self._whole(text, f"the marking of '{name}'"),),
                         at=_position(element))
        text = label_text(self.source, element, "hlinitialMarking")
        return Place(name, Colour(colour_name or "ANY"), self._tokens(text),
                     at=_position(element))

    def _tokens(self, text: str) -> tuple[Any, ...]:
        try:
            node = ast.parse(text, mode="eval").body if text else ast.Tuple([])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return (Unread(text),)
        return tuple(map(_token, node.elts if isinstance(node, ast.Tuple) else [node]))

    def _arcs(self, names: dict[str, dict[str, str]],
              colours: dict[str, Colour]) -> dict[str, list[Arc]]:
        """Arcs by their transition; two of one kind between the same nodes add their weights."""
        found: dict[str, list[Arc]] = {}
        for element in self.arcs:
            source, target = (self._referred(element.get(end) or "") for end in ("source",
                                                                                 "target"))
            out = source in self.nodes["transition"]
            transition, place = (source, target) if out else (target, source)
            if transition not in self.nodes["transition"] or place not in self.nodes["place"]:
                raise self._mistake(f"the arc '{element.get('id')}' goes from '{source}' to "
                                    f"'{target}'; it must tie a place and a transition")
            arc = self._arc(element, out, names["place"][place], colours)
            _add(found.setdefault(transition, []), arc, colours[arc.place] is UNIT)
        return found

    def _arc(self, element: Element, out: bool, place: str, colours: dict[str, Colour]) -> Arc:
        kind = self._kind(element, out)
        if kind is ArcKind.INHIBITOR:
            if label_text(self.source, element, "inscription") not in ("", "1"):
                raise self._mistake(f"an inhibitor arc from '{place}' with a weight; here one asks "
                                    "that the place is empty")
            return Arc(kind, place)
        if not self.coloured:
            if kind is ArcKind.ALL:
                return Arc(kind, place, "_")
            text = label_text(self.source, element, "inscription") or "1"
            return Arc(kind, place, weight=str(self._whole(text, f"the weight at '{place}'", 1)))
        text = label_text(self.source, element, "hlinscription")
        if colours[place] is UNIT and kind is not ArcKind.ALL:
            return Arc(kind, place, weight=text or "1")
        return Arc(kind, place, text or "()", delay_s=_tool_text(element, "delay"))

    def _kind(self, element: Element, out: bool) -> ArcKind:
        text = label_text(self.source, element, "arctype") or next(
            (child.get("value") or "" for child in element if tag_of(child) == "type"), "")
        if text and text not in _KINDS:
            raise self._mistake(f"an arc of the kind '{text}'; {', '.join(_KINDS)} are known")
        kind = _KINDS.get(text, ArcKind.IN)
        if out:
            if kind is not ArcKind.IN:
                raise self._mistake(f"an arc of the kind '{text}' that leaves a transition")
            return ArcKind.OUT
        return kind

    def _transition(self, element: Element, name: str, arcs: tuple[Arc, ...]) -> Transition:
        let = [line.partition(" = ") for line in _tool_text(element, "let").splitlines()]
        priority = _tool_text(element, "priority") or "0"
        return Transition(name, arcs, label_text(self.source, element, "condition"),
                          tuple((left, right) for left, _, right in let),
                          self._whole(priority, f"the priority of '{name}'"),
                          at=_position(element))

    def _declarations(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in label_text(self.source, self.element, "declaration").splitlines():
            name, _, value = line.partition(" = ")
            try:
                found[name] = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                self.ignored["declaration"] += 1
        return found

    def _referred(self, number: str) -> str:
        for _ in range(len(self.references) + 1):
            if number not in self.references:
                return number
            number = self.references[number]
        raise self._mistake(f"the reference '{number}' refers to itself")

    def _whole(self, text: str, what: str, least: int = 0) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > 15 or int(text) < least:
            raise self._mistake(f"{what} is '{text[:40]}', must be a whole number "
                                f"from {least} on, below 10^15")
        return int(text)

    def _mistake(self, text: str) -> InputError:
        return InputError(f"{self.source}: {text}")


class Unread(str):
    """A token whose value is not plain: there to be counted and shown, not to compute with."""

    @property
    def shown(self) -> str:
        return str(self)


def _token(node: ast.expr) -> Any:
    try:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Timed":
            value, time_s = (ast.literal_eval(part) for part in node.args)
            return Timed(value, float(time_s))
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return Unread(ast.unparse(node))


def _add(arcs: list[Arc], arc: Arc, unit: bool) -> None:
    for number, known in enumerate(arcs):
        same = (known.kind, known.place) == (arc.kind, arc.place)
        if unit and same and known.weight.isdigit() and arc.weight.isdigit():
            weight = str(int(known.weight) + int(arc.weight))
            arcs[number] = Arc(known.kind, known.place, known.inscription, weight)
            return
    arcs.append(arc)


def _tool_text(element: Element, name: str) -> str:
    for child in element:
        if tag_of(child) == "toolspecific" and child.get("tool") == TOOL:
            for part in child:
                if tag_of(part) == name:
                    return part.text or ""
    return ""


def _position(element: Element) -> Point:
    for child in element:
        if tag_of(child) == "graphics":
            for part in child:
                if tag_of(part) == "position":
                    try:
                        return float(part.get("x") or 0.0), float(part.get("y") or 0.0)
                    except ValueError:
                        return 0.0, 0.0
    return 0.0, 0.0
