"""What Slurm's accounting and the emulator's log say of a run, apart from anything of ours."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.workload import BedJob
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import moment_s
from wattline.model.cap_slack import CAP_SLACK


@dataclass(frozen=True)
class SeenJob:
    """A job that completed, or ran into its limit as it had to; times are seconds since the
    beginning of the run."""

    number: int
    submit_s: float
    start_s: float
    end_s: float
    held_s: float = math.nan
    """From the decision to start it until the books were told of its end: so long it held nodes."""
    heard_s: float = math.nan
    """When the books were told of it."""
    delay_s: float = math.nan
    """From the decision to start it until the books were told that it runs: its limit counts from
    there."""


@dataclass(frozen=True)
class Accounted:
    """What Slurm's accounting says of jobs, by their labels."""

    submit_s: dict[str, float]
    begun_s: dict[str, float]
    ended_s: dict[str, float]
    energy_j: dict[str, float]
    lost: tuple[str, ...]
    """Submitted, and did not complete."""
    doubled: tuple[str, ...]
    """Completed more than once."""
    requeued: tuple[str, ...]
    """Those that had more than one life, of which one at most completed."""
    timed_out: tuple[str, ...] = ()
    """Those with more work than their limit has room for, which Slurm ended there."""

    @classmethod
    def ask(cls, bed: Bed, labels: Mapping[str, BedJob]) -> Accounted:
        if not labels:
            return cls({}, {}, {}, {}, (), (), ())
        return cls.read(Commands(bed.environment, patience_s=60.0).run(
            "sacct", "-n", "-X", "-D", "-P", "-j", ",".join(labels), "-o",
            "JobID,State,Submit,Start,End,ConsumedEnergyRaw"), labels)

    @classmethod
    def read(cls, text: str, labels: Mapping[str, BedJob]) -> Accounted:
        rows: dict[str, list[list[str]]] = {}
        for line in text.splitlines():
            cells = line.split("|")
            rows.setdefault(cells[0], []).append(cells)
        too_long = {label for label, job in labels.items() if job.run_s > job.limit_s}
        whole = {label: [row for row in lives if row[1] == "COMPLETED"
                         or (row[1] == "TIMEOUT" and label in too_long)]
                 for label, lives in rows.items()}
        done = {label: lives[-1] for label, lives in whole.items() if lives}
        return cls(
            {label: moment_s(row[2]) for label, row in done.items()},
            {label: moment_s(row[3]) for label, row in done.items()},
            {label: moment_s(row[4]) for label, row in done.items()},
            {label: float(row[5]) for label, row in done.items() if row[5].isdecimal()},
            tuple(label for label in labels if label not in done),
            tuple(label for label, lives in whole.items() if len(lives) > 1),
            tuple(label for label, lives in rows.items() if len(lives) > 1),
            tuple(label for label, row in done.items() if row[1] == "TIMEOUT"),
        )

    def jobs(
        self, labels: Mapping[str, BedJob], begin_s: float, held: Mapping[str, float],
        heard: Mapping[str, float], delay: Mapping[str, float],
    ) -> tuple[SeenJob, ...]:
        """Those that completed or ran into their limit, in the order of their numbers."""
        found = [SeenJob(job.number, self.submit_s[label] - begin_s, self.begun_s[label] - begin_s,
                         self.ended_s[label] - begin_s, held.get(label, math.nan),
                         heard.get(label, math.nan) - begin_s, delay.get(label, math.nan))
                 for label, job in labels.items() if label in self.begun_s]
        return tuple(sorted(found, key=lambda job: job.number))

    def energy_error(self, truth_j: Mapping[str, float]) -> float:
        """The largest difference relative to the truth; NaN where nothing was counted.

        Jobs of one life only: Slurm's counters of the others are of their last.
        """
        errors = [abs(self.energy_j[label] / truth_j[f"{label}.0"] - 1.0)
                  for label in self.energy_j
                  if label not in self.requeued and truth_j.get(f"{label}.0", 0.0) > 0.0]
        return max(errors, default=math.nan)


def read_log(file: Path) -> list[dict[str, Any]]:
    """The emulator's log; a last line that is being written is left out."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def worked_jobs(log: Sequence[Mapping[str, Any]], begin_s: float) -> set[str]:
    """Jobs of a run of which a life did all its work, by the emulator."""
    return {each["job"].partition(".")[0] for each in log
            if each.get("done") and each["start_s"] >= begin_s}


Curve = Sequence[tuple[float, float]]
"""Times and watts, each of which holds until the next."""


def longest_above(curve: Curve, caps: float | Curve) -> float:
    """The longest time without a break for which the power was above the cap of that time."""
    steps = [(-math.inf, caps)] if isinstance(caps, (int, float)) else list(caps)
    changes = sorted({at_s for at_s, _ in (*curve, *steps) if at_s > -math.inf})
    longest_s, since_s = 0.0, math.nan
    end_s = curve[-1][0] if curve else -math.inf
    for at_s in (each for each in changes if each <= end_s):
        if _at(curve, at_s, 0.0) > _at(steps, at_s, math.inf) * (1 + CAP_SLACK):
            since_s = at_s if math.isnan(since_s) else since_s
        elif not math.isnan(since_s):
            longest_s, since_s = max(longest_s, at_s - since_s), math.nan
    return longest_s if math.isnan(since_s) else max(longest_s, end_s - since_s)


def _at(steps: Curve, at_s: float, before: float) -> float:
    place = bisect_right(steps, at_s, key=lambda step: step[0])
    return steps[place - 1][1] if place else before
