"""What users of a measured ledger drew, and when: for fair-share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wattline.account.fairshare import usage_at
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.questions import Conditions, life_rows
from wattline.account.store import Store, refuse_missing
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

Rows = Sequence[dict[str, Any]]


def with_joules(rows: Rows) -> tuple[Rows, dict[str, FloatArray]]:
    """The lives of which the joules are known, and their times and joules."""
    known = [row for row in rows if row["energy_j"] is not None]
    if not known:
        raise InputError("the ledger knows the joules of no measured job, so nobody used anything")
    start_s = np.array([float(row["start_s"]) for row in known])
    until_s = np.array([_until_s(row) for row in known])
    # A job that ended in the second in which it began has its joules in that second.
    return known, {"start_s": start_s, "end_s": np.maximum(until_s, start_s + 1),
                   "energy_j": np.array([float(row["energy_j"]) for row in known])}


def used_by_user(store: str | Path, half_life_s: float) -> dict[str, float]:
    """Joules of each user, of all clusters together, faded up to the end of the last job."""
    refuse_missing(store)
    with Store(store) as opened:
        MeasuredLedger(opened)
        known, columns = with_joules(life_rows(opened, Conditions()))
    return usage_at(float(columns["end_s"].max()), [row["user"] for row in known], **columns,
                    half_life_s=half_life_s)


def _until_s(row: dict[str, Any]) -> float:
    return float(next(row[name] for name in ("end_s", "seen_s", "start_s")
                      if row[name] is not None))
