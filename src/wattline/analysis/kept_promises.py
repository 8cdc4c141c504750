"""What a run's policy promised, as a run folder keeps it: in the manifest, and ranges by job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from wattline.model.promises import EnergyPeriods, Frequencies, Promises
from wattline.model.reservation import Reservation
from wattline.model.run import Run

RANGES = {"low_hz": "frequency_hz_min", "high_hz": "frequency_hz_max"}
"""The columns of `jobs.parquet` for what each job allows; jobs of logs have the same."""
_LADDER = ("frequency_hz", "speed", "dynamic")


def to_plain(promises: Promises) -> dict[str, Any]:
    """Without the columns by job."""
    budget, ladder = promises.budget, promises.frequencies
    plain: dict[str, Any] = {"keeps_cap": bool(promises.keeps_cap), "windows": promises.windows}
    if budget is not None:
        plain["budget"] = {"energy_j": float(budget.energy_j), "edge_s": budget.edge_s,
                           "carry": budget.carry, "unspent": budget.unspent}
    if ladder is not None:
        plain["frequencies"] = {name: getattr(ladder, name) for name in _LADDER}
        # JSON has no infinity: no frequency at all is high enough.
        plain["frequencies"]["least_hz"] = float(min(ladder.least_hz, 1e300))
    return plain


def from_plain(plain: Mapping[str, Any], ranges: Mapping[str, Any]) -> Promises:
    budget, ladder = plain.get("budget"), plain.get("frequencies")
    return Promises(
        keeps_cap=bool(plain.get("keeps_cap", False)),
        windows=tuple((float(a), float(b)) for a, b in plain.get("windows", ())),
        budget=None if budget is None else EnergyPeriods(
            budget["energy_j"], np.array(budget["edge_s"], dtype=np.float64),
            budget.get("carry", "allow"), budget.get("unspent", "expire")),
        frequencies=None if ladder is None else Frequencies(
            **{name: np.array(ladder[name], dtype=np.float64) for name in _LADDER},
            **{name: ranges[column] for name, column in RANGES.items()},
            least_hz=float(ladder["least_hz"])),
    )


def range_columns(run: Run) -> dict[str, Any]:
    """By the name of the column; none where no policy asked for frequencies."""
    ladder = run.promises.frequencies
    return {} if ladder is None else {
        column: getattr(ladder, name) for name, column in RANGES.items()}


def reservations_to_plain(run: Run) -> list[dict[str, Any]]:
    return [asdict(each) for each in run.reservations]


def reservations_from_plain(plain: list[Mapping[str, Any]]) -> tuple[Reservation, ...]:
    return tuple(Reservation(**each) for each in plain)
