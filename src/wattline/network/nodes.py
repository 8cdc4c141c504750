"""Nodes for one job on a machine of which some nodes are free: an answer for `sbatch -w`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.kernel import uncompiled
from wattline.model.units import counted, fold_hosts, parse_hosts
from wattline.network.counters import CounterReadings
from wattline.network.placement import BoolArray, Placer, check_placement
from wattline.network.topology.base import Topology
from wattline.policies.placement.network.placements import PLACEMENTS

EXAMPLES = {"traffic": "P_REQ_FLIT_0", "stalls": "N_STALL_0_0"}
"""A counter of each kind, by its short name."""
MOST_PLAIN = 100_000
"""Nodes on which one job is placed as plain Python: that takes tenths of a second, and compiling
seconds."""
NAMED = 4
"""Names that a remark shows of those that it counts."""


@dataclass(frozen=True, eq=False)
class ChosenNodes:
    """The nodes of one job, by name."""

    topology: Topology
    placement: str
    nodes: IntArray
    free: int
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values: what `--json` prints."""
        hosts = [self.topology.host(node) for node in np.sort(self.nodes).tolist()]
        routers = self.topology.node_router[self.nodes]
        return {
            "machine": self.topology.name,
            "placement": self.placement,
            "size": len(hosts),
            "host_list": fold_hosts(hosts),
            "hosts": hosts,
            "routers": len(np.unique(routers)),
            "groups": len(np.unique(self.topology.router_group[routers])),
            "free": self.free,
            "remarks": list(self.remarks),
        }


def choose_nodes(topology: Topology, size: int, placement: str | None = None, *,
                 free: str | None = None, busy: str | None = None,
                 counters: CounterReadings | None = None, sensitive: bool = True,
                 seed: int = 1) -> ChosenNodes:
    """Nodes for a job of this size among those that are free, or not busy: host lists."""
    remarks = list(topology.remarks)
    if placement is None:
        placement = topology.placement
        remarks.append(f"placement '{placement}' is taken, the default on a {topology.kind}")
    check_placement(placement, topology)
    if free is not None and busy is not None:
        raise InputError("nodes that are free and nodes that are busy are given; give one of them")
    given = PLACEMENTS[placement].kind == "data"
    if given and counters is None:
        raise InputError(f"placement '{placement}' goes by the counters of routers, and none are "
                         "given; give a table of counters")
    wanted = PLACEMENTS[placement].counter
    if given and counters is not None and wanted in counters.lacks:
        raise InputError(f"placement '{placement}' goes by the {wanted} of routers, and the table "
                         f"has no counters of {wanted}, like {EXAMPLES[wanted]}")
    if counters is not None:
        remarks += counters.remarks if given else [
            f"placement '{placement}' goes by no counters, so those given are not used"]
    placer = Placer(topology, placement, seed, counters.readings if counters and given else None)
    placer.free[:] = _free(topology, free, busy, remarks)
    left = int(placer.free.sum())
    with uncompiled(topology.nodes <= MOST_PLAIN):
        nodes = placer.place(size, sensitive=sensitive)
    if not topology.hosts:
        remarks.append(f"nodes of '{topology.name}' have no names, these are their numbers; a "
                       "[network] section with hosts = \"nid[000-271]\" or the like names them")
    return ChosenNodes(topology, placement, nodes, left, tuple(remarks))


def _free(topology: Topology, free: str | None, busy: str | None,
          remarks: list[str]) -> BoolArray:
    """Which nodes are free; names that the network does not have are said."""
    if free is None and busy is None:
        remarks.append("nothing says which nodes are free, so all are taken to be")
        return np.ones(topology.nodes, dtype=np.bool_)
    text = free if free is not None else busy
    assert text is not None
    number = {topology.host(node): node for node in range(topology.nodes)}
    names = parse_hosts(text) if text.strip() else []
    known = [number[name] for name in names if name in number]
    strange = [name for name in names if name not in number]
    if strange:
        said = f"{counted(len(strange), 'host')} ({_few(strange)})"
        if not known:
            own = _few([topology.host(node) for node in range(topology.nodes)])
            raise InputError(f"network '{topology.name}' has none of the hosts given "
                             f"({_few(names)}); its own are {own}{_brackets(strange)}")
        remarks.append(f"network '{topology.name}' does not have {said}; left out"
                       f"{_brackets(strange)}")
    marked = np.zeros(topology.nodes, dtype=np.bool_)
    marked[known] = True
    return marked if free is not None else ~marked


def _brackets(strange: Sequence[str]) -> str:
    """How a range is written, where a name looks like one of bare numbers."""
    ranges = [name for name in strange if re.fullmatch(r"[0-9]+-[0-9]+", name)]
    return f"; write a range in brackets: [{ranges[0]}]" if ranges else ""


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMED])
    return shown + (", ..." if len(names) > NAMED else "")
