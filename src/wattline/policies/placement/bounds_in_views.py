"""The bounds of views as one list: entity, limit, and how much of each node's watts counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.machine import Machine
from wattline.model.run import PowerBound
from wattline.model.signal import FloatArray
from wattline.model.units import fold_hosts

if TYPE_CHECKING:
    from wattline.model.views import Bound, MachineView

NODE_TYPE = "node"
SAME = 1e-6
"""How far two figures for one idle power may differ, relative to it."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Views, and the place of each of the machine's nodes in each: -1 where it is not in it."""

    views: Mapping[str, MachineView]
    places: Mapping[str, IntArray]
    assumed: tuple[str, ...] = ()


def bounds_of(
    views: MachineView | Sequence[MachineView], machine: Machine
) -> tuple[PowerBound, ...]:
    """The bounds of views whose nodes are idle now, as a run keeps them."""
    return bounds_in(placed(views if isinstance(views, Sequence) else [views], machine), machine)


def placed(views: Sequence[MachineView], machine: Machine) -> Placed:
    """Find the machine's nodes in views by their names, never by numbers in them.

    Where the machine has none, those of the first view that has as many stand for them, in its
    order, which is said.
    """
    hosts, assumed = _hosts(views, machine)
    number = {name: node for node, name in enumerate(hosts)}
    places = {}
    for view in views:
        found = np.full(machine.node_count, -1, dtype=np.int64)
        for place in _nodes(view):
            name = view.tree.names[place]
            if name not in number:
                raise InputError(f"view '{view.name}' has the node '{name}', which the machine "
                                 f"does not have; its nodes are {_some(hosts)}")
            found[number[name]] = place
        missing = np.flatnonzero(found < 0)
        if missing.size:
            left = _some([hosts[node] for node in missing.tolist()])
            assumed.append(f"view '{view.name}' bounds nothing of {left}: they are not in it")
        places[view.name] = found
    return Placed({view.name: view for view in views}, places, tuple(assumed))


def bounds_in(found: Placed, machine: Machine) -> tuple[PowerBound, ...]:
    """All bounds of all views, each with what an idle machine already uses of it."""
    idle_w = np.repeat([group.node_class.power_w_idle for group in machine.groups],
                       [group.count for group in machine.groups]).astype(np.float64)
    keys = {bound.used for view in found.views.values() for bound in view.bounds}
    bounds: list[PowerBound] = []
    for view in found.views.values():
        if not view.bounds:
            raise InputError(f"view '{view.name}' has no bounds to keep")
        for bound in view.bounds:
            own = _share(view, bound, found.places[view.name])
            _check_idle(view, bound, found.places[view.name], own, idle_w)
            more = _carried(found, view, bound)
            _check_feeds(view, bound, own + more, found.places[view.name])
            words = [f"view {view.name}"] if len(found.views) > 1 else []
            words += [bound.used] if len(keys) > 1 else []
            words += [f"if {' and '.join(bound.carries)} fails"] if bound.carries else []
            bounds += _rows(view, bound, found.places[view.name], own + more, more * idle_w,
                            f" ({', '.join(words)})" if words else "")
    return tuple(bounds)


def _rows(view: MachineView, bound: Bound, places: IntArray, share: FloatArray, more_w: FloatArray,
          words: str) -> Iterator[PowerBound]:
    used, limit, tree = view.column(bound.used), view.column(bound.limit), view.tree
    for place in np.flatnonzero(~np.isnan(limit)):
        # Every subtree is a range of places.
        nodes = np.flatnonzero((places >= place) & (places < tree.end[place]))
        if not nodes.size:
            continue
        entity = tree.names[place] + words
        idle_w = float(np.nan_to_num(used[place]) + more_w[nodes].sum())
        if idle_w > limit[place] * (1 + SAME):
            raise InputError(f"view '{view.name}': {entity} is bounded to {limit[place]:g} W, and "
                             f"draws {idle_w:g} W with all nodes idle")
        whole = bool(np.all(share[nodes] == 1.0))
        yield PowerBound(entity, float(limit[place]), idle_w, nodes,
                         None if whole else share[nodes])


def _hosts(views: Sequence[MachineView], machine: Machine) -> tuple[Sequence[str], list[str]]:
    named = [[view.tree.names[place] for place in _nodes(view)] for view in views]
    if machine.node_names or any(set(names) == set(machine.hosts) for names in named):
        return machine.hosts, []
    for view, names in zip(views, named, strict=True):
        if len(names) == machine.node_count:
            return names, [f"the machine's nodes have no names (machine.node_names): they are "
                           f"taken as view '{view.name}' lists them, node 0 being '{names[0]}' and "
                           f"node {len(names) - 1} '{names[-1]}'"]
    raise InputError(f"view '{views[0].name}' has {len(named[0])} nodes, the machine has "
                     f"{machine.node_count}")


def _nodes(view: MachineView) -> IntArray:
    """The entities that are nodes: those of that type, or the leaves where there are none."""
    tree = view.tree
    if NODE_TYPE in tree.types:
        return tree.of_type(NODE_TYPE)
    return np.flatnonzero(tree.child_count == 0).astype(np.int64)


def _share(view: MachineView, bound: Bound, places: IntArray) -> FloatArray:
    """Of each watt of a node the part that counts in a view, 0 where it is not in it."""
    inside = places >= 0
    share = np.zeros(places.size)
    share[inside] = view.column(bound.share)[places[inside]] if bound.share else 1.0
    wrong = np.flatnonzero(inside & ~((share >= 0) & np.isfinite(share)))
    if wrong.size:
        raise InputError(f"view '{view.name}': node '{view.tree.names[places[wrong[0]]]}' has no "
                         f"{bound.share}; what counts of each of its watts is needed, from 0 on")
    return share


def _carried(found: Placed, view: MachineView, bound: Bound) -> FloatArray:
    """What the views that it stands in for have of each node, by the same key."""
    more = np.zeros(len(found.places[view.name]))
    for name in bound.carries:
        other = found.views.get(name)
        same = [each for each in other.bounds if each.used == bound.used] if other else []
        if other is None or not same or name == view.name:
            raise InputError(f"view '{view.name}' carries '{name}', which is no other view with a "
                             f"bound on {bound.used} among {', '.join(found.views)}")
        share = _share(other, same[0], found.places[name])
        more += np.where(found.places[view.name] >= 0, share, 0.0)
    return more


def _check_feeds(view: MachineView, bound: Bound, share: FloatArray, places: IntArray) -> None:
    """Feeds that stand in for one another carry a node's watts among them, no more and no less."""
    wrong = np.flatnonzero((places >= 0) & ~np.isclose(share, 1.0, rtol=SAME, atol=0.0))
    if bound.carries and wrong.size:
        node = wrong[0]
        raise InputError(f"the shares of node '{view.tree.names[places[node]]}' in {view.name} and "
                         f"{', '.join(bound.carries)} add up to {share[node]:g}, must be 1")


def _check_idle(view: MachineView, bound: Bound, places: IntArray, share: FloatArray,
                idle_w: FloatArray) -> None:
    """A bound on watts that the machine does not draw would be no bound at all."""
    inside = np.flatnonzero(places >= 0)
    used_w = view.column(bound.used)[places[inside]]
    silent = np.flatnonzero(np.isnan(used_w))
    if silent.size:
        raise InputError(f"view '{view.name}': node '{view.tree.names[places[inside[silent[0]]]]}' "
                         f"has no {bound.used}; its idle power is needed")
    due_w = idle_w[inside] * share[inside]
    wrong = np.flatnonzero(~np.isclose(used_w, due_w, rtol=SAME, atol=0.0))
    if wrong.size:
        at = wrong[0]
        part = f" ({share[inside[at]]:g} of it counts here)" if bound.share else ""
        raise InputError(
            f"view '{view.name}': node '{view.tree.names[places[inside[at]]]}' draws "
            f"{used_w[at]:g} W idle ({bound.used}), by the machine {due_w[at]:g} W{part}; make "
            f"both the same, or say what part counts with a share ({wrong.size:,} of "
            f"{inside.size:,} nodes differ, together {used_w.sum():g} W and {due_w.sum():g} W)")


def _some(names: Sequence[str]) -> str:
    folded = fold_hosts(names)
    return folded if len(folded) <= 80 else f"{folded[:77]}..."
