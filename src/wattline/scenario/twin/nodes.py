"""The nodes of a machine with shared nodes, from slurm.conf, gres.conf and topology.conf."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.machine import MOST_CORES
from wattline.model.units import fold_hosts
from wattline.scenario.twin.part_powers import Kind, PartPowers, more_names
from wattline.scenario.twin.told import Told
from wattline.shared_nodes.machine import IntArray, Nodes
from wattline.site.conf_keys import NODE_NOT_MODELLED
from wattline.site.gres import GresConf
from wattline.site.lines import number_of
from wattline.site.slurm_conf import Node, SlurmConf
from wattline.site.topology import Topologies

GPU = "gpu"
PARTS_OF_GPUS = frozenset({"shard", "mps"})
"""gres.conf(5): both share the GPUs of their node."""
MOST_NODES = 200_000
"""Tables of partitions and features have a column per node."""


def with_more(conf: SlurmConf, like: str, count: int) -> SlurmConf:
    """The same cluster with further nodes like one of its own, in the partitions of that one."""
    model = next((node for node in conf.nodes if node.name == like), None)
    if model is None:
        raise InputError(f"twin.add_nodes.like: {conf.source} has no node '{like}'")
    names = more_names(like, count)
    added = tuple(replace(model, name=name) for name in names)
    partitions = tuple(replace(each, nodes=(*each.nodes, *names)) if like in each.nodes else each
                       for each in conf.partitions)
    return replace(conf, nodes=(*conf.nodes, *added), partitions=partitions)


def gres_with_more(gres: GresConf, like: str, count: int) -> GresConf:
    """The same lines, with further nodes wherever the one that they are like stands."""
    names = more_names(like, count)
    rows = tuple(replace(row, nodes=(*row.nodes, *names)) if like in row.nodes else row
                 for row in gres.rows)
    return replace(gres, rows=rows)


def in_order_of_names(conf: SlurmConf) -> SlurmConf:
    """As slurmctld has them, whatever the order of the file: n2 before n10."""
    return replace(conf, nodes=tuple(sorted(conf.nodes, key=lambda node: _natural(node.name))))


def _natural(name: str) -> list[str | int]:
    return [int(part) if place % 2 else part
            for place, part in enumerate(re.split("([0-9]+)", name))]


def nodes_of(
    conf: SlurmConf, gres: GresConf | None, topology: Topologies | None,
    powers: Sequence[PartPowers], told: Told, added: Collection[str] = (),
) -> Nodes:
    """One row per node in their order; `powers` has one entry per node.

    Nodes that are `added` stand in no file.
    """
    if len(conf.nodes) > MOST_NODES:
        raise InputError(f"{conf.source}: has {len(conf.nodes):,} nodes, must be at most "
                         f"{MOST_NODES:,}")
    listed = [_kinds_of(node, told) for node in conf.nodes]
    _beside_gres_conf(conf, gres, listed, told)
    _say_shared_gpus(conf, listed, told)
    kinds = tuple(sorted({kind for each in listed for kind in each}))
    feature_names = tuple(sorted({name for node in conf.nodes for name in _features(node)}))
    features = np.zeros((len(conf.nodes), len(feature_names)), dtype=np.bool_)
    place = {name: at for at, name in enumerate(feature_names)}
    for row, node in enumerate(conf.nodes):
        for name in _features(node):
            features[row, place[name]] = True
    cpus, threads, memory = _sizes(conf.nodes, told)
    leaf, parents = _switches(conf, topology, told, added)
    _say_unused(conf.nodes, told)
    count = len(conf.nodes)
    return Nodes(
        names=tuple(node.name for node in conf.nodes), cpus=cpus, threads_per_core=threads,
        sockets=_whole(_sockets(node) for node in conf.nodes), memory_mb=memory, gres_kinds=kinds,
        gres=_whole([[each.get(kind, 0) for kind in kinds] for each in listed]).reshape(
            count, len(kinds)),
        feature_names=feature_names, features=features,
        weight=_whole(_number(node, "weight", 1) for node in conf.nodes),
        leaf=leaf, switch_parent=parents,
        idle_w=np.array([each.idle_w for each in powers]),
        cpu_w=np.array([each.cpu_w for each in powers]),
        gres_w=np.array([[each.of_kind(kind) for kind in kinds] for each in powers],
                        dtype=np.float64).reshape(count, len(kinds)),
    )


def _whole(values: Iterable[object]) -> IntArray:
    return np.array(list(values), dtype=np.int64)


def _number(node: Node, key: str, usual: int) -> int:
    return number_of(node.settings.get(key, str(usual)), node.written.get(key, key), node.where)


def _features(node: Node) -> list[str]:
    return [name for name in node.features if name and name != "(null)"]


def _sockets(node: Node) -> int:
    if "sockets" in node.settings:
        return max(1, _number(node, "sockets", 1))
    return max(1, _number(node, "boards", 1) * _number(node, "socketsperboard", 1))


def _sizes(nodes: Sequence[Node], told: Told) -> tuple[IntArray, IntArray, IntArray]:
    cpus, threads, memory = [], [], []
    bare = []
    for node in nodes:
        per_core = max(1, node.cpus // node.cores) if node.cores else 1
        kept = _number(node, "corespeccount", 0) * per_core
        left = node.cpus - kept
        if not 1 <= left <= MOST_CORES:
            raise InputError(f"{node.where}: node '{node.name}' has {left:,} CPUs for jobs, must "
                             f"be from 1 to {MOST_CORES:,}")
        if "realmemory" not in node.settings:
            bare.append(node.name)
        room = (node.memory_mb or 1) - _number(node, "memspeclimit", 0)
        if room > 10**12:
            raise InputError(f"{node.where}: RealMemory is {node.memory_mb:,} MB, must be at most "
                             "10^12")
        cpus.append(left)
        threads.append(per_core)
        memory.append(max(1, room))
    if bare:
        told.assumed.append(f"RealMemory=1 on {fold_hosts(bare)} (not in slurm.conf; Slurm's "
                            "default: no job that asks for memory fits)")
    return _whole(cpus), _whole(threads), _whole(memory)


def _kinds_of(node: Node, told: Told) -> dict[Kind, int]:
    """Devices of a node by name and type: `gpu:a100:4(S:0-1),gpu:2,fpga`."""
    found: dict[Kind, int] = {}
    text = re.sub(r"\([^)]*\)", "", node.gres)
    for part in filter(None, text.split(",")):
        words = part.split(":")
        count = number_of(words.pop(), "a count of Gres", node.where) \
            if len(words) > 1 and words[-1][:1].isdigit() else 1
        words = [word for word in words if word.lower() not in ("no_consume",)]
        if "no_consume" in part.lower():
            told.not_modelled.append(f"{node.where}: Gres {part}: it is not used up by jobs")
            continue
        kind = (words[0], ":".join(words[1:]))
        found[kind] = found.get(kind, 0) + count
    return found


def _say_shared_gpus(conf: SlurmConf, listed: Sequence[dict[Kind, int]], told: Told) -> None:
    """Slurm's shards and MPS are parts of GPUs: one of which parts are in use is no whole one."""
    of_line: dict[tuple[str, str], int] = {}
    for node, kinds in zip(conf.nodes, listed, strict=True):
        names = {name for name, _ in kinds}
        for name in PARTS_OF_GPUS & names if GPU in names else ():
            of_line[node.where, name] = of_line.get((node.where, name), 0) + 1
    told.not_modelled += [
        f"{where}: Gres {name} on {count:,} node{'' if count == 1 else 's'}: taken as devices "
        "beside the GPUs, of which they are parts in Slurm, where a GPU is given in parts or whole"
        for (where, name), count in sorted(of_line.items())]


def _beside_gres_conf(
    conf: SlurmConf, gres: GresConf | None, listed: Sequence[dict[Kind, int]], told: Told
) -> None:
    """Where gres.conf has another count than slurm.conf; the latter is what is scheduled."""
    if gres is None:
        if any(listed):
            told.assumed.append("no gres.conf: each node has the devices that slurm.conf says")
        return
    found = gres.counts(node.name for node in conf.nodes)
    told.not_modelled += [f"{remark}" for remark in gres.remarks]
    differing: dict[tuple[str, str, int, int], list[str]] = {}
    for node, kinds in zip(conf.nodes, listed, strict=True):
        for name in sorted({kind[0] for kind in kinds} | set(found[node.name])):
            scheduled = sum(count for kind, count in kinds.items() if kind[0] == name)
            there = found[node.name].get(name, 0)
            stated = name in found[node.name]
            if scheduled != there and (stated or not gres.auto_detect or gres.rows):
                key = (node.where, name, scheduled, there)
                differing.setdefault(key, []).append(node.name)
    _typed_beside(conf, gres, listed, told)
    for (where, name, scheduled, there), names in differing.items():
        lines = [row.where for row in gres.rows
                 if row.name == name and (not row.nodes or set(row.nodes) & set(names))]
        told.contradictions.append(
            f"{where} has {scheduled} {name} on {fold_hosts(names)}, "
            f"{', '.join(dict.fromkeys(lines)) or gres.source} has {there}; slurm.conf counts")


def _typed_beside(
    conf: SlurmConf, gres: GresConf, listed: Sequence[dict[Kind, int]], told: Told
) -> None:
    """Types that gres.conf has and slurm.conf does not: jobs that ask for them find none."""
    for row in gres.rows:
        bare = [node for node, kinds in zip(conf.nodes, listed, strict=True)
                if row.type and (not row.nodes or node.name in row.nodes)
                and (row.name, "") in kinds and (row.name, row.type) not in kinds]
        if bare:
            told.contradictions.append(
                f"{row.where} has {row.name} of type {row.type}, {bare[0].where} has {row.name} "
                f"without a type on {fold_hosts([node.name for node in bare])}; slurm.conf counts, "
                f"and jobs that ask for {row.name}:{row.type} find none")


def _switches(
    conf: SlurmConf, topologies: Topologies | None, told: Told, added: Collection[str]
) -> tuple[IntArray, IntArray]:
    """The leaf of each node, and the parent of each switch."""
    leaf = np.full(len(conf.nodes), -1, dtype=np.int64)
    if topologies is None:
        return leaf, np.zeros(0, np.int64)
    told.not_modelled += list(topologies.remarks)
    chosen = next((each for each in topologies.found if each.default), topologies.found[0])
    if chosen.kind != "tree":
        told.not_modelled.append(f"{topologies.source}: a topology of kind {chosen.kind}; jobs "
                                 "would be kept together by it")
        return leaf, np.zeros(0, np.int64)
    row = {switch.name: at for at, switch in enumerate(chosen.switches)}
    parents = np.full(len(row), -1, dtype=np.int64)
    nodes = {node.name: at for at, node in enumerate(conf.nodes)}
    strange: list[str] = []
    for switch in chosen.switches:
        for name in switch.nodes:
            if name in nodes:
                leaf[nodes[name]] = row[switch.name]
            else:
                strange.append(name)
        for name in switch.switches:
            if name not in row:
                raise InputError(f"{switch.where}: switch '{name}' is defined nowhere")
            parents[row[name]] = row[switch.name]
    if strange:
        told.contradictions.append(f"{topologies.source} names nodes that {conf.source} does not "
                                   f"have: {fold_hosts(strange)}; they are left out")
    if added:
        told.assumed.append("nodes that are added hang on a switch of their own")
    bare = [node.name for node, at in zip(conf.nodes, leaf.tolist(), strict=True)
            if at < 0 and node.name not in added]
    if bare:
        told.contradictions.append(f"{topologies.source} has no switch with {fold_hosts(bare)} of "
                                   f"{conf.source}; they count as on one of their own")
    roots = [switch.name for switch, above in zip(chosen.switches, parents.tolist(), strict=True)
             if above < 0]
    if len(roots) > 1:
        told.contradictions.append(
            f"{topologies.source}: no switch is above all: {', '.join(roots[:5])}"
            f"{', ...' if len(roots) > 5 else ''} have none above them")
    return leaf, parents


def _say_unused(nodes: Sequence[Node], told: Told) -> None:
    by_line: dict[str, str] = {}
    for node in nodes:
        for key, change in NODE_NOT_MODELLED.items():
            if key in node.settings:
                name = node.written.get(key, key)
                by_line[f"{node.where}: {name}={node.settings[key]}"] = change
    told.not_modelled += [f"{line}: {change}" for line, change in by_line.items()]

