"""The shape of a view: entities in a tree, numbered so that every subtree is a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.nearest import did_you_mean


@dataclass(frozen=True)
class Entity:
    """One component of the machine as one view sees it."""

    name: str
    type: str
    parent: str = ""
    """Name of the entity that encloses it in this view; empty for the root."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Entities in preorder: the subtree of entity i is i .. end[i] - 1.

    `child_slot` is the place among the parent's children, `heap` where the parent's aggregation
    tree begins (see `update.py`), `child` and `first_child` list the children.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    type_code: IntArray
    parent: IntArray
    end: IntArray
    depth: IntArray
    child_count: IntArray
    child_slot: IntArray
    first_child: IntArray
    child: IntArray
    heap: IntArray
    index: dict[str, int]

    @classmethod
    def build(cls, view: str, entities: Iterable[Entity]) -> Tree:
        """Lay out a tree, or say what makes it none: a circle, two parents, an unknown parent."""
        listed = list(entities)
        by_name = _by_name(view, listed)
        children = _children(view, listed, by_name)
        order = _preorder(view, listed, children)
        return _arrays(listed, order, children)

    def __len__(self) -> int:
        return len(self.names)

    def of(self, name: str) -> int:
        found = self.index.get(name)
        if found is None:
            raise InputError(f"the view has no entity '{name}'" + did_you_mean(name, self.names))
        return found

    def path(self, entity: int) -> list[int]:
        """The entity and all that enclose it, up to the root."""
        found = []
        while entity >= 0:
            found.append(entity)
            entity = int(self.parent[entity])
        return found

    def children_of(self, entity: int) -> IntArray:
        start = int(self.first_child[entity])
        return self.child[start : start + int(self.child_count[entity])]

    def of_type(self, kind: str) -> IntArray:
        """All entities of a type, in order."""
        names = sorted(set(self.types))
        if kind not in names:
            raise InputError(f"the view has no entities of type '{kind}'; it has {names}")
        return np.flatnonzero(self.type_code == names.index(kind)).astype(np.int64)


def _by_name(view: str, listed: Sequence[Entity]) -> dict[str, int]:
    by_name: dict[str, int] = {}
    for row, entity in enumerate(listed):
        if not entity.name:
            raise InputError(f"view '{view}': an entity without a name")
        if entity.name not in by_name:
            by_name[entity.name] = row
            continue
        other = listed[by_name[entity.name]].parent
        if other == entity.parent:
            raise InputError(f"view '{view}': entity '{entity.name}' is listed twice")
        raise InputError(
            f"view '{view}': entity '{entity.name}' is in two parents, '{other or '(root)'}' and "
            f"'{entity.parent or '(root)'}'; in one tree it may have one"
        )
    return by_name


def _children(
    view: str, listed: Sequence[Entity], by_name: dict[str, int]
) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in listed]
    for row, entity in enumerate(listed):
        if not entity.parent:
            continue
        parent = by_name.get(entity.parent)
        if parent is None:
            raise InputError(
                f"view '{view}': the parent '{entity.parent}' of '{entity.name}' is no entity"
            )
        children[parent].append(row)
    return children


def _preorder(view: str, listed: Sequence[Entity], children: list[list[int]]) -> list[int]:
    roots = [row for row, entity in enumerate(listed) if not entity.parent]
    order: list[int] = []
    stack = roots[::-1]
    while stack:
        row = stack.pop()
        order.append(row)
        stack.extend(reversed(children[row]))
    if len(order) < len(listed):
        _refuse_circle(view, listed, set(order))
    if not order:
        raise InputError(f"view '{view}' has no entities")
    return order


def _refuse_circle(view: str, listed: Sequence[Entity], reached: set[int]) -> None:
    by_name = {entity.name: row for row, entity in enumerate(listed)}
    row = next(row for row in range(len(listed)) if row not in reached)
    walked: list[int] = []
    while row not in walked:
        walked.append(row)
        row = by_name[listed[row].parent]
    circle = [listed[member].name for member in walked[walked.index(row) :]]
    raise InputError(
        f"view '{view}' is cyclic: " + " in ".join([*circle, circle[0]]) + "; a view is a tree"
    )


def _arrays(listed: Sequence[Entity], order: list[int], children: list[list[int]]) -> Tree:
    count = len(order)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    parent = np.full(count, -1, dtype=np.int64)
    slot = np.zeros(count, dtype=np.int64)
    child_count = np.array([len(children[row]) for row in order], dtype=np.int64)
    first_child = np.zeros(count, dtype=np.int64)
    first_child[1:] = np.cumsum(child_count)[:-1]
    child = np.empty(int(child_count.sum()), dtype=np.int64)
    for here, row in enumerate(order):
        for at, below in enumerate(children[row]):
            other = int(place[below])
            parent[other], slot[other] = here, at
            child[first_child[here] + at] = other
    depth = np.zeros(count, dtype=np.int64)
    end = np.arange(1, count + 1, dtype=np.int64)
    for entity in range(count):
        if parent[entity] >= 0:
            depth[entity] = depth[parent[entity]] + 1
    for entity in range(count - 1, -1, -1):
        if parent[entity] >= 0:
            end[parent[entity]] = max(end[parent[entity]], end[entity])
    types = tuple(listed[row].type for row in order)
    codes = {kind: code for code, kind in enumerate(sorted(set(types)))}
    heap = np.zeros(count, dtype=np.int64)
    heap[1:] = 2 * np.cumsum(child_count)[:-1]
    names = tuple(listed[row].name for row in order)
    return Tree(
        names=names,
        types=types,
        type_code=np.array([codes[kind] for kind in types], dtype=np.int64),
        parent=parent,
        end=end,
        depth=depth,
        child_count=child_count,
        child_slot=slot,
        first_child=first_child,
        child=child,
        heap=heap,
        index={name: entity for entity, name in enumerate(names)},
    )
