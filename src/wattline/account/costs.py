"""What the joules of each job cost, at the price of the time at which they were used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from wattline.account.run_ledger import AnyLedger
from wattline.account.sacct import life
from wattline.model.signal import Signal

Costs = Mapping[tuple[int, int], float]
"""By the number of a job and of its life."""


def job_costs(
    ledger: AnyLedger, run_id: int, jobs: Iterable[Mapping[str, Any]], price: Signal
) -> Costs:
    """Exact: power and price are step functions, and their product is integrated as such.

    What nodes draw that no job holds is in nobody's cost.
    """
    listed = list(jobs)
    if len(price.value) == 1:
        per_j = float(price.value[0])
        return {life(job): float(job["energy_j"]) * per_j for job in listed}
    spent = _spent(ledger, run_id, price)
    return {life(job): spent.get(life(job), 0.0) for job in listed}


def totals_by(jobs: Iterable[Mapping[str, Any]], by: str) -> dict[str, float]:
    """Costs by user, account, ...; jobs that never ran cost nothing and are left out."""
    found: dict[str, float] = {}
    for job in jobs:
        if job["nodes"] > 0:
            found[str(job[by])] = found.get(str(job[by]), 0.0) + float(job["cost"])
    return found


def _spent(ledger: AnyLedger, run_id: int, price: Signal) -> dict[tuple[int, int], float]:
    """The costs of all jobs of a run, from their power over time."""
    job, restart, step, time_s, power_w, end_s = ledger.power_rows(run_id)
    if not len(time_s):
        return {}
    same = (np.diff(job) == 0) & (np.diff(restart) == 0) & (np.diff(step) == 0)
    until_s = np.where(np.append(same, False), np.append(time_s[1:], 0.0), end_s)
    cost = power_w * (price.accumulated(until_s) - price.accumulated(time_s))
    lives = np.flatnonzero(np.append(True, (np.diff(job) != 0) | (np.diff(restart) != 0)))
    sums = np.add.reduceat(cost, lives)
    return {(int(job[at]), int(restart[at])): float(each)
            for at, each in zip(lives, sums, strict=True)}
