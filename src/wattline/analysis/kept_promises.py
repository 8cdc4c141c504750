"""What a run's policy promised, as a run folder keeps it: in the manifest, and ranges by job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from wattline.model.promises import EnergyPeriods, Frequencies, PowerShares, Promises, QueueRule
from wattline.model.reservation import Reservation
from wattline.model.run import Run

RANGES = {"low_hz": "frequency_hz_min", "high_hz": "frequency_hz_max"}
"""The columns of `jobs.parquet` for what each job allows; jobs of logs have the same."""
SHARES = {"weight": "share_weight", "least_w": "share_least_w"}
"""The same for what each job may have of the power."""
COLUMNS = (*RANGES.values(), *SHARES.values())
_LADDER = ("frequency_hz", "speed", "dynamic")


def to_plain(promises: Promises) -> dict[str, Any]:
    """Without the columns by job."""
    budget, ladder = promises.budget, promises.frequencies
    plain: dict[str, Any] = {"keeps_cap": bool(promises.keeps_cap), "windows": promises.windows,
                             "full_speed": bool(promises.full_speed)}
    if budget is not None:
        plain["budget"] = {"energy_j": float(budget.energy_j), "edge_s": budget.edge_s,
                           "carry": budget.carry, "unspent": budget.unspent}
    if ladder is not None:
        plain["frequencies"] = {name: getattr(ladder, name) for name in _LADDER}
        # JSON has no infinity: no frequency at all is high enough.
        plain["frequencies"]["least_hz"] = float(min(ladder.least_hz, 1e300))
    if promises.shares is not None:
        plain["shares"] = {"as_measured": promises.shares.as_measured}
    if promises.queue is not None:
        plain["queue"] = asdict(promises.queue)
    return plain


def from_plain(plain: Mapping[str, Any], ranges: Mapping[str, Any]) -> Promises:
    budget, ladder, shares = (plain.get(name) for name in ("budget", "frequencies", "shares"))
    return Promises(
        keeps_cap=bool(plain.get("keeps_cap", False)),
        full_speed=bool(plain.get("full_speed", False)),
        windows=tuple((float(a), float(b)) for a, b in plain.get("windows", ())),
        budget=None if budget is None else EnergyPeriods(
            budget["energy_j"], np.array(budget["edge_s"], dtype=np.float64),
            budget.get("carry", "allow"), budget.get("unspent", "expire")),
        frequencies=None if ladder is None else Frequencies(
            **{name: np.array(ladder[name], dtype=np.float64) for name in _LADDER},
            **{name: ranges[column] for name, column in RANGES.items()},
            least_hz=float(ladder["least_hz"])),
        shares=None if shares is None else PowerShares(
            **{name: ranges[column] for name, column in SHARES.items()},
            as_measured=bool(shares["as_measured"])),
        queue=None if plain.get("queue") is None else QueueRule(**plain["queue"]),
    )


def range_columns(run: Run) -> dict[str, Any]:
    """By the name of the column; none where no policy asked for frequencies or gave shares."""
    given = ((run.promises.frequencies, RANGES), (run.promises.shares, SHARES))
    return {column: getattr(promise, name) for promise, names in given if promise is not None
            for name, column in names.items()}


def reservations_to_plain(run: Run) -> list[dict[str, Any]]:
    return [asdict(each) for each in run.reservations]


def reservations_from_plain(plain: list[Mapping[str, Any]]) -> tuple[Reservation, ...]:
    return tuple(Reservation(**each) for each in plain)
