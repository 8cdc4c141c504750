"""Nodes on which several jobs run at once, as in a partition that is left to Slurm: counted once.

The books give a node to one job. The first that began there stands for all of them: the others are
counted with it, by their watts, and take its place when it ends. Otherwise the books would not take
that the others run, and would think that they wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wattline.controller.elsewhere import part_here
from wattline.controller.told import News
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, SUSPENDED, SlurmJob
from wattline.model.units import fold_hosts

_HOLDS = frozenset({*ACTIVE, *STARTING}) - {SUSPENDED}
"""A suspended job draws nothing: another on its nodes is no part of it."""


@dataclass
class NodesOnce:
    """Who counts which node, by the jobs of one look."""

    watts: Callable[[SlurmJob], float]
    """What a job says that it draws; NaN where it says nothing."""
    idle_w: Callable[[str], float]
    active_w: Callable[[str], float]
    """What a node draws with jobs that say nothing, however many they are."""
    kept: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By label the nodes that are left of a job which others share with it; none: it is counted
    with them."""
    beside: dict[str, list[tuple[SlurmJob, str]]] = field(default_factory=dict)
    """By label of who counts a node the others there."""
    changed: set[str] = field(default_factory=set)
    """Labels of jobs of which other nodes are left than at the look before."""
    _said: set[str] = field(default_factory=set)

    def look(self, jobs: Sequence[SlurmJob], known: Callable[[SlurmJob], bool]) -> None:
        """`known`: whether the books have a job. One that ends has its nodes there still."""
        before, self.kept, self.beside = self.kept, {}, {}
        running = [job for job in jobs if job.node_list and (
            job.state in _HOLDS or (job.state in ENDING and known(job)))]
        if sum(len(job.node_list) for job in running) > len(
                set().union(*(job.node_list for job in running))):
            self._share_out(running)
        self.changed = {label for label in before.keys() | self.kept.keys()
                        if before.get(label) != self.kept.get(label)}

    def of(self, name: str, job: SlurmJob, found: News) -> SlurmJob:
        """A job as the books count it, said once."""
        kept = self.kept.get(job.label)
        if kept is None:
            return job
        if job.label not in self._said:
            self._said.add(job.label)
            shared = [node for node in job.node_list if node not in kept]
            found.remarks.append(f"job {name} shares {fold_hosts(shared)} with others: its watts "
                                 "there are counted with those of the first that began there")
        return part_here(job, kept)

    def only(self, labels: set[str]) -> None:
        """Slurm knows no others any more."""
        self._said &= labels

    def beside_w(self, label: str, own_w: Mapping[str, float]) -> float:
        """What others add on the nodes that a job counts; `own_w` is what it draws of each."""
        nodes_w = dict(own_w)
        silent = []
        for job, node in self.beside.get(label, ()):
            said_w = self.watts(job) / len(job.node_list)
            if math.isnan(said_w):
                silent.append(node)
            else:  # idle power is there once
                nodes_w[node] = nodes_w.get(node, 0.0) + max(said_w - self.idle_w(node), 0.0)
        for node in silent:
            nodes_w[node] = max(nodes_w.get(node, 0.0), self.active_w(node))
        return sum(nodes_w.values()) - sum(own_w.values())

    def _share_out(self, running: Sequence[SlurmJob]) -> None:
        whose: dict[str, str] = {}
        for job in sorted(running, key=_began):
            kept = tuple(node for node in job.node_list
                         if whose.setdefault(node, job.label) == job.label)
            if len(kept) < len(job.node_list):
                self.kept[job.label] = kept
                for node in set(job.node_list).difference(kept):
                    self.beside.setdefault(whose[node], []).append((job, node))


def _began(job: SlurmJob) -> tuple[object, ...]:
    return (math.inf if math.isnan(job.start_s) else job.start_s), job.came
