"""The arithmetic of views: a change touches the entities that follow from it, and no other.

For every key that flows up, the children of an entity are the leaves of a small binary tree (an
iterative segment tree of 2n numbers, its root at place 1). A changed child costs log2(children)
steps at each level instead of a pass over all its siblings; minimum and maximum cost the same as
sums; and because a sum is always formed in the same order, the value after a million updates is
bit by bit that of a fresh computation: nothing drifts.

`values` and `heaps` have a row per key. A missing value is NaN; in an aggregation tree it is the
neutral element (0, +infinity, -infinity).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray
from wattline.model.views.keys import Inherit

SUM = int(Inherit.CHILDREN_SUM)
MIN = int(Inherit.CHILDREN_MIN)
MAX = int(Inherit.CHILDREN_MAX)
AVERAGE = int(Inherit.CHILDREN_AVERAGE)
COUNT = int(Inherit.CHILDREN_COUNT)
DOWN_SUM = int(Inherit.PARENTS_SUM)
DOWN_MIN = int(Inherit.PARENTS_MIN)
DOWN_MAX = int(Inherit.PARENTS_MAX)
DOWN_SHARE = int(Inherit.PARENTS_SHARE)


# What the kernels read of an entity and of a key. Few arrays: each costs a Python caller time.
NODE = np.dtype([(name, np.int64) for name in (
    "parent", "end", "type_code", "child_count", "child_slot", "heap")])
RULE = np.dtype([(name, np.int64) for name in ("inherit", "source", "first_user", "last_user")])


class Shape(NamedTuple):
    """The arrays of a view that its kernels read and write."""

    nodes: npt.NDArray[np.void]
    """A `NODE` an entity."""
    rules: npt.NDArray[np.void]
    """A `RULE` a key: how it inherits, the row of its source (-1 for none), its users."""
    user: IntArray
    """Keys that follow from key k: user[first_user : last_user] of its rule."""
    on: FloatArray
    """on[key, type]: 1 where entities of that type have the key."""
    values: FloatArray
    heaps: FloatArray
    """heaps[key, 0] are the values of the aggregation trees, heaps[key, 1] how many they hold."""


@kernel
def set_value(shape: Shape, key: int, entity: int, value: float) -> int:
    """Set a value and all that follows from it: first down, then up. Returns values touched."""
    shape.values[key, entity] = value
    touched = 1
    if _any_down(shape, key):
        touched += _flow_down(shape, key, entity)
    return touched + _flow_up(shape, key, entity)


@kernel
def set_values(shape: Shape, key: int, entities: IntArray, values: FloatArray) -> int:
    """Many entities of one key, as `set_value` one by one; returns values touched."""
    touched = 0
    for i in range(entities.size):
        touched += set_value(shape, key, entities[i], values[i])
    return touched


@kernel
def recompute(shape: Shape) -> int:
    """Everything anew: what an update would cost without knowing what it affects."""
    keys, count = shape.values.shape
    touched = 0
    for key in range(keys):
        inherit = shape.rules[key]["inherit"]
        if inherit >= DOWN_SUM:
            for entity in range(count):
                touched += _inherit_down(shape, key, entity)
    for key in range(keys):
        inherit = shape.rules[key]["inherit"]
        if 0 < inherit < DOWN_SUM:
            _clear(shape, key)
    for entity in range(count - 1, -1, -1):
        for key in range(keys):
            inherit = shape.rules[key]["inherit"]
            if 0 < inherit < DOWN_SUM and shape.nodes[entity]["child_count"] > 0:
                _fold(shape, key, entity)
                touched += 1
        parent = shape.nodes[entity]["parent"]
        if parent >= 0:
            for key in range(keys):
                inherit = shape.rules[key]["inherit"]
                if 0 < inherit < DOWN_SUM:
                    _put_leaf(shape, key, parent, entity)
    return touched


@kernel
def _any_down(shape: Shape, key: int) -> bool:
    for place in range(shape.rules[key]["first_user"], shape.rules[key]["last_user"]):
        if shape.rules[shape.user[place]]["inherit"] >= DOWN_SUM:
            return True
    return False


@kernel
def _flow_down(shape: Shape, key: int, entity: int) -> int:
    """Recompute, in the subtree, the keys that flow down from this one; then send them up."""
    touched = 0
    for place in range(shape.rules[key]["first_user"], shape.rules[key]["last_user"]):
        follower = shape.user[place]
        if shape.rules[follower]["inherit"] < DOWN_SUM:
            continue
        for below in range(entity + 1, shape.nodes[entity]["end"]):
            touched += _inherit_down(shape, follower, below)
        # A key that follows from the follower lies in the same subtree: one pass more each.
        if follower != key and _any_down(shape, follower):
            for below in range(entity + 1, shape.nodes[entity]["end"]):
                touched += _flow_down(shape, follower, below)
        for below in range(shape.nodes[entity]["end"] - 1, entity, -1):
            touched += _flow_up(shape, follower, below)
    return touched


@kernel
def _inherit_down(shape: Shape, key: int, entity: int) -> int:
    parent = shape.nodes[entity]["parent"]
    inherit = shape.rules[key]["inherit"]
    if parent < 0 or shape.on[key, shape.nodes[entity]["type_code"]] == 0.0:
        return 0
    source = shape.rules[key]["source"]
    if inherit == DOWN_SHARE:
        siblings = shape.nodes[parent]["child_count"]
        shape.values[key, entity] = shape.values[source, parent] / siblings
        return 1
    found = math.nan
    number = 0
    while parent >= 0:
        value = shape.values[source, parent]
        # With itself as source the nearest value already tells of all those above it.
        if not math.isnan(value):
            number += 1
            if math.isnan(found) or inherit == DOWN_SUM:
                found = value if math.isnan(found) else found + value
            elif inherit == DOWN_MIN:
                found = min(found, value)
            elif inherit == DOWN_MAX:
                found = max(found, value)
            else:
                found += value
            if source == key:
                break
        parent = shape.nodes[parent]["parent"]
    if inherit > DOWN_MAX and number > 1:
        found /= number
    shape.values[key, entity] = found
    return 1


@kernel
def _flow_up(shape: Shape, key: int, entity: int) -> int:
    """Send a changed value to the keys of the enclosing entities that follow from it."""
    parent = shape.nodes[entity]["parent"]
    touched = 0
    if parent < 0:
        return touched
    for place in range(shape.rules[key]["first_user"], shape.rules[key]["last_user"]):
        follower = shape.user[place]
        inherit = shape.rules[follower]["inherit"]
        if 0 < inherit < DOWN_SUM:
            _lift(shape, follower, parent, entity)
            touched += 1 + _flow_up(shape, follower, parent)
    return touched


@kernel
def _lift(shape: Shape, key: int, parent: int, entity: int) -> None:
    """One child changed: renew the way from its leaf to the root of the parent's heap."""
    inherit = shape.rules[key]["inherit"]
    heap = shape.heaps[key, 0]
    count = shape.heaps[key, 1]
    base = shape.nodes[parent]["heap"]
    _put_leaf(shape, key, parent, entity)
    node = (shape.nodes[parent]["child_count"] + shape.nodes[entity]["child_slot"]) >> 1
    while node >= 1:
        left, right = base + 2 * node, base + 2 * node + 1
        heap[base + node] = _combined(inherit, heap[left], heap[right])
        count[base + node] = count[left] + count[right]
        node >>= 1
    _settle(shape, key, parent)


@kernel
def _put_leaf(shape: Shape, key: int, parent: int, entity: int) -> None:
    inherit = shape.rules[key]["inherit"]
    value = shape.values[shape.rules[key]["source"], entity]
    above = shape.nodes[parent]
    leaf = above["heap"] + above["child_count"] + shape.nodes[entity]["child_slot"]
    present = not math.isnan(value)
    shape.heaps[key, 1, leaf] = 1.0 if present else 0.0
    shape.heaps[key, 0, leaf] = value if present else _neutral(inherit)


@kernel
def _fold(shape: Shape, key: int, parent: int) -> None:
    """The heap of a parent whose leaves are in place."""
    inherit = shape.rules[key]["inherit"]
    base = shape.nodes[parent]["heap"]
    for node in range(shape.nodes[parent]["child_count"] - 1, 0, -1):
        left, right = base + 2 * node, base + 2 * node + 1
        shape.heaps[key, 0, base + node] = _combined(
            inherit, shape.heaps[key, 0, left], shape.heaps[key, 0, right]
        )
        shape.heaps[key, 1, base + node] = shape.heaps[key, 1, left] + shape.heaps[key, 1, right]
    _settle(shape, key, parent)


@kernel
def _settle(shape: Shape, key: int, parent: int) -> None:
    """Take the parent's value from the root of its heap."""
    if shape.on[key, shape.nodes[parent]["type_code"]] == 0.0:
        return
    inherit = shape.rules[key]["inherit"]
    root = shape.nodes[parent]["heap"] + 1
    number = shape.heaps[key, 1, root]
    if inherit == COUNT:
        shape.values[key, parent] = number
    elif number == 0.0:
        shape.values[key, parent] = math.nan
    elif inherit == AVERAGE:
        shape.values[key, parent] = shape.heaps[key, 0, root] / number
    else:
        shape.values[key, parent] = shape.heaps[key, 0, root]


@kernel
def _clear(shape: Shape, key: int) -> None:
    neutral = _neutral(shape.rules[key]["inherit"])
    shape.heaps[key, 0, :] = neutral
    shape.heaps[key, 1, :] = 0.0
    for entity in range(shape.nodes.size):
        if shape.nodes[entity]["child_count"] > 0:
            shape.values[key, entity] = math.nan


@kernel
def _combined(inherit: int, left: float, right: float) -> float:
    if inherit == MIN:
        return min(left, right)
    if inherit == MAX:
        return max(left, right)
    return left + right


@kernel
def _neutral(inherit: int) -> float:
    if inherit == MIN:
        return np.inf
    if inherit == MAX:
        return -np.inf
    return 0.0


@kernel
def first_exceeded(
    shape: Shape, used: int, limit: int, entities: IntArray, tolerance: float
) -> int:
    """The first entity on the way up from these whose use is above its limit, or -1."""
    for i in range(entities.size):
        entity = entities[i]
        while entity >= 0:
            bound = shape.values[limit, entity]
            if shape.values[used, entity] > bound + tolerance:
                return int(entity)
            entity = shape.nodes[entity]["parent"]
    return -1


@kernel
def headroom(shape: Shape, used: int, limit: int, entity: int) -> float:
    """How much more this entity may use until a limit on the way to the root is reached."""
    room = np.inf
    while entity >= 0:
        bound = shape.values[limit, entity]
        if not math.isnan(bound):
            use = shape.values[used, entity]
            room = min(room, bound - (0.0 if math.isnan(use) else use))
        entity = shape.nodes[entity]["parent"]
    return room
