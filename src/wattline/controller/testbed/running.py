"""A workload on a bed under the controller, and what came of it by the emulator's own log."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.books import Ended, read_journal
from wattline.controller.controller import Controller
from wattline.controller.serving import synced
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.workload import BedJob, Submitter
from wattline.controller.watching import Watcher, watts_of_licences
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import moment_s
from wattline.model.errors import WattlineError

CYCLE_S = 0.25
GRACE_S = 120.0
"""So long after its last possible end a run is given up."""
SETTLE_S = 3.0
"""Accounting is a little late."""


@dataclass(frozen=True)
class SeenJob:
    """A job that completed; times are seconds since the beginning of the run."""

    number: int
    submit_s: float
    start_s: float
    end_s: float
    held_s: float = math.nan
    """From the decision to start it until the books were told of its end: so long it held nodes."""


@dataclass(frozen=True)
class BedRun:
    """What became of a workload."""

    jobs: int
    finished: int
    above_cap_s_max: float
    """The longest stretch of emulated power above the cap."""
    energy_error_max: float
    """The worst job's joules as Slurm counts them against what the emulator let it draw."""
    decisions: int
    replay_equal: bool | None
    """Whether the journal, in another process, gives every decision again."""
    lost: tuple[str, ...]
    """Jobs that were submitted and did not complete, by accounting."""
    doubled: tuple[str, ...]
    """Jobs that ran more than once, by accounting."""
    makespan_s: float
    wait_s_mean: float
    cycle_s_max: float
    power_w: tuple[tuple[float, float], ...]
    """Times since the beginning, and watts."""
    seen: tuple[SeenJob, ...] = ()
    """The jobs that completed, as Slurm's accounting has them."""
    faults: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "lost": list(self.lost), "doubled": list(self.doubled), "faults": list(self.faults),
            "remarks": list(self.remarks), "seen": [vars(job) for job in self.seen],
            "power_w": {"time_s": [at for at, _ in self.power_w],
                        "power_w": [watts for _, watts in self.power_w]}}


def run_workload(
    bed: Bed, jobs: Sequence[BedJob], open_books: Callable[[float, Callable[[str], None]], Any], *,
    cap_w: float, say: Callable[[float], None] = lambda _: None,
) -> BedRun:
    """Submit the jobs, let the controller decide, and look at what the emulator saw.

    `open_books` makes the books from the time of their beginning and what writes their journal.
    """
    journal = bed.folder / "journal"
    slurm = Slurm(Commands(bed.environment))
    submitter = Submitter(bed, list(jobs))
    with journal.open("w", encoding="utf-8") as file:
        begin_s = time.time()
        books = open_books(begin_s, lambda line: synced(file, line))
        controller = Controller(books, slurm, Watcher(bed.names, watts=watts_of_licences()),
                                act=True)
        submitter.start()
        seen = _cycles(controller, submitter, begin_s, say)
        books.journal.end()
    time.sleep(SETTLE_S)
    told = Accounted.ask(bed, submitter.labels)
    log = [json.loads(line)
           for line in (bed.logs / "emulator.jsonl").read_text(encoding="utf-8").splitlines()]
    curve = tuple((each["time_s"] - begin_s, each["power_w"]) for each in log if "power_w" in each
                  and each["time_s"] >= begin_s)
    done = told.jobs(submitter.labels, begin_s, held_s(journal))
    waits = [job.start_s - job.submit_s for job in done]
    return BedRun(
        jobs=len(jobs), finished=len(submitter.labels) - len(told.lost),
        above_cap_s_max=longest_above(curve, cap_w),
        energy_error_max=told.energy_error({each["job"]: each["energy_j"] for each in log
                                            if "job" in each}),
        decisions=seen.decisions, replay_equal=replays(journal), lost=told.lost,
        doubled=told.doubled,
        makespan_s=max((end_s for end_s in told.ended_s.values()), default=begin_s) - begin_s,
        wait_s_mean=sum(waits) / len(waits) if waits else math.nan, cycle_s_max=seen.longest_s,
        power_w=curve, seen=done,
        remarks=(*submitter.failed, *seen.remarks),
    )


@dataclass
class _Cycles:
    decisions: int = 0
    longest_s: float = 0.0
    remarks: list[str] = field(default_factory=list)


def _cycles(
    controller: Controller, submitter: Submitter, begin_s: float, say: Callable[[float], None]
) -> _Cycles:
    """Cycle until all jobs were submitted and are over, or nothing can come any more."""
    seen = _Cycles()
    all_s = sum(job.limit_s for job in submitter.jobs) + max(
        (job.submit_s for job in submitter.jobs), default=0.0) + GRACE_S
    ended, refused = 0, set[str]()
    while time.time() < begin_s + all_s:
        start_s = time.monotonic()
        before = len(controller.watcher.told)
        cycle = controller.cycle()
        seen.decisions += len(cycle.decisions)
        seen.remarks += cycle.remarks
        ended += max(before - len(controller.watcher.told), 0)
        say(min(ended / max(len(submitter.jobs), 1), 1.0))
        took_s = time.monotonic() - start_s
        seen.longest_s = max(seen.longest_s, took_s)
        refused |= {str(each.job) for each in cycle.decisions if each.kind == "refuse"}
        if cycle.looked and submitter.done and refused >= set(controller.watcher.told):
            return seen
        time.sleep(max(CYCLE_S - took_s, 0.0))
    seen.remarks.append("the run was given up: jobs were left when none could be any more")
    return seen


@dataclass(frozen=True)
class Accounted:
    """What Slurm's accounting says of jobs, by their labels."""

    submit_s: dict[str, float]
    begun_s: dict[str, float]
    ended_s: dict[str, float]
    energy_j: dict[str, float]
    lost: tuple[str, ...]
    doubled: tuple[str, ...]

    @classmethod
    def ask(cls, bed: Bed, labels: Mapping[str, BedJob]) -> Accounted:
        if not labels:
            return cls({}, {}, {}, {}, (), ())
        text = Commands(bed.environment, patience_s=60.0).run(
            "sacct", "-n", "-X", "-D", "-P", "-j", ",".join(labels), "-o",
            "JobID,State,Submit,Start,End,ConsumedEnergyRaw")
        rows: dict[str, list[list[str]]] = {}
        for line in text.splitlines():
            cells = line.split("|")
            rows.setdefault(cells[0], []).append(cells)
        done = {label: row for label, lives in rows.items() for row in lives
                if row[1] == "COMPLETED"}
        return cls(
            {label: moment_s(row[2]) for label, row in done.items()},
            {label: moment_s(row[3]) for label, row in done.items()},
            {label: moment_s(row[4]) for label, row in done.items()},
            {label: float(row[5]) for label, row in done.items() if row[5].isdecimal()},
            tuple(label for label in labels if label not in done),
            tuple(label for label, lives in rows.items() if len(lives) > 1),
        )

    def jobs(
        self, labels: Mapping[str, BedJob], begin_s: float, held: Mapping[str, float]
    ) -> tuple[SeenJob, ...]:
        """Those that completed, in the order of their numbers."""
        found = [SeenJob(job.number, self.submit_s[label] - begin_s, self.begun_s[label] - begin_s,
                         self.ended_s[label] - begin_s, held.get(label, math.nan))
                 for label, job in labels.items() if label in self.begun_s]
        return tuple(sorted(found, key=lambda job: job.number))

    def energy_error(self, truth_j: Mapping[str, float]) -> float:
        """The largest difference relative to the truth; NaN where nothing was counted."""
        errors = [abs(self.energy_j[label] / truth_j[f"{label}.0"] - 1.0)
                  for label in self.energy_j if truth_j.get(f"{label}.0", 0.0) > 0.0]
        return max(errors, default=math.nan)


def longest_above(curve: Sequence[tuple[float, float]], cap_w: float) -> float:
    """The longest time without a break for which the power was above the cap."""
    longest_s, since_s = 0.0, math.nan
    for at_s, watts in curve:
        if watts > cap_w * (1 + 1e-9):
            since_s = at_s if math.isnan(since_s) else since_s
        elif not math.isnan(since_s):
            longest_s, since_s = max(longest_s, at_s - since_s), math.nan
    if not math.isnan(since_s):
        longest_s = max(longest_s, curve[-1][0] - since_s)
    return longest_s


def held_s(journal: Path) -> dict[str, float]:
    """How long jobs held their nodes: from the last decision to start them to their end as told."""
    start_s: dict[str, float] = {}
    found = {}
    for entry in read_journal(journal.read_text(encoding="utf-8"), str(journal)).entries():
        for event in entry.events:
            if isinstance(event, Ended) and str(event.job) in start_s:
                found[str(event.job)] = entry.time_s - start_s[str(event.job)]
        for decision in entry.decisions or ():
            if decision.kind == "start":
                start_s[str(decision.job)] = entry.time_s
    return found


def replays(journal: Path) -> bool | None:
    """Whether a new process, told the journal's events alone, decides the same."""
    done = subprocess.run([sys.executable, "-m", "wattline", "replay", str(journal), "--json"],
                          capture_output=True, text=True, check=False, timeout=600)
    try:
        return bool(json.loads(done.stdout)["equal"])
    except (ValueError, KeyError, TypeError):
        raise WattlineError(f"the journal could not be replayed: {done.stderr.strip()[-200:]}"
                            ) from None

