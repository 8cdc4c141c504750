"""Nodes as Slurm shows them: which are out of order, and which jobs count them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from wattline.books import Measured, NodesDown, NodesUp
from wattline.controller.busy_nodes import BusyNodes
from wattline.controller.node_power import NodePower
from wattline.controller.nodes_once import NodesOnce
from wattline.controller.told import News
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import (
    ACTIVE,
    BUSY,
    STARTING,
    UNUSABLE,
    SlurmJob,
    SlurmNode,
)
from wattline.live.slurm.reservations import Reservation

OUT_OF_ORDER = UNUSABLE - {"reserved", "maint"}
"""Nodes of a reservation take its jobs, unless they are this, too."""


class NodesSeen(BusyNodes):
    """What a watcher keeps of nodes."""

    looked_s = math.nan
    """When Slurm was last looked at."""
    without_sleeping = True
    """True where the books are without nodes that Slurm's power saving has switched off."""

    def __init__(self, nodes: Sequence[str], power: NodePower | None,
                 watts: Callable[[SlurmJob], float], node_w: float) -> None:
        super().__init__(nodes, power)
        self.watts = watts
        """What a job says that it draws; NaN where it says nothing."""
        self.node_w = node_w
        """What a node draws with a job that says nothing of its power."""
        self.nodes_seen: tuple[SlurmNode, ...] = ()
        """All nodes of the last look."""
        self.in_partition: dict[str, set[int]] = {}
        """Nodes of partitions by the last look, of those that were asked for."""
        self._unusable = set(self.number)
        """Those of ours that Slurm does not show as in order."""
        self._out_of_order: list[SlurmNode] = []
        self._not_up: set[str] = set()
        """Partitions in which Slurm starts nothing at present."""
        self.reservations: tuple[Reservation, ...] = ()
        """Of Slurm's, by the last look."""
        self.down: set[str] = set()
        self.resting: set[str] = set()
        """Those of them that draw power beside jobs, as far as Slurm knows."""
        self.dead: set[str] = set()
        """Those of them that Slurm has lost."""
        self.counted_w: Callable[[str], float] = lambda name: math.nan
        """Power that the books count for a running job at full speed; NaN where not known."""
        self.booked_w: Callable[[str], float] = lambda name: math.nan
        """The same as it is slowed now."""
        self._with_others: set[str] = set()
        """Labels of jobs that counted nodes of others at the last look."""
        self.once = NodesOnce(watts, lambda node: self.idle_w(node, 0.0),
                              lambda node: self.power.active_w.get(node, node_w))

    def _look_at_nodes(self, nodes: tuple[SlurmNode, ...]) -> None:
        """Keep what a look shows; of thousands of nodes, most looks show others busy and no more.
        """
        before, self.nodes_seen = self.nodes_seen, nodes
        others = [(node, last) for node, last in zip(nodes, before, strict=False)
                  if node is not last]
        if len(nodes) == len(before) and all(node.is_like(last) for node, last in others):
            return
        self.in_partition = {}
        self._out_of_order = [node for node in nodes if not node.usable]
        self._unusable = self.number.keys() - {node.name for node in nodes if node.usable}
        self._not_up = {name for node in nodes for name in node.closed}
        if self.without_sleeping:
            self.sleeping.notice(nodes, self.number)

    def _see_nodes(self, seen: Seen, named: Mapping[str, str], found: News) -> None:
        """`named` are jobs by label."""
        self.sleeping.look(seen.time_s, self.off)
        gone = (self._unusable - self.off) | self.sleeping.all
        # The books take no start on a node that is down, and a job may run there all the same: when
        # slurmctld has come back and not heard of the node yet, or has used it at once.
        used = self.down & {
            node for job in (seen.jobs if self.down else ())
            if not self.down.isdisjoint(job.node_list) and self._begins(job, named)
            for node in self.once.kept.get(job.label, job.node_list)}
        if used:
            found.applied.append(NodesUp(nodes=self._numbers(used)))
        self.down -= used
        if gone - self.down:
            found.events.append(NodesDown(nodes=self._numbers(gone - self.down)))
        if self.down - gone:
            found.events.append(NodesUp(nodes=self._numbers(self.down - gone)))
            self._came_back()
        self.down = gone
        out = [node for node in self._out_of_order if node.name in gone]
        self.resting = {node.name for node in out
                        if self._rests(node) and node.name not in self.sleeping.all}
        self.dead = {node.name for node in out
                     if node.lost and node.name not in self.sleeping.booting}

    def _rests(self, node: SlurmNode) -> bool:
        return node.rests

    def resting_w(self, node: str, usual_w: float) -> float:
        """What a node that takes no jobs draws beside those that it has."""
        return self.idle_w(node, usual_w)

    def _came_back(self) -> None:
        """Nodes are in order again."""

    def _begins(self, job: SlurmJob, named: Mapping[str, str]) -> bool:
        """Whether the books are to be told that it runs."""
        told = self.told.get(named[job.label])
        return job.state in (*ACTIVE, *STARTING) and (
            told is None or not told.running or told.untold or not math.isnan(told.asked_s))

    def _see_sharing(self, seen: Seen, named: Mapping[str, str]) -> None:
        # Not by label: what is being requeued shows its next life, which has no nodes, as ending.
        self.once.look(seen.jobs, lambda job: named[job.label] in self.told)

    def _count_others(self, named: Mapping[str, str], found: News) -> None:
        """Tell the books of watts that others draw on the nodes of a job, and draw no more."""
        labels = sorted(self._with_others | self.once.beside.keys())
        self._with_others = set(self.once.beside)
        for label in labels:
            told = self.told.get(name := named.get(label, ""))
            if told is None or not told.running:
                continue
            own_w = told.watts - told.beside_w
            nodes = self.node_names(told.nodes)
            beside_w = self.once.beside_w(
                label, {node: own_w / max(len(nodes), 1) for node in nodes})
            more_w = beside_w - told.beside_w
            if not math.isclose(more_w, 0.0, abs_tol=0.5):
                counted_w = self.counted_w(name)
                before_w = told.watts if math.isnan(counted_w) else counted_w
                told.watts, told.beside_w = own_w + beside_w, beside_w
                found.events.append(Measured(max(before_w + more_w, own_w), name))

    def kept_from(self, job: SlurmJob) -> set[str]:
        """Nodes that are reserved for others at some time before a job would end, if it began
        now: Slurm does not start it there."""
        return {name for each in self.met_by(job) for name in each.nodes}

    def met_by(self, job: SlurmJob) -> list[Reservation]:
        """Reservations of others that such a job would run into."""
        until_s = self.looked_s + (job.limit_s if job.limit_s > 0 else math.inf)
        own = job.reservation.split(",")
        return [each for each in self.reservations if each.name not in own
                and each.meets(self.looked_s, until_s)]

    def lacks(self, job: SlurmJob, nodes: Collection[str]) -> str:
        """What a job lacks of the nodes of its reservation; empty: nothing."""
        free = sum(node.name in nodes and BUSY.isdisjoint(node.states)
                   and OUT_OF_ORDER.isdisjoint(node.states) for node in self.nodes_seen)
        return "" if free >= job.nodes else (
            f"it asks for {job.nodes:,} of its reservation {job.reservation}, of which {free:,} "
            "are free")

    def all_w(self, job: SlurmJob) -> float:
        """What a waiting job will draw, as licences count it."""
        watts = self.watts(job)
        return job.nodes * self.node_w if math.isnan(watts) else watts

    def adds_w(self, job: SlurmJob) -> float:
        """The same above what its nodes draw without a job, which is kept from the cap already."""
        return self.all_w(job) - job.nodes * self.power.least_idle_w

    def numbers_of(self, names: Iterable[str]) -> set[int]:
        """Those of them that are ours."""
        return {self.number[name] for name in names if name in self.number}

    def _numbers(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted(self.number[name] for name in names))
