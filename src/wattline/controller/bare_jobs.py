"""Jobs that say nothing of their watts where Slurm starts them.

No licence keeps such a job waiting. So what it will draw is set aside before it starts, as far as
Slurm could start it at once, and who runs without watts is said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from wattline.controller.elsewhere import part_here
from wattline.controller.sharing.parts import SharedParts
from wattline.live.slurm.holding import devices_of
from wattline.live.slurm.reading import (
    ACTIVE,
    BUSY,
    ENDING,
    PENDING,
    STARTING,
    WATTS,
    SlurmJob,
    SlurmNode,
)

MAY_START = ("None", "Priority", "Resources", "")
"""Reasons of jobs that Slurm starts as soon as there are nodes for them."""
ASIDE_S = 90.0
"""A job that could start for so long and did not is kept by something that a look does not show:
watts are no longer kept from others for it. Slurm tries all jobs once a minute or more often."""
NAMED = 5
"""So many are named in a line."""

Fitting = Callable[[Sequence[SlurmJob]], list[SlurmJob]]


@dataclass
class BareJobs:
    """Remembers since when they could start, and of which it was said that they run."""

    notes: list[str]
    partitions: Collection[str] = ()
    """Of which jobs are set aside; empty: all."""
    _since_s: dict[str, float] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)

    def coming(
        self, jobs: Iterable[SlurmJob], fitting: Fitting, now_s: float
    ) -> list[SlurmJob]:
        """Those that Slurm may start at its next tick; `fitting` says for which there is room."""
        able = sorted((job for job in jobs if self._may_start(job, now_s)),
                      key=lambda job: (-job.priority, job.came))
        found = fitting(able) if able else []
        self._since_s = {job.label: self._since_s.get(job.label, now_s) for job in found}
        return [job for job in found if now_s - self._since_s[job.label] <= ASIDE_S]

    def at_an_end(
        self, jobs: Sequence[SlurmJob], free: int, now_s: float
    ) -> tuple[SlurmJob, int] | None:
        """The widest job that runs, and on how many nodes others without watts could start at the
        tick at which it ends: before the next look, together with jobs that have licences.

        None where a job with licences could start at once: it is not to wait for that end.
        """
        running = [job for job in jobs if job.node_list and job.state in (*ACTIVE, *STARTING)]
        if not running or any(job.state == PENDING and not job.held and WATTS in job.licenses
                              and job.nodes <= free for job in jobs):
            return None
        able = sorted((job for job in jobs if self._may_start(job, now_s)),
                      key=lambda job: (-job.priority, job.came))
        widest = max(running, key=lambda job: len(job.node_list))
        room = left = free + len(widest.node_list)
        for job in able:
            if job.nodes <= left:
                left -= min(max(job.nodes, job.most_nodes), left)
        return (widest, room - left) if left < room else None

    def _may_start(self, job: SlurmJob, now_s: float) -> bool:
        return (job.state == PENDING and not job.held and WATTS not in job.licenses
                and job.reason in MAY_START and not job.eligible_s > now_s
                and job.is_in(self.partitions))

    def say(self, jobs: Iterable[SlurmJob], ours: Collection[str], counted: str) -> None:
        """Once of each that runs on our nodes; `counted` says what it counts with."""
        names = set(ours)
        bare = [job.label for job in jobs
                if WATTS not in job.licenses and job.state in (*ACTIVE, *STARTING, *ENDING)
                and not names.isdisjoint(job.node_list)]
        new = [label for label in bare if label not in self._said]
        self._said = set(bare)
        if new:
            more = f" and {len(new) - NAMED:,} more" if len(new) > NAMED else ""
            self.notes.append(
                f"{'job' if len(new) == 1 else 'jobs'} {', '.join(new[:NAMED])}{more} "
                f"{'runs' if len(new) == 1 else 'run'} without watts (-L {WATTS}:N): no licence "
                f"kept a start back, and {counted}")


def on_free_nodes(
    nodes: Iterable[SlurmNode], jobs: Iterable[SlurmJob], ours: Collection[str]
) -> Fitting:
    """Which of some jobs, in this order, the nodes of their partitions that are free have room for,
    each with as many nodes as Slurm may give it."""
    names = set(ours)
    for job in jobs:
        names.difference_update(job.node_list)
    free = [node for node in nodes if node.name in names and node.usable
            and BUSY.isdisjoint(node.states)]

    def fitting(jobs: Sequence[SlurmJob]) -> list[SlurmJob]:
        places = _Places(free)
        return [job for job in jobs if places.left and places.take(job)]

    return fitting


class _Places:
    """Free nodes, by the partitions that jobs name."""

    def __init__(self, nodes: Sequence[SlurmNode]) -> None:
        self.left = len(nodes)
        self._nodes = nodes
        self._of: dict[str, list[str]] = {}
        self._taken: set[str] = set()

    def take(self, job: SlurmJob) -> bool:
        found = self._some(job.partition, max(job.nodes, job.most_nodes))
        if len(found) < job.nodes or not self._has(job):
            self._of[job.partition] += found
            return False
        self._taken.update(found)
        self.left -= len(found)
        return True

    def _some(self, partition: str, most: int) -> list[str]:
        """So many of a partition, or those that there are; they are its no more."""
        names = self._of.get(partition)
        if names is None:
            wanted = set(partition.split(","))
            names = self._of[partition] = [
                node.name for node in reversed(self._nodes)
                if not node.partitions or not wanted.isdisjoint(node.partitions)]
        found: list[str] = []
        while names and len(found) < most:
            name = names.pop()
            if name not in self._taken:
                found.append(name)
        return found

    def _has(self, job: SlurmJob) -> bool:
        """Whether the nodes that it names are free; which ones it gets beside them is the same."""
        return not job.required_nodes or {node.name for node in self._nodes}.issuperset(
            job.required_nodes)


def on_free_cpus(
    parts: SharedParts, jobs: Iterable[SlurmJob], gone: Collection[str]
) -> Fitting:
    """The same where jobs share nodes: by CPUs, wherever they are."""
    there = sum(each.cpus for name, each in parts.nodes.items() if name not in gone)
    here = (part_here(job, parts.nodes) for job in jobs
            if job.state in (*ACTIVE, *STARTING, *ENDING))
    busy = sum(job.cpus for job in here if job.node_list)

    def fitting(able: Sequence[SlurmJob]) -> list[SlurmJob]:
        return list(_within(able, there - busy))

    return fitting


def _within(jobs: Sequence[SlurmJob], cpus: int) -> Iterator[SlurmJob]:
    for job in jobs:
        if job.cpus <= cpus:
            cpus -= job.cpus
            yield job


def parts_w(parts: SharedParts, jobs: Iterable[SlurmJob]) -> float:
    """What waiting jobs without watts will add to shared nodes."""
    return sum(parts.asked_w(job.cpus, devices_of(job.tres)) for job in jobs)
