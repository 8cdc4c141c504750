"""A view of the machine: a tree, its keys, and the values that follow from each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.model.views import update
from wattline.model.views.keys import Inherit, Key, KeyType, check_keys
from wattline.model.views.tree import Entity, Tree

Value = float | int | bool | str | None


@dataclass(frozen=True)
class Bound:
    """Two keys of a view: what is used, and the limit that it must not pass, at any level.

    Where jobs are placed by it: of each watt that a node draws, the part in the key `share` (a half
    of two feeds, the heat of a watt) counts, without it all; with `carries` also what other views
    have of the node, for the case that those fail.
    """

    used: str
    limit: str
    share: str = ""
    carries: tuple[str, ...] = ()


class BoundExceeded(InputError):
    """A change would have passed a limit somewhere on the way to the root; it was undone."""

    def __init__(self, message: str, entity: str, used: float, limit: float) -> None:
        super().__init__(message)
        self.entity = entity
        self.used = used
        self.limit = limit


class MachineView:
    """One tree over the machine's entities with its properties.

    Values are set with `set` or, for many entities at once, `set_many`; what inherits from them
    is brought up to date at once, touching only the entities that are affected.
    """

    def __init__(
        self,
        name: str,
        entities: Iterable[Entity],
        keys: Iterable[Key],
        values: Mapping[str, Mapping[str, Any]] | None = None,
        bounds: Iterable[Bound] = (),
    ) -> None:
        self.name = name
        self.tree = Tree.build(name, entities)
        by_name = check_keys(keys)
        self.keys = {key.name: key for key in _in_order(by_name) if key.type != KeyType.TEXT}
        self.texts: dict[str, dict[int, str]] = {
            key.name: {} for key in by_name.values() if key.type == KeyType.TEXT
        }
        self._text_keys = {k.name: k for k in by_name.values() if k.type == KeyType.TEXT}
        self._row = {key: row for row, key in enumerate(self.keys)}
        self.bounds = tuple(bounds)
        for bound in self.bounds:
            for key in filter(None, (bound.used, bound.limit, bound.share)):
                self._key_row(key)
        self.shape = _shape(self.tree, list(self.keys.values()))
        for key_name, given in (values or {}).items():
            self._fill(key_name, given)
        self.recompute()
        self._refuse_exceeded(np.arange(len(self.tree), dtype=np.int64))

    def __repr__(self) -> str:
        keys = ", ".join(key.name for key in self.all_keys)
        return f"MachineView({self.name!r}: {len(self.tree):,} entities with {keys or 'no keys'})"

    @property
    def all_keys(self) -> list[Key]:
        """Those with numbers and those with texts."""
        return [*self.keys.values(), *self._text_keys.values()]

    def get(self, entity: str, key: str) -> Value:
        """One value, None where the entity has none."""
        place = self.tree.of(entity)
        if key in self.texts:
            return self.texts[key].get(place)
        return self.keys[self._name(key)].shown(float(self.column(key)[place]))

    def column(self, key: str) -> FloatArray:
        """A key of all entities, in the tree's order; NaN where there is no value."""
        found: FloatArray = self.shape.values[self._key_row(key)]
        return found

    def set(self, entity: str, key: str, value: Value) -> int:
        """Set one value; returns how many values changed with it."""
        place = self.tree.of(entity)
        if key in self.texts:
            self._refuse_read_only(self._text_keys[key])
            self._refuse_others(self._text_keys[key], [place])
            self.texts[key][place] = str(value)
            return 1
        return self.set_many(key, [place], [self.keys[self._name(key)].value_of(value)])

    def set_many(self, key: str, entities: npt.ArrayLike, values: npt.ArrayLike) -> int:
        """Set one key of many entities (by number) at once, or of none if a bound forbids it."""
        row = self._key_row(key)
        self._refuse_read_only(self.keys[key])
        places = np.ascontiguousarray(entities, dtype=np.int64)
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        self._refuse_others(self.keys[key], places)
        self._refuse_inherited(self.keys[key], places)
        if not self.bounds:
            return int(update.set_values(self.shape, row, places, numbers))
        before = self.shape.values[row, places].copy()
        touched = int(update.set_values(self.shape, row, places, numbers))
        try:
            self._refuse_exceeded(places)
        except BoundExceeded:
            update.set_values(self.shape, row, places[::-1].copy(), before[::-1].copy())
            raise
        return touched

    def set_fast(self, key_row: int, place: int, value: float) -> int:
        """One value by numbers, unchecked: for callers that have checked (see `row_of`)."""
        return int(update.set_value(self.shape, key_row, place, value))

    def row_of(self, key: str) -> int:
        """The number of a key, for `set_fast`."""
        return self._key_row(key)

    def recompute(self) -> int:
        """Bring everything up to date from scratch; returns how many values were formed."""
        return int(update.recompute(self.shape))

    def headroom(self, entity: str, bound: Bound | None = None) -> float:
        """How much more may be used here until some limit up to the root is reached."""
        chosen = [bound] if bound else list(self.bounds)
        place = self.tree.of(entity)
        return min(
            (
                float(update.headroom(self.shape, self._key_row(b.used), self._key_row(b.limit),
                                      place))
                for b in chosen
            ),
            default=float("inf"),
        )

    def rows(self, depth: int | None = None, under: str = "") -> list[dict[str, Value]]:
        """What a person sees: one row per entity with its values, down to a depth."""
        first = self.tree.of(under) if under else 0
        last = int(self.tree.end[first]) if under else len(self.tree)
        base = int(self.tree.depth[first])
        found: list[dict[str, Value]] = []
        for place in range(first, last):
            level = int(self.tree.depth[place]) - base
            if depth is not None and level > depth:
                continue
            row: dict[str, Value] = {
                "entity": self.tree.names[place],
                "type": self.tree.types[place],
                "level": level,
            }
            for name, key in self.keys.items():
                row[name] = key.shown(float(self.column(name)[place]))
            for name, texts in self.texts.items():
                row[name] = texts.get(place)
            found.append(row)
        return found

    def _fill(self, key: str, given: Mapping[str, Any]) -> None:
        if key in self.texts:
            self.texts[key] = {self.tree.of(e): str(v) for e, v in given.items()}
            return
        known = self.keys[self._name(key)]
        places = np.array([self.tree.of(entity) for entity in given], dtype=np.int64)
        self._refuse_inherited(known, places)
        self._refuse_others(known, places)
        for place, value in zip(places, given.values(), strict=True):
            self.shape.values[self._key_row(key), place] = known.value_of(value)

    def _refuse_others(self, key: Key, places: Iterable[int]) -> None:
        """Refuse entities of types that do not have the key."""
        if not key.on:
            return
        for place in places:
            if self.tree.types[place] not in key.on:
                raise InputError(
                    f"view '{self.name}': {self.tree.types[place]} '{self.tree.names[place]}' "
                    f"has no key '{key.name}'; it is for {', '.join(key.on)}"
                )

    def _name(self, key: str) -> str:
        self._key_row(key)
        return key

    def _key_row(self, key: str) -> int:
        row = self._row.get(key)
        if row is None:
            known = ", ".join([*self.keys, *self.texts])
            raise InputError(f"view '{self.name}' has no key '{key}'; it has {known}")
        return row

    def _refuse_read_only(self, key: Key) -> None:
        if key.read_only:
            raise InputError(f"view '{self.name}': key '{key.name}' is read-only")

    def _refuse_inherited(self, key: Key, places: IntArray) -> None:
        if key.inherit == Inherit.NOTHING:
            return
        tree = self.tree
        own = tree.child_count[places] == 0 if key.inherit.up else tree.parent[places] < 0
        if key.source_name != key.name:
            own = np.zeros(len(places), dtype=np.bool_)
        if not np.all(own):
            place = int(places[np.flatnonzero(~own)[0]])
            where = "what lies below it" if key.inherit.up else "what lies above it"
            raise InputError(
                f"view '{self.name}': '{key.name}' of '{tree.names[place]}' follows from "
                f"'{key.source_name}' of {where} ({key.inherit.name.lower()}); set it there"
            )

    def _refuse_exceeded(self, places: IntArray) -> None:
        for bound in self.bounds:
            used, limit = self._key_row(bound.used), self._key_row(bound.limit)
            found = int(update.first_exceeded(self.shape, used, limit, places, CAP_SLACK))
            if found >= 0:
                use = float(self.shape.values[used, found])
                most = float(self.shape.values[limit, found])
                name = self.tree.names[found]
                raise BoundExceeded(
                    f"view '{self.name}': {bound.used} of {self.tree.types[found]} '{name}' "
                    f"would be {use:,.6g}, above its {bound.limit} of {most:,.6g}",
                    name, use, most,
                )


def _in_order(by_name: Mapping[str, Key]) -> list[Key]:
    """Sources before what follows from them, otherwise as declared."""
    ordered: dict[str, Key] = {}

    def add(key: Key) -> None:
        if key.name in ordered:
            return
        if key.inherit != Inherit.NOTHING and key.source_name != key.name:
            add(by_name[key.source_name])
        ordered[key.name] = key

    for key in by_name.values():
        add(key)
    return list(ordered.values())


def _shape(tree: Tree, keys: Sequence[Key]) -> update.Shape:
    row = {key.name: at for at, key in enumerate(keys)}
    source = np.array(
        [row[k.source_name] if k.inherit != Inherit.NOTHING else -1 for k in keys], dtype=np.int64
    )
    users = [[at for at in range(len(keys)) if source[at] == key] for key in range(len(keys))]
    kinds = sorted(set(tree.types))
    on = np.array([[float(not k.on or kind in k.on) for kind in kinds] for k in keys])
    nodes = np.zeros(len(tree), dtype=update.NODE)
    for column in update.NODE.names or ():
        nodes[column] = getattr(tree, column)
    ends = np.cumsum([0, *map(len, users)], dtype=np.int64)
    rules = np.zeros(len(keys), dtype=update.RULE)
    rules["inherit"] = [int(k.inherit) for k in keys]
    rules["source"], rules["first_user"], rules["last_user"] = source, ends[:-1], ends[1:]
    return update.Shape(
        nodes=nodes,
        rules=rules,
        user=np.array([at for found in users for at in found], dtype=np.int64),
        on=on.reshape(len(keys), len(kinds)),
        values=np.full((len(keys), len(tree)), np.nan),
        heaps=np.zeros((len(keys), 2, 2 * int(tree.child_count.sum()) + 2)),
    )
