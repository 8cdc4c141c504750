"""Parts that a PNML file may have so that the net that is read is the net that was written.

What changes how a net behaves and is not known here is refused; what describes it (positions,
colours of a drawing, final markings, data of a tool) is passed over, counted and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree

from wattline.model.errors import InputError
from wattline.petri.pnml import TOOL

Element = ElementTree.Element

_NODE = {"name", "graphics", "toolspecific"}
_USED = {
    "net": _NODE | {"page", "place", "transition", "arc", "declaration", "referencePlace",
                    "referenceTransition"},
    "place": _NODE | {"initialMarking", "hlinitialMarking", "type"},
    "transition": _NODE | {"condition"},
    "arc": _NODE | {"inscription", "hlinscription", "arctype", "type"},
    "referencePlace": _NODE, "referenceTransition": _NODE,
}
_DESCRIBES = {
    "net": {"finalmarkings", "labels", "token", "tokenclass", "description", "author", "text"},
    "place": {"description", "capacity"},
    "transition": {"description", "orientation", "rate", "infiniteServer", "timed", "priority"},
    "arc": {"description", "arcpath", "tagged"},
    "referencePlace": set[str](), "referenceTransition": set[str](),
}
"""Labels without an effect on which states a net has. Of `capacity` this is so where it is 0, by
which tools mean none; of `rate` where it is not 0; of `timed` and `priority` where all transitions
have the same."""
_ATTRIBUTES = {"id", "source", "target", "ref", "name", "active", "displayName", "angle",
               "positionX", "positionY", "nameOffsetX", "nameOffsetY", "page"}
_SHOWN = 40


def check_net(source: str, net: Element) -> Counter[str]:
    """Refuse what is not understood; what is passed over, by how often it comes."""
    passed: Counter[str] = Counter()
    marked = written_here(net)
    alike: dict[str, set[str]] = {"timed": set(), "priority": set()}
    for kind, element in _nodes(net):
        where = _place_of(kind, element)
        for name in element.attrib:
            if "}" not in name and name not in _ATTRIBUTES and (kind, name) != ("net", "type"):
                raise InputError(f"{source}: {where} has the attribute {name}, which is not "
                                 "understood here, and the net might be another without it")
        for child in element:
            tag = tag_of(child)
            foreign = tag == "toolspecific" and child.get("tool") != TOOL
            if tag not in _USED[kind] and tag not in _DESCRIBES[kind]:
                raise InputError(f"{source}: {where} has a <{tag}>, which is not understood here, "
                                 "and the net might be another without it")
            if tag not in _USED[kind] or foreign:
                passed[f"{tag} tool='{child.get('tool')}'" if foreign else tag] += 1
            if tag == "capacity" and label_text(source, element, tag) != "0":
                raise InputError(f"{source}: {where} has a <capacity>: places are without an end "
                                 "here, so it would be another net")
            if tag == "rate" and _is_zero(label_text(source, element, tag)):
                raise InputError(f"{source}: {where} has a <rate> of 0, so that it would never "
                                 "fire; rates are not counted here")
            if tag != "toolspecific" and any(tag_of(part) == "structure" for part in child):
                raise InputError(
                    f"{source}: the <{tag}> of {where} is a term (<structure>), as coloured nets "
                    "of the standard have them; these are not read, unfold the net to a "
                    "place/transition net")
        if kind == "transition":
            for tag, texts in alike.items():
                texts.add(label_text(source, element, tag))
            if not marked and label_text(source, element, "condition"):
                raise InputError(f"{source}: {where} has a <condition>, whose language is not "
                                 "known here")
    for tag, texts in alike.items():
        if len(texts) > 1:
            raise InputError(f"{source}: transitions differ in <{tag}> ({_few(texts)}), by which "
                             "some would go first; that is not understood here")
    return passed


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False


def written_here(net: Element) -> bool:
    """Say whether the labels of a coloured net are those that this package writes."""
    return any(tag_of(child) == "toolspecific" and child.get("tool") == TOOL for child in net)


def _nodes(net: Element) -> Iterable[tuple[str, Element]]:
    """The net, its pages and their nodes and arcs."""
    still = [net]
    while still:
        page = still.pop()
        yield "net", page
        for element in page:
            tag = tag_of(element)
            if tag == "page":
                still.append(element)
            elif tag in _USED:
                yield tag, element


def _place_of(kind: str, element: Element) -> str:
    return "the net" if kind == "net" else f"the {kind} '{(element.get('id') or '')[:_SHOWN]}'"


def _few(texts: set[str]) -> str:
    return ", ".join(sorted(text[:_SHOWN] for text in texts)[:3])


def tag_of(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def label_text(source: str, element: Element, label: str) -> str:
    """The text of a label. Tools of old write it without <text>, PIPE as a <value>."""
    found = [child for child in element if tag_of(child) == label]
    if not found:
        return ""
    if len(found) > 1:
        raise InputError(f"{source}: <{tag_of(element)}> '{element.get('id')}' has {len(found)} "
                         f"<{label}>; it has one")
    inner = [part for part in found[0] if tag_of(part) in ("text", "value")]
    others = {tag_of(part) for part in found[0]} - {"text", "value", "graphics", "toolspecific",
                                                    "structure"}
    if len(inner) > 1 or others or any(len(part) for part in inner):
        raise InputError(f"{source}: the <{label}> of <{tag_of(element)}> '{element.get('id')}' "
                         f"is {_few(others) or 'of several parts'}, which is not understood here; "
                         "it is one <text>")
    text = ((inner[0] if inner else found[0]).text or "").strip()
    if inner and tag_of(inner[0]) == "value" and label in ("initialMarking", "inscription"):
        return _one_class(source, element, text)
    return text


def _one_class(source: str, element: Element, text: str) -> str:
    """Of a value like `Default,2` the number; tokens of several classes are refused."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1:
        return parts[0]
    counts = [count for count in parts[1::2] if count != "0"]
    if len(parts) % 2 or len(counts) > 1:
        raise InputError(f"{source}: <{tag_of(element)}> '{element.get('id')}' has "
                         f"'{text[:_SHOWN]}': tokens of several classes are not understood here")
    return counts[0] if counts else "0"
