"""A shared machine at one moment, in plain figures: what a decision is made from.

Written down beside what was decided, it gives the same decision again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from wattline.live.slurm.holding import devices_of
from wattline.live.slurm.reading import WATTS, SlurmJob
from wattline.live.slurm.wishes import Wish
from wattline.model.errors import InputError
from wattline.scenario.twin.asked import AskedJob
from wattline.shared_nodes.machine import NO_LIMIT
from wattline.site.sbatch import gres_asked, megabytes


@dataclass(frozen=True)
class PicturedJob:
    """A job that runs or waits, as far as a decision depends on it."""

    label: str
    submit_s: float
    limit_s: float
    nodes: int
    most_nodes: int
    cpus: int
    partition: str
    user: str
    account: str
    qos: str = ""
    nice: int = 0
    tres: str = ""
    wish: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    """Nodes that it must not have, as they are reserved for others before it would end."""
    licenses: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    """CPUs by node, of one that runs."""
    start_s: float = 0.0
    load: float = 1.0
    """What it draws of what its CPUs could."""


@dataclass(frozen=True)
class Picture:
    """All of them, and what power there is."""

    time_s: float
    cap_w: float
    drawn_w: float
    down: tuple[str, ...]
    jobs: tuple[PicturedJob, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Picture:
        """From what `to_dict` gave."""
        jobs = tuple(PicturedJob(**(job | {name: tuple(job.get(name, ()))
                                           for name in ("required", "excluded")}))
                     for job in said["jobs"])
        return cls(said["time_s"], said["cap_w"], said["drawn_w"], tuple(said["down"]), jobs)


def pictured(
    job: SlurmJob, wish: Wish, held: Mapping[str, int], start_s: float, load: float,
    excluded: Iterable[str] = (),
) -> PicturedJob:
    """A job of a look at Slurm."""
    named = {name: value for name, value in asdict(wish).items() if name != "eligible_s"}
    # One without end stays a number, as pictures are written down.
    limit_s = -1.0 if math.isnan(job.limit_s) else min(job.limit_s, float(NO_LIMIT))
    return PicturedJob(
        job.label, job.submit_s, limit_s, job.nodes, max(job.most_nodes, job.nodes), job.cpus,
        job.partition, job.user, job.account, wish.qos, job.nice, job.tres, named,
        () if held else job.required_nodes, tuple(sorted(excluded)),
        {name: count for name, count in job.licenses.items() if name != WATTS}, dict(held),
        start_s, load)


def asked(job: PicturedJob, base_s: float) -> AskedJob:
    """The same as the twin reads a job of a log."""
    found = AskedJob(job.label, job.submit_s - base_s, 1e9, job.limit_s, user=job.user,
                     account=job.account, partition=job.partition, qos=job.qos, nice=job.nice,
                     licences=dict(job.licenses), cpu_load=job.load, where=f"job {job.label}")
    if job.held:
        found.min_nodes = found.max_nodes = len(job.held)
        found.tasks, found.cpus_per_task = sum(job.held.values()), 1
    else:
        found.min_nodes, found.max_nodes = job.nodes, job.most_nodes
        found.cpus_per_task = int(job.wish["cpus_per_task"])
        found.tasks_per_node = int(job.wish["tasks_per_node"])
        found.tasks = int(job.wish["tasks"])
        if found.tasks < 1:
            found.tasks = max(job.cpus // max(found.cpus_per_task, 1), 1)
        found.constraint = str(job.wish["features"])
        found.require, found.exclude = ",".join(job.required), ",".join(job.excluded)
    found.exclusive = bool(job.wish.get("exclusive"))
    _devices(job, found)
    _memory(job, found)
    return found


def _devices(job: PicturedJob, found: AskedJob) -> None:
    wished = {"gres_per_node": "per_node", "gres_per_job": "per_job", "gres_per_task": "per_task"}
    for name, place in wished.items():
        text = str(job.wish.get(place, "")).replace("gres:", "")
        if text:
            setattr(found, name, gres_asked(text, f"job {job.label}"))
    if not any(getattr(found, name) for name in wished):
        nodes = max(found.min_nodes, 1)
        for kind, count in devices_of(job.tres).items():
            name, _, model = kind.partition(":")
            found.gres_per_node[name, model] = -(-count // nodes)


def _memory(job: PicturedJob, found: AskedJob) -> None:
    """In equal parts, as a log's: Slurm says what the whole job has."""
    text = _memory_said(job)
    if text and not memory_unread(job):
        whole_mb = megabytes(text, "mem", f"job {job.label}")
        found.memory_per_node_mb = -(-whole_mb // max(found.min_nodes, 1))


def memory_unread(job: PicturedJob) -> str:
    """What Slurm says of its memory where that cannot be read, and so counts as none."""
    text = _memory_said(job)
    try:
        megabytes(text or "0", "mem", f"job {job.label}")
    except InputError:
        return text
    return ""


def _memory_said(job: PicturedJob) -> str:
    said = dict(part.partition("=")[::2] for part in job.tres.split(","))
    return said.get("mem", "")
