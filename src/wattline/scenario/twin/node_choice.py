"""Which nodes jobs name, and whether nodes have the devices that they ask for in all.

sbatch: --nodelist, --exclude, --gpus. A job that ran with fewer nodes than it names, by a log, is
left the choice among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from wattline.model.errors import InputError
from wattline.scenario.twin.as_submitted import settle_nodes, too_many_named
from wattline.scenario.twin.asked import AskedJob, Counter, Kind
from wattline.shared_nodes.machine import BoolArray, IntArray, Nodes
from wattline.site.lines import hosts_of


@dataclass
class Masks:
    """Rows of nodes by the text that asks for them, each worked out once."""

    nodes: int
    rows: list[BoolArray] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)

    def row(self, text: str, make: Callable[[], BoolArray]) -> int:
        if not text:
            return -1
        if text not in self.place:
            self.rows.append(make())
            self.place[text] = len(self.rows) - 1
        return self.place[text]

    def table(self) -> BoolArray:
        return np.array(self.rows, dtype=np.bool_).reshape(len(self.rows), self.nodes)


@dataclass
class NamedNodes:
    """The nodes that jobs must have or must not use; `reject` refuses a job, by its row."""

    node_row: Mapping[str, int]
    reject: Callable[[int, str], None]
    filled: Counter
    masks: Masks
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def rows(self, row: int, job: AskedJob) -> tuple[int, int]:
        """Rows of the masks: what it must not use, and what it must have."""
        apart = self._mask(row, job, job.exclude)
        if apart >= 0 and self.unknown[job.exclude]:
            said = f"excludes nodes that slurm.conf does not have ({self.unknown[job.exclude][0]})"
            if isfinite(job.start_s):  # they were there when it was submitted
                self.filled.note(f"{said}: the others are excluded", job.job_id)
            else:
                self.reject(row, said)
        wanted = self._mask(row, job, job.require)
        if wanted < 0:
            settle_nodes(job)
            return apart, -1
        if self.unknown[job.require]:
            self.reject(row, "asks for nodes that slurm.conf does not have "
                             f"({self.unknown[job.require][0]})")
            return apart, -1
        count = int(self.masks.rows[wanted].sum())
        if why := too_many_named(job, count):
            if isfinite(job.start_s):  # it was changed after its submission
                self.filled.note("names more nodes than it asks for, and ran: it has some of them",
                                 job.job_id)
                settle_nodes(job)
                return self._all_but(job, wanted, apart), -1
            self.reject(row, why)
            return apart, -1
        settle_nodes(job, count)
        if job.max_nodes < 0:
            job.max_nodes = max(count, job.tasks)
        return apart, self._first_of(job, wanted) if count > job.min_nodes else wanted

    def _first_of(self, job: AskedJob, wanted: int) -> int:
        """The mask of the first nodes of a list, as many as the job may have."""
        def make() -> BoolArray:
            mask = np.zeros(len(self.node_row), dtype=np.bool_)
            mask[np.flatnonzero(self.masks.rows[wanted])[:job.min_nodes]] = True
            return mask

        return self.masks.row(f"first {job.min_nodes} of {job.require}", make)

    def _mask(self, row: int, job: AskedJob, text: str) -> int:
        def make() -> BoolArray:
            mask = np.zeros(len(self.node_row), dtype=np.bool_)
            names = hosts_of(text, f"job {job.job_id}")
            mask[[self.node_row[name] for name in names if name in self.node_row]] = True
            self.unknown[text] = tuple(name for name in names if name not in self.node_row)
            return mask

        if "/" in text:
            self.reject(row, f"names its nodes in a file ({text[:60]}), which is not read")
            return -1
        try:
            return self.masks.row(text, make)
        except InputError as error:
            self.reject(row, str(error).partition(": ")[2])
            return -1

    def _all_but(self, job: AskedJob, wanted: int, apart: int) -> int:
        """The mask that leaves only nodes of a list."""
        others = ~self.masks.rows[wanted]
        if apart >= 0:
            others |= self.masks.rows[apart]
        return self.masks.row(f"only {job.require} but {job.exclude}", lambda: others)


@dataclass
class DevicesInAll:
    """Devices that jobs ask for in all: how much of the machine could serve them at most."""

    nodes: Nodes
    known: dict[tuple[object, ...], str] = field(default_factory=dict)

    def why_not(self, job: AskedJob, room: BoolArray, key: object) -> str:
        """Why nodes of `room`, known by `key`, cannot have its devices; nothing where they may."""
        if not job.gres_per_job:
            return ""
        same = (key, tuple(sorted(job.gres_per_job.items())), job.tasks, job.min_nodes,
                job.max_nodes, job.cpus_per_gpu, job.memory_per_gpu_mb)
        if same not in self.known:
            self.known[same] = self._why_not(job, room)
        return self.known[same]

    def _why_not(self, job: AskedJob, room: BoolArray) -> str:
        if not self._may_have(job, room, 0, 0):
            return ("more devices for the whole job than its nodes have "
                    f"({said(job.gres_per_job)})")
        for name, what in (("memory_per_gpu_mb", "memory"), ("cpus_per_gpu", "CPUs")):
            each = {of: max(getattr(job, of), 0) if of == name else 0
                    for of in ("cpus_per_gpu", "memory_per_gpu_mb")}
            if not self._may_have(job, room, *each.values()):
                return (f"more {what} for each GPU than the nodes with its devices have "
                        f"({said(job.gres_per_job)}, {getattr(job, name):,} each)")
        return ""

    def _may_have(self, job: AskedJob, room: BoolArray, cpus: int, memory_mb: int) -> bool:
        """Whether as many nodes as it may have, the largest, have the devices."""
        most = most_nodes(job)
        for kind, number in job.gres_per_job.items():
            there = devices_of(self.nodes, *kind)
            if kind[0] == "gpu" and cpus > 0:
                there = np.minimum(there, self.nodes.cpus // cpus)
            if kind[0] == "gpu" and memory_mb > 0:
                there = np.minimum(there, self.nodes.memory_mb // memory_mb)
            there = np.sort(there[room])[::-1]
            if int(there[:most].sum()) < number:
                return False
        return True


def most_nodes(job: AskedJob) -> int:
    """How many nodes a job with devices in all may have: each gives one at least."""
    most = min(filter(None, job.gres_per_job.values()), default=1)
    if isfinite(job.start_s):  # who ran had nodes enough
        most = max(most, job.min_nodes)
    for bound in (job.max_nodes, job.tasks):
        if bound > 0:
            most = min(most, max(bound, job.min_nodes))
    return max(most, 1)


def on_one_node(job: AskedJob) -> None:
    """Let devices in all of a job that may have one node alone be those of this node."""
    if job.gres_per_job and most_nodes(job) == 1:
        job.min_nodes = job.max_nodes = 1
        for kind, number in job.gres_per_job.items():
            job.gres_per_node[kind] = job.gres_per_node.get(kind, 0) + number
        job.gres_per_job = {}


def devices_of(nodes: Nodes, name: str, model: str) -> IntArray:
    """How many devices each node has of a name, and of a model where one is given."""
    columns = [at for at, kind in enumerate(nodes.gres_kinds)
               if kind[0] == name and model in ("", kind[1])]
    return np.asarray(nodes.gres[:, columns].sum(axis=1), dtype=np.int64)


def said(asked: Mapping[Kind, int]) -> str:
    """Devices in words."""
    return ", ".join(f"{number} {':'.join(filter(None, kind))}" for kind, number in asked.items())
