"""From a view with bounds to the placement that keeps them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Watts, Whole
from wattline.model.jobs import IntArray
from wattline.model.machine import MOST_NODES, Machine
from wattline.model.run import PowerBound
from wattline.model.signal import FloatArray
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.setting import Setting

if TYPE_CHECKING:
    from wattline.model.views import View
    from wattline.policies.placement.bounded import Bounded

NODE_TYPE = "node"
SAME = 1e-6
"""How far two figures for one idle power may differ, relative to it."""


class BoundedParameters(Parameters):
    """Limits by entity (rack0, pdu1, site), or a file of views with bounds."""

    limits: dict[str, Annotated[Watts, Field(ge=0)]] | None = None
    views: FileName = ""
    view: str = "power"
    racks_per_pdu: Whole = Field(8, ge=1, le=MOST_NODES)


def bounded(view: View, machine: Machine) -> Bounded:
    """Keep the power bounds of a view whose nodes are idle now."""
    from wattline.policies.placement.bounded import Bounded, BoundedMemory

    leaf = _nodes(view)
    if len(leaf) != machine.node_count:
        raise InputError(f"view '{view.name}' has {len(leaf)} nodes, the machine has "
                         f"{machine.node_count}")
    room = _room(view, leaf, machine)
    memory = BoundedMemory.start(room_w=room.copy(), trial_w=room.copy())
    return Bounded(leaf, view.tree.parent, room, memory)


def bounds_of(view: View, machine: Machine) -> tuple[PowerBound, ...]:
    """The bounds of a view whose nodes are idle now, as a run keeps them: for whoever checks it."""
    leaf, tree = _nodes(view), view.tree
    room = _room(view, leaf, machine)
    used = np.nan_to_num(view.column(view.bounds[0].used))
    inside: dict[int, list[int]] = {}
    for node in range(leaf.size):
        place = int(leaf[node])
        while place >= 0:
            inside.setdefault(place, []).append(node)
            place = int(tree.parent[place])
    return tuple(
        PowerBound(tree.names[place], float(used[place] + room[place]), float(used[place]),
                   np.array(nodes, dtype=np.int64))
        for place, nodes in sorted(inside.items()) if np.isfinite(room[place])
    )


def _nodes(view: View) -> IntArray:
    """The machine's nodes among the entities, by trailing number, else in the tree's order."""
    tree = view.tree
    if NODE_TYPE in tree.types:
        found = tree.of_type(NODE_TYPE)
    else:
        found = np.flatnonzero(tree.child_count == 0).astype(np.int64)
    endings = [re.search(r"\d+$", tree.names[place]) for place in found]
    numbers = [int(ending[0]) for ending in endings if ending]
    if len(set(numbers)) == len(found):
        found = found[np.argsort(numbers, kind="stable")]
    return found


def _room(view: View, leaf: IntArray, machine: Machine) -> FloatArray:
    """Watts above idle that each entity has left: by the tightest of its bounds."""
    if not view.bounds:
        raise InputError(f"view '{view.name}' has no bounds to keep")
    keys = sorted({bound.used for bound in view.bounds})
    if len(keys) > 1:
        raise InputError(f"view '{view.name}' bounds {' and '.join(keys)}; the simulator keeps "
                         "bounds on one key, the power")
    used = view.column(keys[0])
    silent = leaf[np.isnan(used[leaf])]
    if silent.size:
        raise InputError(f"view '{view.name}': node '{view.tree.names[silent[0]]}' has no "
                         f"{keys[0]}; its idle power is needed")
    _check_idle(view, leaf, keys[0], machine)
    limits = [view.column(bound.limit) for bound in view.bounds]
    room: FloatArray = np.full(len(view.tree), np.inf)
    for limit in limits:
        room = np.where(np.isnan(limit), room, np.minimum(room, limit - np.nan_to_num(used)))
    return room


def _check_idle(view: View, leaf: IntArray, key: str, machine: Machine) -> None:
    """A bound on watts that the machine does not draw would be no bound at all."""
    used_w = view.column(key)[leaf]
    idle_w = np.repeat([group.node_class.power_w_idle for group in machine.groups],
                       [group.count for group in machine.groups])
    wrong = np.flatnonzero(~np.isclose(used_w, idle_w, rtol=SAME, atol=0.0))
    if wrong.size:
        node = wrong[0]
        raise InputError(
            f"view '{view.name}': node '{view.tree.names[leaf[node]]}' draws {used_w[node]:g} W "
            f"idle ({key}), by the machine {idle_w[node]:g} W; make both the same "
            f"({wrong.size:,} of {leaf.size:,} nodes differ, together "
            f"{used_w.sum():g} W and {idle_w.sum():g} W)")


def _make(setting: Setting, given: BoundedParameters) -> Bounded:
    machine = setting.machine
    if setting.granularity == "core":
        raise InputError("policy.placement: bounded chooses nodes, not cores")
    if len(machine.groups) > 1:
        raise InputError("policy.placement: bounded spreads a job's power over its nodes equally, "
                         "which nodes of several classes do not; use one class of nodes")
    tree = _view(machine, given)
    made = bounded(tree, machine)
    setting.made.bounds = bounds_of(tree, machine)
    return made


def _view(machine: Machine, given: BoundedParameters) -> View:
    from wattline.model.views.build import power_view, read_views

    if given.views:
        found = read_views(Path(given.views))
        if given.view not in found:
            raise InputError(f"{given.views} has no view '{given.view}'; it has "
                             f"{', '.join(found)}")
        return found[given.view]
    if not given.limits:
        raise InputError("policy.placement: bounded needs limits, like limits = {rack0 = '20kW'}")
    return power_view(machine, racks_per_pdu=given.racks_per_pdu, limits_w=given.limits)


BOUNDED = Declaration(
    "placement", "bounded", "Nodes whose rack, distribution unit and site have watts left.",
    _make, BoundedParameters, needs="limits or a file of views")
