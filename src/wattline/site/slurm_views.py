"""From Slurm's files to views: what each node has, and through which switches it is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wattline.model.units import fold_hosts
from wattline.site.drafts import NODE, Draft, DraftEntity
from wattline.site.gres import GresConf, gres_of
from wattline.site.slurm_conf import SlurmConf
from wattline.site.topology import Switch, Topologies, Topology


def resources_draft(conf: SlurmConf, gres: GresConf | None) -> Draft:
    """The view `resources`: the cluster over its nodes, with their cores, memory and the like."""
    values, remarks = node_values(conf, gres)
    top = conf.cluster or "cluster"
    if top in values:
        top = "cluster " + top
    nodes = (DraftEntity(name, NODE, top, each) for name, each in values.items())
    return Draft("resources", (DraftEntity(top, "cluster"), *nodes), conf.source,
                 (*conf.remarks, *(gres.remarks if gres else ()), *remarks))


def node_values(
    conf: SlurmConf, gres: GresConf | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """What each node has by key; and where the two files differ, of which slurm.conf counts."""
    counted = gres.counts(node.name for node in conf.nodes) if gres else {}
    values: dict[str, dict[str, float]] = {}
    differ: dict[str, list[str]] = {}
    for node in conf.nodes:
        own = gres_of(node.gres, f"{conf.source}: node '{node.name}'")
        found: dict[str, float] = {"cores": node.cores, "memory_mb": node.memory_mb}
        for name in sorted({*own, *counted.get(node.name, {})}):
            told = counted.get(node.name, {}).get(name)
            if name in own and told not in (None, own[name]):
                words = f"{own[name]} x {name} by slurm.conf and {told} by gres.conf"
                differ.setdefault(words, []).append(node.name)
            found[f"gres/{name}"] = own.get(name, told or 0)
        values[node.name] = found
    return values, [f"{conf.source}: {fold_hosts(nodes)} has {words}; the former counts"
                    for words, nodes in differ.items()]


def topology_drafts(
    topologies: Topologies, conf: SlurmConf | None, gres: GresConf | None, remarks: list[str],
) -> list[Draft]:
    """A view per topology, called like it."""
    values = node_values(conf, gres)[0] if conf else None
    drafts = []
    remarks += topologies.remarks
    for topology in topologies.found:
        if not topology.switches:
            remarks.append(f"{topologies.source}: topology '{topology.name}' is {topology.kind} "
                           "and has no switches to show; left out")
            continue
        drafts.append(_draft(topology, topologies.source, values))
    return drafts


def _draft(topology: Topology, source: str,
           values: Mapping[str, Mapping[str, float]] | None) -> Draft:
    remarks: list[str] = []
    switches = {switch.name: switch for switch in topology.switches}
    above = _above(topology.switches, switches, remarks)
    kind = "switch" if topology.kind == "tree" else "block"
    parts = [DraftEntity(name, kind, above.get(name, "")) for name in switches]
    placed: dict[str, str] = {}
    doubled, strange = [], []
    for switch in topology.switches:
        for node in switch.nodes:
            if node in placed:
                doubled.append(node)
            elif values is not None and node not in values:
                strange.append(node)
            else:
                placed[node] = switch.name
                parts.append(DraftEntity(node, NODE, switch.name, values[node] if values else {}))
    missing = [node for node in values or {} if node not in placed]
    for nodes, words in (
        (doubled, "hang on several switches, of which the first counts"),
        (strange, "are no nodes of slurm.conf; left out"),
        (missing, "of slurm.conf hang on no switch; they are not in the view"),
    ):
        if nodes:
            remarks.append(f"{source}: {fold_hosts(dict.fromkeys(nodes))} {words}")
    return Draft(topology.name, tuple(parts), source, tuple(remarks))


def _above(listed: Sequence[Switch], known: Mapping[str, Switch],
           remarks: list[str]) -> dict[str, str]:
    """The switch that each hangs on; of several the first counts."""
    above: dict[str, str] = {}
    for switch in listed:
        for below in switch.switches:
            if below not in known:
                remarks.append(f"{switch.where}: '{switch.name}' leads to '{below}', which has no "
                               "line of its own; left out")
            elif above.setdefault(below, switch.name) != switch.name:
                remarks.append(f"{switch.where}: '{below}' hangs on '{above[below]}' and on "
                               f"'{switch.name}'; the first counts")
    return above
