"""Waiting for the end of a workload on a bed: all jobs are over, or none can start any more."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wattline.controller.hands import REFUSED
from wattline.controller.status import read_status
from wattline.controller.testbed.conditions import Conditions
from wattline.controller.testbed.faults import Faults
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.progress import BedProgress, Tell, powers
from wattline.controller.testbed.workload import Submitter
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import (
    ACTIVE,
    ENDING,
    RUNNING,
    STARTING,
    WAITING,
    SlurmJob,
)
from wattline.model.errors import WattlineError

LOOK_S = 1.0
GRACE_S = 120.0
"""So long after its last possible end a run is given up."""
STUCK_S = 30.0
IDLE_S = 15.0
"""So long nothing may run and nothing begin where a job is left that can never start."""
LONG_IDLE_S = 60.0
"""The same where nobody knows why (a start that Slurm refused is tried again after 5 to 40 s), and
under faults, any of which may keep a job for a while."""


@dataclass
class RunEnd:
    """How a run came to its end."""

    refused: set[str] = field(default_factory=set)
    left: tuple[str, ...] = ()
    """Jobs that still waited when none could start any more."""
    remarks: list[str] = field(default_factory=list)


class UntilOver:
    """Waits until all jobs were submitted and are over, as Slurm says, and lets faults happen."""

    def __init__(
        self, bed: Bed, submitter: Submitter, conditions: Conditions, faults: Faults | None,
        begin_s: float, tell: Tell, never: Mapping[int, float],
    ) -> None:
        self.bed, self.submitter, self.conditions = bed, submitter, conditions
        self.faults, self.begin_s, self.tell, self.never = faults, begin_s, tell, never
        # Faults are not to wait for a Slurm that is away because of one.
        self.slurm = Slurm(Commands(bed.environment, patience_s=2.0))
        self._stuck: tuple[str, ...] = ()
        """Jobs that are left and held, since when."""
        self._stuck_s = math.inf
        self._idle: tuple[str, ...] = ()
        """Jobs that wait while none runs, since when."""
        self._idle_s = math.inf
        jobs = submitter.jobs
        self.end_s = begin_s + GRACE_S + sum(job.limit_s for job in jobs) + max(
            (job.submit_s for job in jobs), default=0.0)

    def wait(self) -> RunEnd:
        lowered = self.conditions.lower_to_w is None
        while (now_s := time.time()) < self.end_s:
            since_s = now_s - self.begin_s
            if not lowered and since_s >= self.conditions.lower_at_s:
                write_cap(self.bed.folder / "cap", self.conditions.lower_to_w or 0.0)
                lowered = True
            if self.faults is not None:
                self.faults.tick(since_s)
            all_submitted = self.submitter.done  # before the look, which knows of no later job
            left = self._left()
            if left is not None:
                self._tell(left)
                end = self._end(left) if all_submitted else None
                end = end or (self._given_up(left) if all_submitted and lowered else None)
                if end is not None:
                    return end
            time.sleep(LOOK_S if lowered else 0.2)
        return RunEnd(remarks=["the run was given up: jobs were left when none could be any more"])

    def _end(self, left: list[SlurmJob]) -> RunEnd | None:
        """Where all jobs are over that were not refused."""
        refused = {job.label for job in left if job.held and REFUSED in job.admin_comment}
        if len(left) == len(refused) and not self._forgotten():
            return RunEnd(refused)
        self._free([job for job in left if job.label not in refused])
        return None

    def _given_up(self, left: Sequence[SlurmJob]) -> RunEnd | None:
        """Where nothing runs and nothing has begun for long: no end of a job makes room."""
        refused = {job.label for job in left if job.held and REFUSED in job.admin_comment}
        labels = tuple(sorted(job.label for job in left if job.label not in refused))
        goes_on = any(job.state in (RUNNING, *STARTING, *ENDING) for job in left)
        now_s = time.monotonic()
        if goes_on or labels != self._idle:
            self._idle, self._idle_s = () if goes_on else labels, now_s
            return None
        hopeless = {label: self.never[number] for label in labels
                    if (number := self._number(label)) in self.never}
        if now_s - self._idle_s < self._patience_s(bool(hopeless)):
            return None
        return RunEnd(refused, labels, [*self._why(hopeless), *self._behind(
            [label for label in labels if label not in hopeless], bool(hopeless))])

    def _patience_s(self, hopeless: bool) -> float:
        """A fault may be what keeps jobs: then it is not given up where nobody knows why."""
        if self.faults is not None:
            return LONG_IDLE_S if hopeless else math.inf
        return IDLE_S if hopeless else LONG_IDLE_S

    def _number(self, label: str) -> int:
        return self.submitter.labels[label].number

    def _why(self, hopeless: Mapping[str, float]) -> list[str]:
        return [f"job {self._number(label)} ({label} in Slurm) was left waiting: alone it takes "
                f"the machine to {watts:,.0f} W, above the cap of {self.conditions.last_w:,.0f} W"
                for label, watts in hopeless.items()]

    def _behind(self, others: Sequence[str], why: bool) -> list[str]:
        numbers = ", ".join(str(self._number(label)) for label in others)
        if not others:
            return []
        return [f"left waiting {'behind such jobs' if why else 'while nothing ran'}: {numbers}"]

    def _tell(self, left: Sequence[SlurmJob]) -> None:
        waiting = sum(job.state not in (RUNNING, *STARTING, *ENDING) for job in left)
        status = {}
        with suppress(WattlineError):
            status = read_status(self.bed.folder / "controller", running=False)
        power_w, cap_w = powers(status)
        self.tell(BedProgress("running", len(self.submitter.jobs), len(self.submitter.labels),
                              len(left) - waiting, waiting, power_w, cap_w))

    def _free(self, left: list[SlurmJob]) -> None:
        """Where jobs are held and nothing has happened for long, Slurm may keep them itself."""
        labels = tuple(job.label for job in left)
        if labels != self._stuck or not all(job.held for job in left):
            self._stuck, self._stuck_s = labels, time.monotonic()
        elif time.monotonic() > self._stuck_s + STUCK_S:
            self._stuck_s = time.monotonic()
            with suppress(SlurmError):
                self.submitter.free(labels)

    def _forgotten(self) -> bool:
        """Whether Slurm knows no more of some that it took: then they are submitted again."""
        try:
            return self.submitter.again()
        except SlurmError:
            return True  # it is not known yet

    def _left(self) -> list[SlurmJob] | None:
        """Jobs of the run that are not over; None where Slurm does not answer."""
        try:
            seen = self.slurm.look()
        except SlurmError:
            return None
        return [job for job in seen.jobs if job.label in self.submitter.labels
                and job.state in (*WAITING, *STARTING, *ACTIVE, *ENDING)]


def write_cap(file: Path, watts: float) -> None:
    """As a site's scripts should: whole, or as it was."""
    made = file.with_suffix(".new")
    made.write_text(f"{watts}\n", encoding="ascii")
    made.replace(file)
