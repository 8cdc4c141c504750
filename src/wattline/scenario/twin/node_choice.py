"""Which nodes jobs name, and over how many they spread devices that they ask for in all.

sbatch: --nodelist, --exclude, --gpus. A list of nodes without a number of nodes asks for that many;
one that is longer than the number asked for leaves the choice among its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.scenario.twin.asked import Asked, Counter, Kind
from wattline.scenario.twin.per_gpu import needed_by_gpus
from wattline.shared_nodes.machine import BoolArray, IntArray, Nodes
from wattline.site.lines import hosts_of

SPREAD = ("asks for devices of the whole job: an equal part on each of as few nodes as have them")
UNEVEN = ("asks for devices of the whole job that its nodes cannot share equally: some take one "
          "more, and each must have as many free")
UNEQUAL = ("asks for devices of the whole job that Slurm would give in unequal parts, which is not "
           "modelled: too few of its nodes have an equal part, with the CPUs of its tasks")


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

    def rows(self, row: int, job: Asked) -> tuple[int, int]:
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
            return apart, -1
        if self.unknown[job.require]:
            self.reject(row, "asks for nodes that slurm.conf does not have "
                             f"({self.unknown[job.require][0]})")
            return apart, -1
        count = int(self.masks.rows[wanted].sum())
        if job.min_nodes < 1:
            job.min_nodes, job.max_nodes = count, max(count, job.tasks)
        elif count > job.min_nodes:
            return self._all_but(job, wanted, apart), -1
        return apart, wanted

    def _mask(self, row: int, job: Asked, text: str) -> int:
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

    def _all_but(self, job: Asked, wanted: int, apart: int) -> int:
        """The mask that leaves only nodes of a list."""
        others = ~self.masks.rows[wanted]
        if apart >= 0:
            others |= self.masks.rows[apart]
        return self.masks.row(f"only {job.require} but {job.exclude}", lambda: others)


@dataclass
class Spreading:
    """Devices that jobs ask for in all, put on nodes in equal parts."""

    nodes: Nodes
    filled: Counter
    known: dict[tuple[object, ...], int] = field(default_factory=dict)

    def fits(self, job: Asked, room: BoolArray, key: object) -> str:
        """Settle its number of nodes; why nodes of `room`, known by `key`, do not have its devices.

        Nothing where they do.
        """
        if not job.gres_per_job:
            return ""
        asked = tuple(sorted(job.gres_per_job.items()))
        same = (key, asked, job.tasks, job.cpus_per_task, job.min_nodes, job.max_nodes,
                job.cpus_per_gpu, job.memory_per_gpu_mb)
        if same not in self.known:
            self.known[same] = self._fewest(job, room)
        if self.known[same] == 0:
            return self._why_not(job, room)
        if job.min_nodes != job.max_nodes or job.min_nodes < 1:
            self.filled.note(SPREAD, job.job_id)
        job.min_nodes = job.max_nodes = self.known[same]
        if any(number % job.min_nodes for number in job.gres_per_job.values()):
            self.filled.note(UNEVEN, job.job_id)
        return ""

    def _why_not(self, job: Asked, room: BoolArray) -> str:
        """Too few devices, too little beside them, or parts that would have to be unequal."""
        counts = self._counts(job, room)
        asked = said(job.gres_per_job)
        for kind, number in job.gres_per_job.items():
            there = np.sort(devices_of(self.nodes, *kind)[room])[::-1]
            if int(there[: counts.stop - 1].sum()) < number:
                return f"more devices for the whole job than its nodes have ({asked})"
        for name, what in (("memory_per_gpu_mb", "memory"), ("cpus_per_gpu", "CPUs")):
            without: dict[str, Any] = {name: -1}
            if self._fewest(replace(job, **without), room) > 0:
                return (f"more {what} for each GPU than the nodes with its devices have "
                        f"({asked}, {getattr(job, name):,} each)")
        return f"{UNEQUAL} ({asked})"

    @staticmethod
    def _counts(job: Asked, room: BoolArray) -> range:
        """The numbers of nodes that it may have."""
        most = job.max_nodes
        if most < 1:
            most = job.tasks if job.tasks > 0 else max(job.gres_per_job.values())
        if not isfinite(job.start_s):  # each node has one at least; who ran had nodes enough
            most = min([most, *filter(None, job.gres_per_job.values())])
        return range(max(1, job.min_nodes),
                     min(max(most, job.min_nodes, 1), int(room.sum())) + 1)

    def _fewest(self, job: Asked, room: BoolArray) -> int:
        """On how few nodes its devices and tasks fit; 0 for none."""
        for count in self._counts(job, room):
            cpus = -(-max(job.tasks, 1) // count) * max(job.cpus_per_task, 1)
            gpu_cpus, gpu_mb = needed_by_gpus(job, count)
            able = room & (self.nodes.cpus >= max(cpus, gpu_cpus)) & (
                self.nodes.memory_mb >= gpu_mb)
            for kind, number in job.gres_per_job.items():
                able = able & (devices_of(self.nodes, *kind) >= -(-number // count))
            if int(able.sum()) >= count:
                return count
        return 0


def devices_of(nodes: Nodes, name: str, model: str) -> IntArray:
    """How many devices each node has of a name, and of a model where one is given."""
    columns = [at for at, kind in enumerate(nodes.gres_kinds)
               if kind[0] == name and model in ("", kind[1])]
    return np.asarray(nodes.gres[:, columns].sum(axis=1), dtype=np.int64)


def said(asked: Mapping[Kind, int]) -> str:
    """Devices in words."""
    return ", ".join(f"{number} {':'.join(filter(None, kind))}" for kind, number in asked.items())
