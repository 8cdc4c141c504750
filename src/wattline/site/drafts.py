"""A view as it is drafted from a site's files, and as it is written down."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from wattline.model.errors import InputError
from wattline.model.units import fold_hosts, parse_hosts

NODE = "node"


@dataclass(frozen=True)
class DraftEntity:
    """An entity of a view."""

    name: str
    type: str
    parent: str = ""
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """A view: its parts, and what had to be left out of it."""

    name: str
    parts: tuple[DraftEntity, ...]
    source: str
    remarks: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if part.type == NODE)


@dataclass(frozen=True)
class Powers:
    """What no configuration file says: watts of an idle node, limits by entity, feeds."""

    idle_w: float | None = None
    limits_w: Mapping[str, float] = field(default_factory=dict)
    share: float | None = None
    """Of each watt of a node the part that this view feeds; None for all."""
    carries: tuple[str, ...] = ()
    """Views that it must stand in for if they fail."""


def writable(draft: Draft) -> Draft:
    """Without the parts whose names a views file cannot have, and what hangs on them."""
    lost: set[str] = set()
    kept = []
    for part in _parents_first(draft.parts):
        if part.parent in lost or not _is_name(part.name):
            lost.add(part.name)
        else:
            kept.append(part)
    if not lost:
        return draft
    named = ", ".join(repr(name) for name in sorted(lost)[:3])
    remark = (f"{draft.source}: {len(lost)} parts whose names have brackets, commas or blanks at "
              f"an end, or that hang on such, are left out of '{draft.name}': {named}")
    return replace(draft, parts=tuple(kept), remarks=(*draft.remarks, remark))


def mapping_of(draft: Draft, powers: Powers) -> dict[str, Any]:
    """The table `[views.NAME]`, entities that are alike as one line."""
    given = sorted({key for part in draft.parts for key in part.values})
    keys = [_sum_key("nodes"), *map(_sum_key, given)]
    bounds: list[dict[str, Any]] = []
    if powers.idle_w is not None:
        keys += [{"name": "power_w", "unit": "W", "inherit": "children_sum"},
                 {"name": "limit_w", "unit": "W"}]
        keys += [] if powers.share is None else [{"name": "share"}]
        bounds = [{"used": "power_w", "limit": "limit_w"}
                  | ({} if powers.share is None else {"share": "share"})]
        bounds += [{**bounds[0], "carries": list(powers.carries)}] if powers.carries else []
    table = {"keys": keys, "entities": list(_entities(draft, powers))}
    return {"bounds": bounds, **table} if bounds else table


def toml_of(tables: Mapping[str, Mapping[str, Any]], heading: Iterable[str]) -> str:
    """Views as a TOML text with an entity per line, as a person would write them."""
    lines = ["# " + "".join(each if each.isprintable() else "?" for each in line)
             for line in heading]
    for name, table in tables.items():
        lines += ["", f"[views.{_key(name)}]"]
        for key, rows in table.items():
            lines += [f"{key} = [", *(f"  {_inline(row)}," for row in rows), "]"]
    return "\n".join(lines) + "\n"


def _sum_key(name: str) -> dict[str, Any]:
    return {"name": name, "type": "integer", "inherit": "children_sum", "read_only": True}


def _entities(draft: Draft, powers: Powers) -> Iterable[dict[str, Any]]:
    def row(part: DraftEntity) -> dict[str, Any]:
        found: dict[str, Any] = {"type": part.type}
        if part.parent:
            found["parent"] = part.parent
        if part.type == NODE:
            found |= {"nodes": 1, **part.values}
            if powers.idle_w is not None:
                fed = 1.0 if powers.share is None else powers.share
                found["power_w"] = powers.idle_w * fed
            if powers.share is not None:
                found["share"] = powers.share
        if part.name in powers.limits_w:
            found["limit_w"] = powers.limits_w[part.name]
        return found

    for facts, alike in groupby(draft.parts, row):
        yield {"name": fold_hosts(part.name for part in alike), **facts}


def _inline(row: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{_key(key)} = {_value(value)}" for key, value in row.items()) + "}"


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_name(name: str) -> bool:
    try:
        return parse_hosts(name) == [name] and name.isprintable()
    except InputError:
        return False


def _parents_first(parts: Sequence[DraftEntity]) -> list[DraftEntity]:
    """In the order of the tree; parts that hang in a circle come last, for the view to refuse."""
    below: dict[str, list[DraftEntity]] = {}
    for part in parts:
        below.setdefault(part.parent, []).append(part)
    names = {part.name for part in parts}
    stack = [part for part in reversed(parts) if part.parent not in names]
    found: dict[int, DraftEntity] = {}
    while stack:
        part = stack.pop()
        if id(part) in found:
            continue
        found[id(part)] = part
        stack.extend(reversed(below.get(part.name, [])))
    return [*found.values(), *(part for part in parts if id(part) not in found)]
