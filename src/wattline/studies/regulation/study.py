"""The study of regulation, part by part: settings, the runs, and their figures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.progress import silent
from wattline.model.units import parse_duration
from wattline.studies.regulation import parts
from wattline.studies.regulation.parts import PolicyOutcome
from wattline.studies.regulation.published import words
from wattline.studies.regulation.rows_kept import KeptRows
from wattline.studies.regulation.workloads import (
    default_cluster,
    each_hour,
    fourteen,
    large_cluster,
)

PARTS = ("thresholds", "default", "workloads", "large", "hours", "long")
_DRAWN = ("default", "workloads", "large", "hours")
USED_BY = {
    "signal_file": (*_DRAWN, "long"), "log_file": ("long",), "log_starts": ("long",),
    "hours_each": ("default", "workloads", "large"), "rounds": _DRAWN, "warmup": _DRAWN,
    "standby": ("workloads",), "below_idle": ("workloads",), "forecast": ("workloads",),
    "hold": ("workloads",), "seed": PARTS, "seeds": _DRAWN, "kept": _DRAWN,
    "workers": ("default", "workloads", "hours", "long"), "out": ("workloads",),
}
"""Which parts look at a setting."""


def refuse_unused(part: str, given: Mapping[str, str]) -> None:
    """Refuse settings that a part by itself would leave unused in silence.

    `given` has their names here by those that users know.
    """
    for option, name in given.items():
        if part != "all" and part not in USED_BY[name]:
            raise InputError(f"{option} has no effect on part '{part}': it is for "
                             f"{', '.join(USED_BY[name])}; leave it out")


@dataclass(frozen=True)
class PartOutcome:
    """What came of one part."""

    rows: list[PolicyOutcome]
    figures: dict[str, Any]
    """Under its name; None where it was left out. And the seconds that it took."""


@dataclass(frozen=True)
class RegulationStudy:
    """100 servers, 14 workloads, 10,000 servers, a real log."""

    signal_file: str = ""
    log_file: Path | None = None
    """Of the long-job part, which is left out without it."""
    log_starts: tuple[str, ...] = ()
    hours_each: int = 11
    rounds: int = 240
    standby: bool = False
    warmup: str = "30m"
    below_idle: bool = False
    forecast: int = 0
    hold: float = 0.0
    seed: int = 1
    seeds: int = 1
    """How many seeds are run, from `seed` on: of the parts with drawn hours."""
    workers: int | None = None
    kept: str | Path = ""
    """A file for the rows of the parts with drawn hours: a run that was ended goes on there."""

    def __post_init__(self) -> None:
        if self.hold > 0 and self.forecast < 1:
            raise InputError("--hold is a share of forecast hours: give --forecast HOURS too")
        if self.log_starts and self.log_file is None:
            raise InputError("--log-start is a place in a log: give --log FILE too")
        if self.log_file is not None and not self.log_file.is_file():  # said before minutes of work
            raise InputError(f"{self.log_file}: there is no such file")
        if parse_duration(self.warmup) < 0:
            raise InputError("warmup must not be negative")

    def run(self, part: str, progress: Callable[[float], None] = silent) -> PartOutcome:
        """Simulate one of PARTS."""
        began = time.perf_counter()
        if part == "thresholds":
            from wattline.studies.regulation.thresholds import sensitivity

            fits = [asdict(fit) for fit in sensitivity(self.seed, progress)]
            return PartOutcome([], {part: fits, f"{part}_s": time.perf_counter() - began})
        if part == "hours" and not self.signal_file:
            return PartOutcome([], {part: None})
        if part == "long":
            rows: list[PolicyOutcome] = []
            if self.log_file is None:
                return PartOutcome(rows, {part: None})
            found: Any = self._long(self.log_file, progress)
        else:
            workers = 1 if part == "large" else self._workers
            orders = [order for seed in range(self.seed, self.seed + self.seeds)
                      for order in replace(self, seed=seed)._orders(part)]
            kept = KeptRows(Path(self.kept)) if self.kept else None
            rows = parts.run_orders(orders, workers, progress, kept)
            found = [asdict(row) | {"published": words(part, row.name, row.policy),
                                    "verdict": row.verdict} for row in rows]
            told = {part: found, f"{part}_s": time.perf_counter() - began,
                    f"{part}_over_seeds": [asdict(each) for each in parts.over_seeds(rows)]}
            if part == "hours":
                told["hours_by_std"] = [asdict(each) for each in parts.by_std(rows)]
            return PartOutcome(rows, told)
        return PartOutcome(rows, {part: found, f"{part}_s": time.perf_counter() - began})

    @property
    def _workers(self) -> int:
        return self.workers or min(2, os.cpu_count() or 1)

    def _orders(self, part: str) -> Any:
        shared: dict[str, Any] = {
            "seed": self.seed, "hours_each": self.hours_each, "rounds": self.rounds,
            "signal_file": self.signal_file, "warmup_s": parse_duration(self.warmup)}
        names = [f"W{i}" for i in range(1, 15)]
        if part == "hours":
            del shared["hours_each"]
            return each_hour(**shared, names=names)
        if part == "default":
            return default_cluster(**shared)
        if part == "large":
            return [large_cluster(**shared)]
        if part != "workloads":
            raise InputError(f"there is no part '{part}'; there are: {', '.join(PARTS)}")
        return fourteen(
            **shared, names=names, standby=self.standby,
            below_idle=self.below_idle, forecast=self.forecast, hold=self.hold)

    def _long(self, log_file: Path, progress: Callable[[float], None]) -> list[dict[str, Any]]:
        from wattline.demand_response.logs import busy_days
        from wattline.studies.regulation.long_jobs import long_jobs

        starts_s = [parse_duration(text) for text in self.log_starts]
        if not starts_s:
            starts_s = [86400.0 * day for day in busy_days(log_file, 3)]
        found = long_jobs(log_file, starts_s, seed=self.seed, signal_file=self.signal_file,
                          workers=self._workers, progress=progress)
        return [asdict(r) | {"verdict": r.verdict} for r in found]
