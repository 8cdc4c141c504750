"""What a run's policy promised, as a run folder keeps it: in the manifest, and ranges by job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from wattline.model.promises import (
    AccountShares,
    EnergyPeriods,
    Frequencies,
    PowerShares,
    Promises,
    QueueRule,
)
from wattline.model.reservation import Reservation
from wattline.model.run import Run

RANGES = {"low_hz": "frequency_hz_min", "high_hz": "frequency_hz_max"}
"""The columns of `jobs.parquet` for what each job allows; jobs of logs have the same."""
SHARES = {"weight": "share_weight", "least_w": "share_least_w"}
"""The same for what each job may have of the power."""
ACCOUNTS = {"account": "share_account"}
"""The same for the account, of an account tree, whose energy counts for each job's place."""
USER_SHARES = {"user_share": "user_share"}
"""The same for the share of its user that counts for a job's place."""
COLUMNS = (*RANGES.values(), *SHARES.values(), *ACCOUNTS.values(), *USER_SHARES.values())
_LADDER = ("frequency_hz", "speed", "dynamic")
_SLOTS = ("slot_s", "slot_place", "slot_count")
_TREE = ("parent", "share", "used_j")


def to_plain(promises: Promises) -> dict[str, Any]:
    """Without the columns by job."""
    budget, ladder = promises.budget, promises.frequencies
    plain: dict[str, Any] = {"keeps_cap": bool(promises.keeps_cap), "windows": promises.windows,
                             "full_speed": bool(promises.full_speed)}
    if budget is not None:
        plain["budget"] = {"energy_j": float(budget.energy_j), "edge_s": budget.edge_s,
                           "carry": budget.carry, "unspent": budget.unspent,
                           **{name: getattr(budget, name) for name in _SLOTS}}
    if ladder is not None:
        plain["frequencies"] = {name: getattr(ladder, name) for name in _LADDER}
        # JSON has no infinity: no frequency at all is high enough.
        plain["frequencies"]["least_hz"] = float(min(ladder.least_hz, 1e300))
    if promises.shares is not None:
        plain["shares"] = {"as_measured": promises.shares.as_measured}
    if promises.queue is not None:
        plain["queue"] = asdict(promises.queue)
    if promises.accounts is not None:
        plain["accounts"] = {name: getattr(promises.accounts, name) for name in _TREE}
    return plain


def from_plain(plain: Mapping[str, Any], ranges: Mapping[str, Any]) -> Promises:
    budget, ladder, shares, tree = (
        plain.get(name) for name in ("budget", "frequencies", "shares", "accounts"))
    return Promises(
        keeps_cap=bool(plain.get("keeps_cap", False)),
        full_speed=bool(plain.get("full_speed", False)),
        windows=tuple((float(a), float(b)) for a, b in plain.get("windows", ())),
        budget=None if budget is None else EnergyPeriods(
            budget["energy_j"], np.array(budget["edge_s"], dtype=np.float64),
            budget.get("carry", "allow"), budget.get("unspent", "expire"),
            np.array(budget.get("slot_s", ()), dtype=np.float64),
            *(np.array(budget.get(name, ()), dtype=np.int64)
              for name in _SLOTS[1:])),
        frequencies=None if ladder is None else Frequencies(
            **{name: np.array(ladder[name], dtype=np.float64) for name in _LADDER},
            **{name: ranges[column] for name, column in RANGES.items()},
            least_hz=float(ladder["least_hz"])),
        shares=None if shares is None else PowerShares(
            **{name: ranges[column] for name, column in SHARES.items()},
            as_measured=bool(shares["as_measured"])),
        queue=None if plain.get("queue") is None else QueueRule(**plain["queue"]),
        accounts=None if tree is None else AccountShares(
            parent=np.array(tree["parent"], dtype=np.int64),
            share=np.array(tree["share"], dtype=np.float64),
            used_j=np.array(tree["used_j"], dtype=np.float64),
            account=np.asarray(ranges[ACCOUNTS["account"]], dtype=np.int64)),
        user_share=ranges.get(USER_SHARES["user_share"]),
    )


def range_columns(run: Run) -> dict[str, Any]:
    """By the name of the column; none where no policy asked for frequencies or gave shares."""
    promises = run.promises
    given = ((promises.frequencies, RANGES), (promises.shares, SHARES),
             (promises.accounts, ACCOUNTS),
             (None if promises.user_share is None else promises, USER_SHARES))
    return {column: np.asarray(getattr(promise, name), dtype=np.float64)
            for promise, names in given if promise is not None for name, column in names.items()}


def reservations_to_plain(run: Run) -> list[dict[str, Any]]:
    return [asdict(each) for each in run.reservations]


def reservations_from_plain(plain: list[Mapping[str, Any]]) -> tuple[Reservation, ...]:
    return tuple(Reservation(**each) for each in plain)
