"""Jobs that share nodes, as the books are told of them: by CPUs, each with its watts.

The books count CPUs. Which of a node's a job has is of no matter to them, as long as none is
counted twice: the first that are free are taken, so that a restart finds the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wattline.controller.nodes_seen import OUT_OF_ORDER
from wattline.controller.sharing.parts import Share, SharedParts
from wattline.controller.told import News, Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.holding import Holding, devices_of, evenly
from wattline.live.slurm.reading import (
    ACTIVE,
    BUSY,
    ENDING,
    STARTING,
    WATTS,
    WITHOUT_POWER,
    SlurmJob,
    SlurmNode,
)
from wattline.model.units import counted


class SharedWatcher(Watcher):
    """Keeps which CPUs are whose."""

    units = "CPUs"
    without_sleeping = False
    """Slurm switches nodes on when it starts jobs there: those that are off count as idle."""

    def __init__(
        self, parts: SharedParts, partitions: Iterable[str] = (), *,
        holdings: Callable[[SlurmJob], Mapping[str, Holding]] = evenly, **more: Any,
    ) -> None:
        super().__init__(parts.names, partitions, watts=self._job_w, **more)
        self.parts = parts
        self.holdings = holdings
        self._used: set[int] = set()
        self._shares: dict[str, Mapping[str, Share]] = {}
        """Of jobs that were looked at, until they are over."""
        self._crowded: set[str] = set()
        """Nodes of jobs that run by Slurm and have no CPU left in the books."""
        self._above: dict[str, float] = {}
        """By node what its jobs add together."""

    def news(self, seen: Seen) -> News:
        self._crowded.clear()
        found = super().news(seen)
        self._above = {}
        for _, told in self._at_work():
            for host, share in told.shares.items():
                self._above[host] = self._above.get(host, 0.0) + share.above_w
        return found

    def node_names(self, numbers: Iterable[int]) -> list[str]:
        """The nodes of these CPUs, each once."""
        return list(dict.fromkeys(self.parts.host[number] for number in numbers))

    def idle_w(self, node: str, usual_w: float) -> float:
        return self.parts.nodes[node].idle_w

    def _rests(self, node: SlurmNode) -> bool:
        """Also with jobs: those have the idle power of their CPUs alone."""
        return WITHOUT_POWER.isdisjoint(node.states)

    def resting_w(self, node: str, usual_w: float) -> float:
        return self.parts.nodes[node].idle_w * self._free_of(node) / self.parts.nodes[node].cpus

    def counts(self) -> dict[str, int]:
        """Nodes, though the books count CPUs: free are those without a job."""
        busy = {host for _, told in self._at_work() for host in told.shares}
        gone = self.down | self.off
        return {"units": len(self.names), "off": len(self.off), "down": len(self.down),
                "free": sum(name not in busy and name not in gone for name in self.names),
                "shared": sum(name in busy for name in self.names), "changing": 0, "reserved": 0}

    def adopt(self, name: str, told: Told, watts: float) -> None:
        """Take over a running job that the books knew before a restart."""
        self._used.update(told.nodes)
        hosts = self.node_names(told.nodes)
        cpus = {host: sum(self.parts.host[unit] == host for unit in told.nodes) for host in hosts}
        shares = {host: self.parts.nodes[host].share(Holding(cpus[host])) for host in hosts}
        idle_w = sum(share.idle_w for share in shares.values())
        told.shares = _with_watts(shares, max(watts - idle_w, 0.0))
        self._shares[name] = told.shares

    def wanted_w(self, job_w: Callable[[str, Told], float]) -> dict[str, float]:
        """Idle power once, and what each job adds."""
        found: dict[str, float] = {}
        for name, told in self._at_work():
            scale = job_w(name, told) / told.watts if told.watts > 0.0 else 1.0
            for host, share in told.shares.items():
                before_w = found.get(host, self.parts.nodes[host].idle_w)
                more_w = (share.above_w + share.idle_w) * scale - share.idle_w
                found[host] = before_w + max(more_w, 0.0)
        return found

    def suspended_w(self, told: Told, usual_w: float) -> float:
        """Its part of the idle power; all that it claims where Slurm has given its CPUs away."""
        return (told.watts if self._crowded.intersection(told.shares)
                else sum(share.idle_w for share in told.shares.values()))

    def drawn_w(self, told: Told, nodes_w: Mapping[str, float]) -> float:
        """Its part of the idle power by CPUs, and of the rest by what its parts should draw."""
        total_w = 0.0
        for host, share in told.shares.items():
            drawn_w = nodes_w.get(host, math.nan)
            if math.isnan(drawn_w):
                return math.nan
            all_w = self._above.get(host, 0.0)
            part = share.above_w / all_w if all_w > 0.0 else 0.0
            total_w += share.idle_w + max(drawn_w - self.parts.nodes[host].idle_w, 0.0) * part
        return total_w

    def said_and_least_w(self, told: Told, usual_w: float) -> dict[str, tuple[float, float]]:
        """Under the lowest cap of a node its jobs share what that leaves above idle power."""
        found = {}
        for host, least_w in self.least_w(told.shares, usual_w).items():
            share, all_w = told.shares[host], self._above.get(host, 0.0)
            left_w = max(least_w - self.parts.nodes[host].idle_w, 0.0)
            part = min(left_w / all_w, 1.0) if all_w > 0.0 else 1.0
            found[host] = (share.idle_w + share.above_w, share.idle_w + share.above_w * part)
        return found

    def _at_work(self) -> Iterable[tuple[str, Told]]:
        return ((name, told) for name, told in self.told.items()
                if told.draws)

    def _in_order(self, jobs: Sequence[SlurmJob]) -> Sequence[SlurmJob]:
        """Those that are over first: others may have their CPUs by now."""
        holds = (*ACTIVE, *STARTING, *ENDING)
        return sorted(jobs, key=lambda job: job.state in holds)

    def _held(self, name: str, job: SlurmJob) -> tuple[int, ...]:
        """CPUs of each of its nodes that no other job has in the books."""
        if name in self.told:
            self._used -= set(self.told[name].nodes)
        found: list[int] = []
        for host, share in self._share(name, job).items():
            free = (unit for unit in self.parts.units[host] if unit not in self._used)
            found += [unit for unit, _ in zip(free, range(share.cpus), strict=False)]
        self._used.update(found)
        if not found:
            self._crowded.update(job.node_list)
        return tuple(found)

    def _hosts(self, numbers: Sequence[int]) -> int:
        return len(self.node_names(numbers))

    def _see_sharing(self, seen: Seen, named: Mapping[str, str]) -> None:
        """Jobs on one node have CPUs of their own."""

    def _note(self, name: str, job: SlurmJob) -> None:
        self.told[name].shares = self._shares.get(name, {})

    def _over(self, name: str, completed: bool, found: News) -> None:
        self._used -= set(self.told[name].nodes)
        self._shares.pop(name, None)
        super()._over(name, completed, found)

    def _numbers(self, names: Iterable[str]) -> tuple[int, ...]:
        """All CPUs of these nodes."""
        return tuple(sorted(unit for name in names for unit in self.parts.units[name]))

    def _job_w(self, job: SlurmJob) -> float:
        """All that it answers for, its part of idle power included."""
        if not job.node_list:
            return self.asked_w(job)
        return sum(share.above_w + share.idle_w
                   for share in self._share(self.name(job), job).values())

    def lacks(self, job: SlurmJob, nodes: Collection[str]) -> str:
        """By CPUs, which jobs of before may have left some of."""
        free = [self._free_cpus(node) for node in self.nodes_seen
                if node.name in nodes and OUT_OF_ORDER.isdisjoint(node.states)]
        if sum(cpus > 0 for cpus in free) >= job.nodes and sum(free) >= job.cpus:
            return ""
        return (f"it asks for {job.cpus:,} CPUs on {counted(job.nodes, 'node')} of its reservation "
                f"{job.reservation}, of which {sum(free):,} are free on "
                f"{counted(sum(cpus > 0 for cpus in free), 'node')}")

    def _free_cpus(self, node: SlurmNode) -> int:
        """Of a node that is not ours, all or none are."""
        if node.name not in self.parts.units:
            return node.cpus if BUSY.isdisjoint(node.states) else 0
        return self._free_of(node.name)

    def _free_of(self, node: str) -> int:
        return sum(unit not in self._used for unit in self.parts.units[node])

    def adds_w(self, job: SlurmJob) -> float:
        return self.asked_w(job)

    def asked_w(self, job: SlurmJob) -> float:
        """What a waiting job would add: what it says, or what its parts may draw."""
        said = job.licenses.get(WATTS)
        return self.parts.asked_w(job.cpus, devices_of(job.tres)) if said is None else float(said)

    def _share(self, name: str, job: SlurmJob) -> Mapping[str, Share]:
        if name not in self._shares:
            held = self.holdings(job)
            self._shares[name] = _with_watts(
                {host: self.parts.nodes[host].share(held[host]) for host in job.node_list},
                job.licenses.get(WATTS))
        return self._shares[name]


def _with_watts(shares: Mapping[str, Share], above_w: float | None) -> Mapping[str, Share]:
    """The same with so many watts above idle, where a job says how many; in proportion."""
    if above_w is None:
        return shares
    all_w = sum(share.above_w for share in shares.values())
    cpus = sum(share.cpus for share in shares.values())
    return {host: replace(share, above_w=above_w * (
        share.above_w / all_w if all_w > 0.0 else share.cpus / max(cpus, 1)))
        for host, share in shares.items()}
