"""Watts of the parts of nodes: those of all nodes, and those of classes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.units import fold_hosts, parse_hosts
from wattline.scenario.twin.section import NodePowerSection, TwinSection
from wattline.scenario.twin.told import Told
from wattline.shared_nodes.machine import Nodes
from wattline.site.slurm_conf import SlurmConf

Kind = tuple[str, str]


@dataclass(frozen=True)
class PartPowers:
    """Watts of the parts of a node: idle, each CPU in use, each device in use by kind."""

    idle_w: float = 90.0
    cpu_w: float = 6.5
    gpu_w: float = 250.0
    gres_w: Mapping[str, float] | None = None
    """By `gpu:a100` or `gpu`."""

    def of_kind(self, kind: Kind) -> float:
        named = self.gres_w or {}
        for name in _names(kind):
            if name in named:
                return named[name]
        return self.gpu_w if kind[0] == "gpu" else 0.0


def powers_of(section: TwinSection) -> PartPowers:
    """Watts as given for all nodes; the others as `PartPowers` has them."""
    given = {name: value for name in ("idle_w", "cpu_w", "gpu_w")
             if (value := getattr(section, name)) is not None}
    return replace(PartPowers(), gres_w=dict(section.gres_w), **given)


def node_powers(section: TwinSection, conf: SlurmConf) -> list[PartPowers]:
    """Those of each node: what its class says, and what all nodes have."""
    usual, classes = powers_of(section), _with_more(section, _class_of(section, conf))
    return [_own(usual, classes.get(node.name)) for node in conf.nodes]


def _with_more(
    section: TwinSection, classes: Mapping[str, NodePowerSection]
) -> dict[str, NodePowerSection]:
    """Nodes that are added have what the one has that they are like."""
    more = section.add_nodes
    if more is None or more.like not in classes:
        return dict(classes)
    return {**classes, **dict.fromkeys(more_names(more.like, more.count), classes[more.like])}


def more_names(like: str, count: int) -> list[str]:
    """Of nodes that are added, like one that is there."""
    return [f"{like}-more{number}" for number in range(1, count + 1)]


def say_watts(section: TwinSection, nodes: Nodes, told: Told) -> None:
    """Which watts nobody gave, of those that the machine has parts for; others are refused."""
    _refuse_unknown(section, nodes)
    usual = powers_of(section)
    told_of = _with_more(section, {name: each for each in section.power
                                   for name in parse_hosts(each.nodes)})
    for name in ("idle_w", "cpu_w"):
        bare = [node for node in nodes.names
                if getattr(told_of.get(node), name, None) is None]
        _assume(section, usual, name, bare, nodes, told)
    gpus: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for row, column in np.argwhere(nodes.gres > 0).tolist():
        own = told_of.get(nodes.names[row])
        kind = nodes.gres_kinds[column]
        if {*_names(kind)} & {*section.gres_w, *(own.gres_w if own else ())}:
            continue
        (gpus if kind[0] == "gpu" else others).append((nodes.names[row], ":".join(
            filter(None, kind))))
    _assume(section, usual, "gpu_w", list(dict.fromkeys(node for node, _ in gpus)), nodes, told)
    if others:
        listed = ", ".join(sorted({kind for _, kind in others}))
        told.assumed.append(f"0 W for each {listed} in use (twin.gres_w says another)")


def _refuse_unknown(section: TwinSection, nodes: Nodes) -> None:
    """Watts of a kind of device that none of their nodes has would be passed over."""
    _refuse_kinds("twin.gres_w", section.gres_w, nodes, "node", nodes.names)
    for each in section.power:
        _refuse_kinds("twin.power", each.gres_w, nodes, f"node of nodes = \"{each.nodes}\"",
                      parse_hosts(each.nodes))


def _refuse_kinds(where: str, watts: Mapping[str, float], nodes: Nodes, of: str,
                  names: Sequence[str]) -> None:
    mine = np.isin(np.array(nodes.names), np.array(names))
    kinds = [kind for column, kind in enumerate(nodes.gres_kinds) if nodes.gres[mine, column].any()]
    known = {name for kind in kinds for name in _names(kind)}
    for name in watts:
        if name not in known:
            raise InputError(f"{where}: no {of} has '{name}', must be one of: "
                             f"{', '.join(sorted(known)) or 'none, as it has no devices'}")


def _assume(section: TwinSection, usual: PartPowers, name: str, bare: list[str], nodes: Nodes,
            told: Told) -> None:
    if getattr(section, name) is None and bare:
        where = f" of {fold_hosts(bare)}" if section.power and len(bare) < len(nodes.names) else ""
        told.assumed.append(f"{name} = {getattr(usual, name):g} W{where} (power of a node's parts; "
                            f"--{name.replace('_', '-')} says another)")


def _class_of(section: TwinSection, conf: SlurmConf) -> dict[str, NodePowerSection]:
    there = {node.name for node in conf.nodes}
    found: dict[str, NodePowerSection] = {}
    for each in section.power:
        for name in parse_hosts(each.nodes):
            if name not in there:
                raise InputError(f"twin.power: {conf.source} has no node '{name}' of "
                                 f"nodes = \"{each.nodes}\"")
            if name in found:
                raise InputError(f"twin.power: node '{name}' is named twice; one entry has to "
                                 "say all of its watts")
            found[name] = each
    return found


def _own(usual: PartPowers, own: NodePowerSection | None) -> PartPowers:
    if own is None:
        return usual
    given = {name: value for name in ("idle_w", "cpu_w")
             if (value := getattr(own, name)) is not None}
    return replace(usual, gres_w={**(usual.gres_w or {}), **own.gres_w}, **given)


def _names(kind: Kind) -> tuple[str, ...]:
    return ":".join(filter(None, kind)), kind[0]
