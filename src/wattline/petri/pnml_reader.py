"""Reads a net from PNML (ISO/IEC 15909-2): plain nets of any tool, coloured ones of ours.

Pages are laid flat and reference nodes become what they refer to. Labels that this reader does not
know are counted and said; none is dropped without a word.
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

MOST_BYTES = 64 * 2**20
MOST_DEPTH = 100
_KINDS = {text: kind for kind, text in ARC_TYPES.items()} | {
    "read": ArcKind.TEST, "normal": ArcKind.IN}
_KNOWN = {
    "net": {"name", "page", "place", "transition", "arc", "toolspecific", "declaration",
            "referencePlace", "referenceTransition", "graphics"},
    "place": {"name", "graphics", "initialMarking", "hlinitialMarking", "type", "toolspecific"},
    "transition": {"name", "graphics", "condition", "toolspecific"},
    "arc": {"name", "graphics", "inscription", "hlinscription", "arctype", "type", "toolspecific"},
}

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
    nets = [child for child in root if _tag(child) == "net"]
    if _tag(root) != "pnml" or not nets:
        raise InputError(f"{path}: no <net> within <pnml>; a PNML file has one")
    return nets


class _Reader:
    def __init__(self, source: str, net: Element, others: int) -> None:
        self.source, self.element = source, net
        self.ignored: Counter[str] = Counter()
        self.remarks = [f"{source}: {others} more <net> not read, only the first"] if others else []
        self.coloured = self._is_coloured()
        self.nodes = {"place": dict[str, Element](), "transition": dict[str, Element]()}
        self.arcs: list[Element] = []
        self.references: dict[str, str] = {}

    def _is_coloured(self) -> bool:
        """By its type where that is of the standard, otherwise by its labels, and then said.

        Tools write types of their own, most of them for place/transition nets.
        """
        kind = self.element.get("type") or ""
        tags = {_tag(element) for element in self.element.iter()}
        coloured = tags & {"hlinitialMarking", "hlinscription"}
        plain = tags & {"initialMarking", "inscription"}
        if coloured and plain:
            raise self._mistake(f"has labels of coloured nets ({', '.join(sorted(coloured))}) and "
                                f"of plain ones ({', '.join(sorted(plain))}); a net has one kind")
        if kind.endswith(_PLAIN_TYPES) and not coloured:
            return False
        if kind.endswith(_COLOURED_TYPES) and not plain:
            return True
        self.remarks.append(
            f"{self.source}: the type of the net, '{kind[:80]}', does not say what its labels "
            f"mean; read as a {'coloured' if coloured else 'place/transition'} net")
        return bool(coloured)

    def net(self) -> Net:
        for child in self._spread(self.element, 0):
            self._sort(child)
        names = {kind: self._names(nodes) for kind, nodes in self.nodes.items()}
        places = tuple(self._place(element, names["place"][number])
                       for number, element in self.nodes["place"].items())
        colours = {place.name: place.colour for place in places}
        arcs = self._arcs(names, colours)
        transitions = tuple(
            self._transition(element, names["transition"][number], tuple(arcs.get(number, ())))
            for number, element in self.nodes["transition"].items())
        name = _text(self.element, "name") or Path(self.source).stem
        page = Page(name, places, transitions)
        about = _tool_text(self.element, "about") or f"{name}, from {Path(self.source).name}"
        remarks = self.remarks + [f"{self.source}: {count} <{what}> not used here"
                                  for what, count in self.ignored.items()]
        return Net(name, page, self._declarations(), about, from_file=True,
                   remarks=tuple(remarks))

    def _spread(self, element: Element, depth: int) -> Iterator[Element]:
        if depth > MOST_DEPTH:
            raise self._mistake(f"pages lie more than {MOST_DEPTH} deep in one another")
        self._count_unknown(element, "net")
        for child in element:
            if _tag(child) == "page":
                yield from self._spread(child, depth + 1)
            else:
                yield child

    def _sort(self, child: Element) -> None:
        tag, number = _tag(child), child.get("id") or ""
        reference = tag in ("referencePlace", "referenceTransition")
        if (tag in self.nodes or reference) and (
                not number or number in self.references or any(
                    number in nodes for nodes in self.nodes.values())):
            raise self._mistake(f"a <{tag}> with the id '{number}', which is missing or not "
                                "the only one")
        if tag in self.nodes:
            self.nodes[tag][number] = child
            self._count_unknown(child, tag)
        elif reference:
            self.references[number] = child.get("ref") or ""
        elif tag == "arc":
            self.arcs.append(child)
            self._count_unknown(child, tag)

    def _count_unknown(self, element: Element, kind: str) -> None:
        for child in element:
            tag = _tag(child)
            foreign = tag == "toolspecific" and child.get("tool") != TOOL
            if tag not in _KNOWN[kind] or foreign:
                self.ignored[f"{tag} tool='{child.get('tool')}'" if foreign else tag] += 1

    def _names(self, nodes: dict[str, Element]) -> dict[str, str]:
        """Names where they are clear, else ids: tools allow two nodes of one name."""
        wanted = {number: _text(element, "name") or number for number, element in nodes.items()}
        often = Counter(wanted.values())
        return {number: name if often[name] == 1 else number for number, name in wanted.items()}

    def _place(self, element: Element, name: str) -> Place:
        colour_name = _text(element, "type")
        if not self.coloured or colour_name == UNIT.name:
            label = "hlinitialMarking" if self.coloured else "initialMarking"
            text = _text(element, label) or "0"
            return Place(name, UNIT, (self._whole(text, f"the marking of '{name}'"),),
                         at=_position(element))
        text = _text(element, "hlinitialMarking")
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
            if _text(element, "inscription") not in ("", "1"):
                raise self._mistake(f"an inhibitor arc from '{place}' with a weight; here one asks "
                                    "that the place is empty")
            return Arc(kind, place)
        if not self.coloured:
            if kind is ArcKind.ALL:
                return Arc(kind, place, "_")
            text = _text(element, "inscription") or "1"
            return Arc(kind, place, weight=str(self._whole(text, f"the weight at '{place}'", 1)))
        text = _text(element, "hlinscription")
        if colours[place] is UNIT and kind is not ArcKind.ALL:
            return Arc(kind, place, weight=text or "1")
        return Arc(kind, place, text or "()", delay_s=_tool_text(element, "delay"))

    def _kind(self, element: Element, out: bool) -> ArcKind:
        text = _text(element, "arctype") or next(
            (child.get("value") or "" for child in element if _tag(child) == "type"), "")
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
        return Transition(name, arcs, _text(element, "condition"),
                          tuple((left, right) for left, _, right in let),
                          self._whole(priority, f"the priority of '{name}'"),
                          at=_position(element))

    def _declarations(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in _text(self.element, "declaration").splitlines():
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


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: Element, label: str) -> str:
    """The text of a label; tools of old write it without <text>."""
    for child in element:
        if _tag(child) == label:
            inner = next((part for part in child if _tag(part) == "text"), None)
            return ((child if inner is None else inner).text or "").strip()
    return ""


def _tool_text(element: Element, name: str) -> str:
    for child in element:
        if _tag(child) == "toolspecific" and child.get("tool") == TOOL:
            for part in child:
                if _tag(part) == name:
                    return part.text or ""
    return ""


def _position(element: Element) -> Point:
    for child in element:
        if _tag(child) == "graphics":
            for part in child:
                if _tag(part) == "position":
                    try:
                        return float(part.get("x") or 0.0), float(part.get("y") or 0.0)
                    except ValueError:
                        return 0.0, 0.0
    return 0.0, 0.0
