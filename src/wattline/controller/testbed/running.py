"""A workload on a bed under the controller, and what came of it by the emulator's own log."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.books import Ended, Measured, Started, Submitted, read_journal
from wattline.controller.licences import LicenceNet
from wattline.controller.testbed.accounted import (
    Accounted,
    SeenJob,
    longest_above,
    read_log,
    worked_jobs,
)
from wattline.controller.testbed.conditions import Conditions, never_starting
from wattline.controller.testbed.faults import Faults
from wattline.controller.testbed.joules import LifeJoules, joules_of, worst
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.process import ControllerProcess
from wattline.controller.testbed.progress import BedProgress, Tell, untold
from wattline.controller.testbed.until_over import LOOK_S, RunEnd, UntilOver, write_cap
from wattline.controller.testbed.workload import BedJob, Submitter
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import RUNNING
from wattline.model.errors import WattlineError

SETTLE_S = 3.0
"""The controller has to hear of the last ends, and its comments wait for accounting to know them;
the emulator's log is a little late too."""
ACCOUNTED_S = 60.0
"""So long accounting may take to hear of jobs that ended while it was away."""
HEARD_S = 30.0
"""So long agents may take to come back after the last fault."""
UNSUBMITTED = "unsubmitted"


@dataclass(frozen=True)
class BedRun:
    """What became of a workload."""

    jobs: int
    finished: int
    above_cap_s_max: float
    """The longest stretch of emulated power above the cap."""
    energy_error_max: float
    """The worst life of a job: the joules of our ledger against what the emulator let it draw."""
    slurm_energy_error_max: float
    """The same of Slurm's own joules, of jobs with one life, against what their work drew."""
    decisions: int
    replay_equal: bool | None
    """Whether the journal, in another process, gives every decision again; None: it has none."""
    lost: tuple[str, ...]
    """Jobs that were not refused or left and did not complete, by accounting; of one that Slurm
    never took, its number in the log."""
    doubled: tuple[str, ...]
    """Jobs that completed more than once, by accounting."""
    refused: tuple[str, ...]
    """Jobs that could never run under the cap."""
    requeued: tuple[str, ...]
    """Jobs that were stopped and began again, by accounting."""
    makespan_s: float
    wait_s_mean: float
    power_w: tuple[tuple[float, float], ...]
    """Times since the beginning, and watts."""
    seen: tuple[SeenJob, ...] = ()
    """The jobs that completed, as Slurm's accounting has them."""
    measured: tuple[tuple[float, int | None, float], ...] = ()
    """When the books were told that a job draws other watts than it said, its number (None: the
    machine, other than is accounted for), and these."""
    end_forgotten: tuple[str, ...] = ()
    """Of those that finished, jobs that did their work and whose end Slurm has forgotten: one that
    is killed comes back with what it had saved, and lets them run into their limit."""
    timed_out: tuple[str, ...] = ()
    """Of those that finished, jobs with more work than their limit has room for: Slurm ended them
    there, up to half a minute late."""
    joules: tuple[LifeJoules, ...] = ()
    """Each life of each job, by the emulator, by our ledger, and by Slurm."""
    faults: tuple[str, ...] = ()
    """What went wrong on purpose, and when."""
    remarks: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Jobs that still waited when the run ended, because none could start any more."""

    def to_dict(self) -> dict[str, Any]:
        lists = ("lost", "doubled", "refused", "requeued", "end_forgotten", "timed_out", "faults",
                 "remarks", "left")
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            name: list(getattr(self, name)) for name in lists} | {
            "seen": [vars(job) for job in self.seen],
            "joules": [each.to_dict() for each in self.joules],
            "power_w": {"time_s": [at for at, _ in self.power_w],
                        "power_w": [watts for _, watts in self.power_w]}}


def run_workload(
    bed: Bed, jobs: Sequence[BedJob], conditions: Conditions, *,
    journal: Path | None = None, tell: Tell = untold, never: Mapping[int, float] | None = None,
) -> BedRun:
    """Submit the jobs, let a controller decide, and look at what the emulator saw.

    `journal` is where a copy of the controller's is left; `never` what `never_starting` says.
    """
    write_cap(bed.folder / "cap", conditions.cap_w)
    if never is None:
        never = never_starting(conditions, bed, jobs)
    controller = ControllerProcess(bed, conditions.site(bed))
    submitter = Submitter(bed, list(jobs), held=conditions.mode == "decide")
    faults = None if conditions.faults is None else Faults(bed, controller, conditions.faults)
    tell(BedProgress("starting the controller, which may have to compile its policies"))
    controller.start()
    try:
        controller.until_ready()
        begin_s = time.time()
        submitter.start()
        end = UntilOver(bed, submitter, conditions, faults, begin_s, tell, never).wait()
        if faults is not None:
            faults.last()
            controller.until_ready()  # one that was killed last has to enter what it missed
        time.sleep(SETTLE_S)
        if faults is not None:
            _until_measured(bed, controller, submitter.labels)
    finally:
        controller.stop()
        with suppress(SlurmError):
            LicenceNet(Commands(bed.environment)).lift()
    tell(BedProgress("reading what came of it, and replaying the journal"))
    if journal is not None:
        journal.write_bytes(controller.journal.read_bytes())
    return _result(bed, conditions, submitter, controller, begin_s, end,
                   () if faults is None else tuple(faults.said))


def _until_measured(bed: Bed, controller: ControllerProcess, labels: Collection[str]) -> None:
    """Agents that were ended last come back, and say what they have marked and read meanwhile."""
    until_s = time.monotonic() + HEARD_S
    while time.monotonic() < until_s:
        known = joules_of(controller.folder / "ledger.db", bed.cluster, labels, ())
        if {each.job for each in known} == set(labels) and all(
                each.source == "series" and each.state != RUNNING for each in known):
            return
        time.sleep(LOOK_S)


def _result(
    bed: Bed, conditions: Conditions, submitter: Submitter, controller: ControllerProcess,
    begin_s: float, end: RunEnd, faults: tuple[str, ...],
) -> BedRun:
    labels = submitter.labels
    over = (*end.refused, *end.left)
    told, worked = _accounted(bed, labels, over, begin_s)
    log = read_log(bed.logs / "emulator.jsonl")
    curve = tuple((each["time_s"] - begin_s, each["power_w"]) for each in log if "power_w" in each
                  and each["time_s"] >= begin_s)
    journal = Story.read(controller.journal)
    done = told.jobs(labels, begin_s, journal.held_s, journal.heard_s, journal.delay_s)
    joules = joules_of(controller.folder / "ledger.db", bed.cluster, labels, log,
                       submitter.forgotten_s)
    waits = [job.start_s - job.submit_s for job in done]
    return BedRun(
        jobs=len(submitter.jobs), finished=len(done) + len(worked), end_forgotten=worked,
        timed_out=told.timed_out,
        above_cap_s_max=longest_above(curve, conditions.caps()),
        energy_error_max=worst(joules), joules=joules,
        slurm_energy_error_max=told.energy_error({
            each["job"]: each["energy_j"] for each in log if "job" in each}),
        decisions=journal.decisions, replay_equal=replays(controller.journal),
        lost=(*(label for label in told.lost if label not in (*over, *worked)),
              *(f"{UNSUBMITTED} {number}" for number in submitter.failed)),
        doubled=told.doubled, refused=tuple(sorted(end.refused)), left=end.left,
        requeued=told.requeued,
        makespan_s=max((job.end_s for job in done), default=0.0),
        wait_s_mean=sum(waits) / len(waits) if waits else math.nan, power_w=curve, seen=done,
        measured=tuple((at_s - begin_s, None if label is None else labels[label].number, watts)
                       for at_s, label, watts in journal.measured
                       if label is None or label in labels),
        faults=faults, remarks=(
            *submitter.failed.values(), *submitter.forgotten, *controller.remarks(), *end.remarks,
            *(f"job {labels[each.job].number} ({each.job} in Slurm) has not ended in the ledger: "
              "energy_error_max counts its joules so far"
              for each in joules if each.state == RUNNING)),
    )


def _accounted(
    bed: Bed, labels: Mapping[str, BedJob], never_ran: Collection[str], begin_s: float
) -> tuple[Accounted, tuple[str, ...]]:
    """What accounting says once it has heard of all, as one that was away is told later; and the
    jobs that did not complete by it and whose work is done by the emulator."""
    until_s = time.monotonic() + ACCOUNTED_S
    while True:
        told = Accounted.ask(bed, labels)
        worked = worked_jobs(read_log(bed.logs / "emulator.jsonl"), begin_s)
        forgotten = tuple(label for label in told.lost if label in worked)
        if set(told.lost) <= {*never_ran, *forgotten} or time.monotonic() >= until_s:
            return told, forgotten
        time.sleep(LOOK_S)


@dataclass(frozen=True)
class Story:
    """What a journal says of jobs."""

    decisions: int
    held_s: dict[str, float]
    """How long jobs held their nodes: from the last decision to start them to their end as told."""
    heard_s: dict[str, float]
    """When the books first heard of them."""
    delay_s: dict[str, float]
    """From that decision until the books were told that they run."""
    measured: tuple[tuple[float, str | None, float], ...] = ()
    """When the books were told that a job draws other watts than it said, or the machine (None)
    other than its jobs and free nodes, and how many."""

    @classmethod
    def read(cls, journal: Path) -> Story:
        start_s: dict[str, float] = {}
        heard_s: dict[str, float] = {}
        held_s, delay_s, measured, decisions = {}, {}, [], 0
        for entry in read_journal(journal.read_text(encoding="utf-8"), str(journal)).entries():
            for event in entry.events:
                if isinstance(event, Submitted):
                    heard_s.setdefault(str(event.job), entry.time_s)
                if isinstance(event, Ended) and str(event.job) in start_s:
                    held_s[str(event.job)] = entry.time_s - start_s[str(event.job)]
                if isinstance(event, Measured):
                    measured.append((entry.time_s, None if event.job is None else str(event.job),
                                     event.watts))
                if isinstance(event, Started) and str(event.job) in start_s:
                    delay_s[str(event.job)] = entry.time_s - start_s[str(event.job)]
            decisions += len(entry.decisions or ())
            for decision in entry.decisions or ():
                if decision.kind == "start":
                    start_s[str(decision.job)] = entry.time_s
        return cls(decisions, held_s, heard_s, delay_s, tuple(measured))


def replays(journal: Path) -> bool | None:
    """Whether a new process, told the journal's events alone, decides the same; None where nothing
    was decided."""
    done = subprocess.run([sys.executable, "-m", "wattline", "replay", str(journal), "--json"],
                          capture_output=True, text=True, check=False, timeout=600)
    try:
        equal: bool | None = json.loads(done.stdout)["equal"]
    except (ValueError, KeyError, TypeError):
        raise WattlineError(f"the journal could not be replayed: {done.stderr.strip()[-200:]}"
                            ) from None
    return equal
