"""Classes of node of a twin by the names that claims have for them.

A class is a feature of nodes, else a partition, else a run of equal nodes, which a twin's books
call by the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.units import fold_hosts
from wattline.shared_nodes.machine import BoolArray, IntArray, SharedMachine


@dataclass(frozen=True, eq=False)
class Classes:
    """In the order of their first nodes."""

    names: tuple[str, ...]
    of_node: IntArray
    """Row of each node's class, or -1."""
    said: tuple[str, ...]


def classes_of(named: Iterable[str], shared: SharedMachine, machine: Machine) -> Classes:
    """Those of `named` that the twin has; none of them, or two of one node, are refused."""
    wanted = tuple(dict.fromkeys(named))
    found = {name: _nodes_of(name, shared, machine) for name in wanted}
    there = sorted((name for name in wanted if found[name][0].any()),
                   key=lambda name: int(np.argmax(found[name][0])))
    if not there:
        raise InputError(
            f"policy.configure: the claims are of the node classes {', '.join(wanted) or 'none'}, "
            "and none of these is a feature or a partition of the twin, or the first of its equal "
            "nodes")
    of_node = np.full(len(shared.nodes.names), -1)
    said = []
    for row, name in enumerate(there):
        inside, what = found[name]
        twice = np.flatnonzero(inside & (of_node >= 0))
        if twice.size:
            raise InputError(
                f"policy.configure: node {shared.nodes.names[twice[0]]} would be of two node "
                f"classes of the claims, {there[of_node[twice[0]]]} and {name}; a node is of one")
        of_node[inside] = row
        said.append(f"{name} is {what}, {_hosts(inside, shared)}")
    lines = [f"claims: node class {'; '.join(said)}"]
    absent = [name for name in wanted if name not in there]
    if absent:
        lines.append(f"claims: the twin has no node class {', '.join(absent)}: those are not used")
    if (of_node < 0).any():
        lines.append(f"claims: {int((of_node < 0).sum()):,} nodes ({_hosts(of_node < 0, shared)}) "
                     "are of no class that is claimed: jobs that claims speak of do not get them")
    return Classes(tuple(there), of_node, tuple(lines))


def _nodes_of(name: str, shared: SharedMachine, machine: Machine) -> tuple[BoolArray, str]:
    nodes = shared.nodes
    if name in nodes.feature_names:
        return nodes.features[:, nodes.feature_names.index(name)].astype(bool), "a feature"
    if name in shared.partitions.names:
        return shared.partitions.nodes[shared.partitions.names.index(name)], "a partition"
    equal = [group.node_class.name == name for group in machine.groups for _ in range(group.count)]
    return np.array(equal, dtype=bool), "a run of equal nodes"


def _hosts(inside: BoolArray, shared: SharedMachine) -> str:
    return fold_hosts([name for name, has in zip(shared.nodes.names, inside, strict=True) if has])
