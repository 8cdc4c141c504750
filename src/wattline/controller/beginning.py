"""What keeps a held job from beginning, beside nodes and watts.

Slurm looks at none of it while a job is held: a dependency is shown as unfulfilled however long the
other job has been over. So it is judged here, by the jobs of one look. What cannot be told, because
Slurm has forgotten the other job, counts as met: Slurm looks once more when the job is released,
and what it then says has failed is believed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from wattline.live.slurm.reading import (
    ACTIVE,
    ENDING,
    NEVER_BEGINS,
    STARTING,
    WAITING,
    SlurmJob,
)

COMPONENT = "+"
"""In the label of a part of a heterogeneous job: `12+0`."""
_PART = re.compile(r"(?P<kind>[a-z]+)(?::(?P<job>[0-9]+)(?:_(?P<task>[0-9]+|\*))?"
                   r"(?:\+(?P<minutes>[0-9]+))?)?(?:\((?P<state>[a-z]+)\))?")
_UNFINISHED = frozenset({*WAITING, *ACTIVE, *STARTING, *ENDING})


@dataclass(frozen=True)
class Obstacle:
    """Why a job may not begin yet."""

    reason: str
    """In a word or two, as lists have it."""
    sentence: str
    lasts: bool = False
    """Whether it passes by no time: the job's user is told, in its admin comment."""


PARTS = Obstacle(
    "not managed", "it is a heterogeneous job, whose parts have to start together, and decide mode "
    "starts one job at a time: release it (scontrol release), and Slurm starts it; its nodes and "
    "watts are counted once it runs", lasts=True)
UNFIT = Obstacle(
    "not managed", "Slurm finds no nodes for what it asks for (BadConstraints: memory, features, "
    "nodes that are excluded or named), not even of its own choice: change that (scontrol update), "
    "or submit it again")
BEYOND = Obstacle(
    "not managed", "it asks for more nodes or time than its partition gives to any job, says Slurm "
    "(PartitionNodeLimit, PartitionTimeLimit): change that (scontrol update), or submit it again; "
    "it is tried again every 15 minutes, should the limit have risen")
OPERATOR = Obstacle("held by an operator", "an operator holds it (scontrol hold): scontrol uhold "
                    "gives it back to the controller, scontrol release leaves it to Slurm. Slurm "
                    "says the same of a job whose dependency failed while no controller ran")
QUEUED_AGAIN = Obstacle(
    OPERATOR.reason, "it was queued again held, by an operator (scontrol requeuehold) or by Slurm "
    "after an exit code that says so: scontrol release leaves it to Slurm")
FAILED = "dependency failed"
MET, LATE, NEVER = "met", "late", "never"
"""What becomes of a dependency, or of a part of it."""


class Obstacles:
    """Those of the jobs of one look."""

    def __init__(self, jobs: Sequence[SlurmJob], now_s: float, limits: Mapping[str, int],
                 told: Iterable[str], failed: set[tuple[str, str]],
                 closed: Collection[str] = ()) -> None:
        self._jobs = jobs
        self._now_s = now_s
        self._limits = limits
        self._closed = closed
        """Partitions in which Slurm starts nothing at present."""
        self._told: Counter[str] = Counter(
            label.partition("_")[0] for label in told if "_" in label)
        """Tasks of each array that the books have."""
        self._failed = failed
        """Labels with what of their dependencies was seen to fail: Slurm forgets jobs that are
        over, and would not know it any more when it is asked."""

    def of(self, job: SlurmJob) -> Obstacle | None:
        """What keeps a job that waits, whoever else does; None: nothing."""
        if COMPONENT in job.label:
            return PARTS
        waits = self._waits(job) if job.dependency else MET
        if waits == NEVER:  # before an operator's hold, which is how Slurm calls it
            return Obstacle(FAILED, f"{NEVER_BEGINS}, so it will never begin: {job.dependency}; "
                            "change that (scontrol update, Dependency=), or cancel it", lasts=True)
        if job.held_by_operator:
            return QUEUED_AGAIN if job.queued_again_held else OPERATOR
        # What was queued again began before; Slurm's own delay of it is no wish of anybody's.
        if job.eligible_s > self._now_s and not job.restarts:
            at = datetime.fromtimestamp(job.eligible_s, UTC)
            return Obstacle("begin time", f"it asks not to begin before {at:%Y-%m-%d %H:%M:%S} UTC")
        if self._closed and all(name in self._closed for name in job.partition.split(",")):
            return Obstacle("partition", f"Slurm starts nothing in its partition {job.partition} "
                            "at present, which is down or inactive")
        if waits == LATE:
            return Obstacle("dependency", f"it waits for other jobs: {job.dependency}")
        return None

    def of_new(self, job: SlurmJob) -> Obstacle | None:
        """The same of one that the books do not have yet."""
        limit = self._limits.get(job.array, 0)
        if limit and self._told[job.array] >= limit:
            return self.of(job) or Obstacle(
                "array limit", f"of its array {limit:,} may run at once, and as many run or are "
                "before it")
        return self.of(job)

    def tell(self, job: SlurmJob) -> None:
        """The books have it from now on."""
        if job.array:
            self._told[job.array] += 1

    def forget(self, label: str) -> None:
        """The books have it no more."""
        if "_" in label:
            self._told[label.partition("_")[0]] -= 1

    def _waits(self, job: SlurmJob) -> str:
        """Whether what a job waits for has come, comes yet, or never will."""
        if "?" in job.dependency:  # one of them is enough
            parts = {self._part(part, job) for part in job.dependency.split("?")}
            return MET if MET in parts else LATE if LATE in parts else NEVER
        parts = {self._part(part, job) for part in job.dependency.split(",")}
        return NEVER if NEVER in parts else LATE if LATE in parts else MET

    def _part(self, part: str, job: SlurmJob) -> str:
        found = _PART.fullmatch(part.strip())
        if found is None:  # Slurm may know what it means
            return MET
        if found["state"] == "failed" or (job.label, part) in self._failed:
            return NEVER
        if found["kind"] == "singleton":
            return LATE if any(other.state in _UNFINISHED and other.label != job.label
                               and (other.job_id < job.job_id or other.state not in WAITING)
                               for other in self._by_name[job.user, job.name]) else MET
        others = [other for other in self._by_number[found["job"] or ""] if self._is_meant(
            other, found["kind"], found["task"], job)]
        late = [other for other in others
                if not self._lets(other, found["kind"], int(found["minutes"] or 0))]
        if any(other.state not in _UNFINISHED for other in late):
            self._failed.add((job.label, part))
            return NEVER
        return LATE if late else MET

    @staticmethod
    def _is_meant(other: SlurmJob, kind: str, task: str | None, job: SlurmJob) -> bool:
        if kind == "aftercorr" and job.array:
            task = job.label.partition("_")[2]
        return task in (None, "*") or other.label.partition("_")[2] == task

    def _lets(self, other: SlurmJob, kind: str, minutes: int) -> bool:
        """Whether another job has done what this one waits for."""
        if kind == "after":
            return other.state not in WAITING and (
                other.state not in _UNFINISHED or not other.start_s + 60 * minutes > self._now_s)
        if other.state in _UNFINISHED:
            return False
        if kind in ("afterok", "aftercorr"):
            return other.state == "COMPLETED"
        return kind != "afternotok" or other.state != "COMPLETED"

    @cached_property
    def _by_number(self) -> Mapping[str, list[SlurmJob]]:
        """All tasks of an array and parts of a job under its number."""
        found: defaultdict[str, list[SlurmJob]] = defaultdict(list)
        for job in self._jobs:
            found[re.split(r"[_+]", job.label)[0]].append(job)
            if job.array and str(job.job_id) != job.array:
                found[str(job.job_id)].append(job)
        return found

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], list[SlurmJob]]:
        found: defaultdict[tuple[str, str], list[SlurmJob]] = defaultdict(list)
        for job in self._jobs:
            found[job.user, job.name].append(job)
        return found
