"""Watts of the parts of a machine's nodes, as its twin has them.

A node's idle power is drawn once, whoever is on it. A job adds what its CPUs and devices draw; of
the idle power it answers for its part of the node's CPUs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from wattline.live.slurm.holding import Holding, evenly
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WATTS, SlurmJob
from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.scenario.load import load
from wattline.scenario.objects import NodeClass
from wattline.scenario.twin.claims import CLAIMS
from wattline.scenario.twin.energy_budget import BUDGET
from wattline.scenario.twin.energy_share import ENERGY_SHARE
from wattline.scenario.twin.part_limits import BOUNDED
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import read_machine
from wattline.shared_nodes.machine import Nodes


@dataclass(frozen=True)
class Share:
    """What a job holds and draws of one node."""

    cpus: int
    above_w: float
    """Added by it to the node's idle power."""
    idle_w: float
    """Its part of the idle power, by CPUs."""


@dataclass(frozen=True)
class NodeParts:
    """One node."""

    cpus: int
    idle_w: float
    cpu_w: float
    devices: Mapping[str, int]
    """How many it has, by kind: `gpu:a100`."""
    device_w: Mapping[str, float]

    @property
    def full_w(self) -> float:
        return self.idle_w + self.cpus * self.cpu_w + sum(
            count * self.device_w[kind] for kind, count in self.devices.items())

    def share(self, held: Holding) -> Share:
        cpus = min(held.cpus, self.cpus)
        return Share(cpus, self.above_w(cpus, held.devices), self.idle_w * cpus / self.cpus)

    def above_w(self, cpus: int, devices: Mapping[str, int]) -> float:
        """What so many CPUs and devices add; of a kind without a type the most thirsty."""
        return cpus * self.cpu_w + sum(
            count * max((watts for kind, watts in self.device_w.items()
                         if name in (kind, kind.partition(":")[0])), default=0.0)
            for name, count in devices.items())


class SharedParts:
    """All nodes, and the CPUs that books count: those of the first node first."""

    def __init__(self, nodes: Mapping[str, NodeParts]) -> None:
        self.nodes = dict(nodes)
        self.names = list(nodes)
        ends = list(accumulate(each.cpus for each in nodes.values()))
        starts = [0, *ends[:-1]]
        self.units = {name: range(start, end)
                      for name, start, end in zip(self.names, starts, ends, strict=True)}
        self.host = [name for name, each in nodes.items() for _ in range(each.cpus)]
        """The node of each CPU."""

    @cached_property
    def idle_w(self) -> float:
        return sum(each.idle_w for each in self.nodes.values())

    def asked_w(self, cpus: int, devices: Mapping[str, int]) -> float:
        """What a waiting job may add: on the most thirsty nodes, since nobody knows where."""
        kinds = {kind for each in self.nodes.values() for kind in each.device_w}
        most = NodeParts(1, 0.0, max(each.cpu_w for each in self.nodes.values()), {}, {
            kind: max(each.device_w.get(kind, 0.0) for each in self.nodes.values())
            for kind in kinds})
        return most.above_w(cpus, devices)

    def drawn_w(self, jobs: Iterable[SlurmJob]) -> float:
        """What the machine draws with these jobs, by what they say or their parts."""
        total_w = self.idle_w
        for job in jobs:
            if job.node_list and job.state in (*ACTIVE, *STARTING, *ENDING):
                parts_w = sum(self.nodes[name].share(held).above_w
                              for name, held in evenly(job).items() if name in self.nodes)
                total_w += job.licenses.get(WATTS, parts_w)
        return total_w

    def of(self, names: Sequence[str]) -> SharedParts:
        """Of these nodes alone, in their order."""
        strange = [name for name in names if name not in self.nodes]
        if strange:
            raise InputError(f"nodes: the twin's slurm.conf has no node '{strange[0]}'")
        return SharedParts({name: self.nodes[name] for name in names})

    def ledger_rules(self) -> dict[str, Any]:
        """How the ledger divides what a node drew: idle power by CPUs, the rest by parts."""
        return {"idle_w": {name: each.idle_w for name, each in self.nodes.items()},
                "parts_w": {name: (each.cpu_w, max(each.device_w.values(), default=0.0))
                            for name, each in self.nodes.items() if each.cpu_w > 0}}

    def classes(self) -> list[NodeClass]:
        """For books that count CPUs: runs of equal nodes, with the watts of each CPU's part."""
        runs: list[tuple[NodeParts, int]] = []
        for each in self.nodes.values():
            if runs and runs[-1][0] == each:
                runs[-1] = (each, runs[-1][1] + 1)
            else:
                runs.append((each, 1))
        return [NodeClass(name=f"cpu{number}", count=count * each.cpus,
                          idle_w=each.idle_w / each.cpus, active_w=each.full_w / each.cpus)
                for number, (each, count) in enumerate(runs, 1)]


def parts_of(nodes: Nodes) -> SharedParts:
    """From a machine's table of nodes."""
    kinds = [":".join(filter(None, kind)) for kind in nodes.gres_kinds]
    found: dict[str, NodeParts] = {}
    for row, name in enumerate(nodes.names):
        has = {kind: int(nodes.gres[row, at]) for at, kind in enumerate(kinds)
               if nodes.gres[row, at] > 0}
        found[name] = NodeParts(
            int(nodes.cpus[row]), float(nodes.idle_w[row]), float(nodes.cpu_w[row]), has,
            {kind: float(nodes.gres_w[row, at]) for at, kind in enumerate(kinds) if kind in has})
    return SharedParts(found)


def read_section(twin: str) -> TwinSection:
    """`[twin]` of a machine file."""
    scenario = load(twin)
    if scenario.twin is None:
        raise InputError(f"{twin}: it has no [twin]: write it with wattline twin make")
    if name_of(scenario.policy.placement) == BOUNDED:
        raise InputError(f"{twin}: policy.placement: limits of parts of a twin are kept in "
                         "simulations; the controller keeps a cap on all of it; leave them out")
    for axis, kind in (("power", BUDGET), ("order", ENERGY_SHARE)):
        if name_of(getattr(scenario.policy, axis)) == kind:
            raise InputError(f"{twin}: policy.{axis}: '{kind}' of a twin is for simulations: the "
                             "controller counts no joules of shared nodes; leave it out")
    if name_of(scenario.policy.placement) == CLAIMS:
        raise InputError(f"{twin}: policy.placement: on shared nodes claims choose the class of "
                         "node in simulations alone; the controller starts jobs by Slurm's rules; "
                         "leave out policy.placement and policy.configure")
    return scenario.twin


@lru_cache(maxsize=4)
def read_parts(twin: str) -> SharedParts:
    """Of the machine file of `wattline twin make`; its log is not needed."""
    return parts_of(read_machine(read_section(twin)).machine.nodes)
