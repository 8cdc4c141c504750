"""An interconnect from what Slurm is told of it: `topology.conf`, `topology.yaml`, `scontrol`.

A leaf switch, the one that nodes hang on, is a router here, and the leaves under one switch are a
group, together with that switch. A block is a group of one router. Switches above are routers
without nodes, joined as in the tree.
Slurm's files say nothing of bandwidths that one could compute with, so these are assumed, and the
network says so. Placements need none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.network.topology.base import Cable, LinkKind, Topology, build, need, positive
from wattline.site.topology import Topologies, read_topology
from wattline.site.topology import Topology as SlurmTopology

CORE = "(core)"
"""What joins switches that the file does not join."""


def read_slurm(path: Path, *, section: str = "", taper: float = 1.0, node_gbit_s: float = 100.0,
               name: str = "") -> Topology:
    """A topology from a file of Slurm's, or from what `scontrol show topology` printed.

    `section` names one of several topologies of a YAML file. The link up from a leaf carries what
    its nodes send, over `taper`.
    """
    positive(name or str(path), taper=taper, node_gbit_s=node_gbit_s)
    read = read_topology(path)
    chosen = _chosen(read, section)
    leaves, above = _levels(chosen, str(path))
    order = _by_group(leaves, above, chosen.kind)
    inner = [switch.name for switch in chosen.switches if switch.name not in leaves]
    groups = {group: number for number, group in enumerate(dict.fromkeys(order.values()))}
    group_of = order | {group: group for group in groups if group in inner}
    names = [*sorted(group_of, key=lambda one: (groups[group_of[one]], one in inner)),
             *(one for one in inner if one not in group_of)]
    remarks = [*read.remarks,
               f"{path} has no bandwidths: {node_gbit_s:g} Gbit/s for each node, and links up that "
               f"carry what is below over {taper:g}, are assumed"]
    if len([one for one in names if one not in above]) > 1:
        names.append(CORE)
        remarks.append(f"{path} does not join all its switches; a core that joins them is assumed")
    upper = len(groups)
    router_group = [groups[group_of[one]] if one in group_of else upper for one in names]
    number = {one: at for at, one in enumerate(names)}
    below = _nodes_below(leaves, above, names)
    cables: list[Cable] = []
    for one in names:
        parent = above.get(one, CORE if CORE in number and one != CORE else "")
        if parent:
            ends = number[one], number[parent]
            inside = router_group[ends[0]] == router_group[ends[1]]
            cables.append((*ends, LinkKind.LOCAL if inside else LinkKind.GLOBAL,
                           max(1, below[one]) * node_gbit_s / taper))
    made = build(name or path.stem, "tree",
                 node_router=np.repeat([number[one] for one in order],
                                       [len(leaves[one]) for one in order]),
                 router_group=np.array(router_group), cables=cables, node_gbit_s=node_gbit_s)
    return replace(made, hosts=tuple(host for one in order for host in leaves[one]),
                   remarks=tuple(remarks))


def _chosen(read: Topologies, section: str) -> SlurmTopology:
    usable = {one.name: one for one in read.found if one.kind != "flat"}
    need(bool(usable), f"{read.source}: says only that the network is flat, so nothing tells where "
                       "its nodes stand")
    if section:
        need(section in usable, f"{read.source}: has no topology '{section}'; it has "
                                f"{', '.join(usable)}")
        return usable[section]
    if len(usable) == 1:
        return next(iter(usable.values()))
    default = [one for one in usable.values() if one.default]
    need(len(default) == 1, f"{read.source}: has the topologies {', '.join(usable)}; name one with "
                            "section")
    return default[0]


def _levels(chosen: SlurmTopology, source: str) -> tuple[dict[str, Sequence[str]], dict[str, str]]:
    """The nodes of each leaf, and the switch above each switch.

    `scontrol` lists under a switch all nodes below it; those that stand behind a leaf are its own.
    """
    above: dict[str, str] = {}
    known = {switch.name for switch in chosen.switches}
    for switch in chosen.switches:
        for child in switch.switches:
            need(child in known, f"{source}: switch '{switch.name}' leads to '{child}', which the "
                                 "file does not describe")
            need(child not in above, f"{source}: switch '{child}' hangs on two switches, "
                                     f"'{above.get(child)}' and '{switch.name}'; a tree is needed")
            above[child] = switch.name
    leaves: dict[str, Sequence[str]] = {}
    behind: dict[str, str] = {}
    ends = [switch for switch in chosen.switches if not switch.switches]
    for switch in (*ends, *(switch for switch in chosen.switches if switch.switches)):
        own = [host for host in switch.nodes if not switch.switches or host not in behind]
        for host in own:
            need(host not in behind, f"{source}: node '{host}' hangs on two switches, "
                                     f"'{behind.get(host)}' and '{switch.name}'")
            behind[host] = switch.name
        if own:
            leaves[switch.name] = own
    if not leaves:
        raise InputError(f"{source}: no switch leads to a node")
    _refuse_circles(above, source)
    return leaves, above


def _refuse_circles(above: dict[str, str], source: str) -> None:
    for start in above:
        at, steps = start, 0
        while at in above:
            at, steps = above[at], steps + 1
            need(steps <= len(above), f"{source}: switch '{start}' lies above itself")


def _by_group(leaves: dict[str, Sequence[str]], above: dict[str, str],
              kind: str) -> dict[str, str]:
    """The group of each leaf, leaves of one group beside each other."""
    group = {leaf: leaf if kind == "block" else above.get(leaf, leaf) for leaf in leaves}
    first = {name: place for place, name in reversed(list(enumerate(group.values())))}
    return dict(sorted(group.items(), key=lambda pair: first[pair[1]]))


def _nodes_below(leaves: dict[str, Sequence[str]], above: dict[str, str],
                 names: Sequence[str]) -> dict[str, int]:
    below = dict.fromkeys(names, 0)
    for leaf, hosts in leaves.items():
        at: str | None = leaf
        while at is not None:
            below[at] += len(hosts)
            at = above.get(at)
    return below


def is_slurm(path: Path, text: str) -> bool:
    """Whether a file looks like one of Slurm's topologies."""
    if path.suffix.lower() in (".yaml", ".yml"):
        return True
    words = (line.strip().lower() for line in text.splitlines())
    return any(line.startswith(("switchname=", "blockname=")) for line in words)
