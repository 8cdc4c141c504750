"""What the controller has written on jobs: known over restarts, and never taken for what users ask.

A start names nodes, may choose a number of them out of a range, and may add watts as licences. All
of it stays on the job where the start does not happen, beside what its user changes meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wattline.live.slurm.reading import WATTS, SlurmJob
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.units import fold_hosts, parse_hosts

FILE = "named.json"


@dataclass(frozen=True)
class Written:
    """On one job by its last start, and what its user asked for then."""

    nodes: tuple[str, ...] | None = None
    """The nodes that we named; empty: none. None: some, and it is not known which."""
    size: int = 0
    """How many nodes we chose; 0: none were."""
    watts: int | None = None
    """Licences of that name that we gave it."""
    asked_nodes: int = 0
    asked_most: int = 0
    asked_watts: int | None = None
    lent: int | None = None
    """Licences that it holds instead, while others have the rest of what it claims."""

    @cached_property
    def text(self) -> str:
        """In a file; made once, since there may be thousands and few are new."""
        nodes = None if self.nodes is None else fold_hosts(self.nodes)
        return json.dumps({"nodes": nodes, "size": self.size, "watts": self.watts,
                           "asked_nodes": self.asked_nodes, "asked_most": self.asked_most,
                           "asked_watts": self.asked_watts, "lent": self.lent})

    def claim(self, job: SlurmJob, *, starting: bool = False) -> int | None:
        """Licences that a job holds while nobody borrows of them; None: it has none.

        `starting`: what its start writes on it is not seen yet.
        """
        if starting and self.watts is not None:
            return self.watts
        return self.as_claimed(job).licenses.get(WATTS)

    def as_claimed(self, job: SlurmJob) -> SlurmJob:
        """The job with what it claims, where part of it is lent to others."""
        claim = self.asked_watts if self.watts is None else self.watts
        if self.lent is None or claim is None or job.licenses.get(WATTS) != self.lent:
            return job
        return replace(job, licenses=_with_watts(job.licenses, claim))

    def as_asked(self, job: SlurmJob) -> SlurmJob:
        """The job as its user asks for it: what is not as we wrote it, somebody has changed."""
        job = self.as_claimed(job)
        if self.names(job):
            job = replace(job, required_nodes=())
        if self.size and (job.nodes, job.most_nodes) == (self.size, self.size):
            job = replace(job, nodes=self.asked_nodes, most_nodes=self.asked_most)
        if self.watts is not None and job.licenses.get(WATTS) == self.watts:
            job = replace(job, licenses=_with_watts(job.licenses, self.asked_watts))
        return job

    def names(self, job: SlurmJob) -> bool:
        """Whether the nodes that a job asks for by name are of our choice."""
        return bool(job.required_nodes) and (
            self.nodes is None or set(self.nodes) == set(job.required_nodes))


def written(
    job: SlurmJob, before: Written | None, nodes: tuple[str, ...], size: int, watts: int | None
) -> Written:
    """What will be on a job that is told to start: no nodes are named, or no watts given, where
    they are its user's own; `before` is what was written the last time."""
    asked = job if before is None else before.as_asked(job)
    if not nodes and before is not None and before.names(job):
        nodes = job.required_nodes  # they stay until they are taken back
    return Written(nodes, size, watts if watts is not None or before is None else before.watts,
                   asked.nodes, asked.most_nodes, asked.licenses.get(WATTS),
                   None if before is None else before.lent)


def _with_watts(licenses: Mapping[str, int], watts: int | None) -> dict[str, int]:
    others = {name: count for name, count in licenses.items() if name != WATTS}
    return others if watts is None else {**others, WATTS: watts}


class WrittenOn:
    """What is written on jobs, by label."""

    def __init__(self) -> None:
        self.written: dict[str, Written] = {}
        """On jobs that were told to start."""

    def as_asked(self, job: SlurmJob) -> SlurmJob:
        """A job without what we have written on it."""
        mine = self.written.get(job.label)
        return job if mine is None else mine.as_asked(job)

    def as_claimed(self, job: SlurmJob) -> SlurmJob:
        """A job with what it claims, where part of it is lent to others."""
        mine = self.written.get(job.label)
        return job if mine is None else mine.as_claimed(job)

    def names_nodes(self, job: SlurmJob) -> bool:
        """Whether we have named the nodes that a job asks for."""
        return job.label in self.written and self.written[job.label].names(job)


def keep_written(folder: Path, all_written: Mapping[str, Written]) -> None:
    """Note it before Slurm is told: the next controller, and the watchdog, take back that and
    nothing else."""
    said = ",\n".join(f"{json.dumps(label)}: {each.text}" for label, each in all_written.items())
    write_whole(folder / FILE, f"{{{said}}}\n")


def kept_written(folder: Path) -> dict[str, Written]:
    """By label; nothing where there is no such file, or it is damaged."""
    try:
        said = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if isinstance(said, list):  # of an earlier version: labels alone
            return {str(label): Written() for label in said}
        return {label: _read(each) for label, each in said.items()}
    except (OSError, ValueError, TypeError, AttributeError, InputError):
        return {}


def _read(said: Mapping[str, Any]) -> Written:
    names = said.get("nodes")
    nodes = None if names is None else tuple(parse_hosts(names)) if names else ()
    return Written(**{**said, "nodes": nodes})
