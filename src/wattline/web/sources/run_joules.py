"""Joules of a run by user and account, in money and grams, and against a budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.web.sources.run_index import Moment, RunIndex
from wattline.web.sources.shape import (
    AccountRow,
    AccountTable,
    BillLine,
    BillTable,
    BudgetPeriod,
    BudgetTable,
    Cost,
)

COLUMNS = {"user": "user", "account": "group"}
NOBODY = "(not said)"
POINTS = 48
"""Points of the curve of a period."""


@dataclass(frozen=True)
class Rates:
    """What a joule costs, in money and in grams, and the joules of each period, where known."""

    price_per_j: float | None = None
    currency: str = ""
    carbon_g_per_j: float | None = None
    budget_j: float | None = None
    budget_period_s: float = 86400.0
    fairshare: tuple[tuple[str, float], ...] = ()
    """Accounts and users with their share of the joules."""
    invented: bool = False

    def cost(self, energy_j: float) -> Cost | None:
        if self.price_per_j is None:
            return None
        return Cost(energy_j * self.price_per_j, self.currency)

    def carbon(self, energy_j: float) -> float | None:
        return None if self.carbon_g_per_j is None else energy_j * self.carbon_g_per_j

    def assumptions(self) -> list[str]:
        said = []
        if self.price_per_j is not None:
            said.append(f"each kWh costs {self.price_per_j * 3.6e6:g} {self.currency}".rstrip())
        if self.carbon_g_per_j is not None:
            said.append(f"each kWh stands for {self.carbon_g_per_j * 3.6e6:g} g of CO2")
        if self.invented and said:
            said.append("price, carbon, budget and shares are invented for the demo")
        return said


def accounts(index: RunIndex, moment: Moment, by: str, owner: str | None,
             rates: Rates) -> AccountTable:
    """Joules, node seconds and jobs of each user or account so far, the greatest first."""
    names, jobs, energy_j, node_s = _sums(index, moment, by)
    total_j = float(energy_j.sum())
    shares = dict(rates.fairshare)
    rows = []
    for at in np.argsort(-energy_j, kind="stable").tolist():
        if jobs[at] == 0 or (owner is not None and (by != "user" or names[at] != owner)):
            continue
        joules = float(energy_j[at])
        rows.append(AccountRow(
            names[at], int(jobs[at]), joules, rates.cost(joules), rates.carbon(joules),
            float(node_s[at]), _factor(shares.get(names[at]), joules, total_j)))
    said = ["joules are those of the jobs' nodes, idle power included; what free nodes draw is in "
            "nobody's"]
    if shares:
        said.append("fair-share is 2 to the power of minus the used share over the granted one, "
                    "without half-life: 0.5 where both are equal")
    return AccountTable(by, rows, said)


def bill(index: RunIndex, moment: Moment, by: str, rates: Rates) -> BillTable:
    """All joules up to now: those of each user or account, and what no job drew."""
    names, _, energy_j, _ = _sums(index, moment, by)
    total_j = index.drawn_j(moment.time_s)
    lines = [(names[at], float(energy_j[at])) for at in np.argsort(-energy_j, kind="stable")
             if energy_j[at] > 0]
    lines.append(("idle nodes", total_j - float(energy_j.sum())))
    found = [BillLine(name, joules, _amount(rates, joules), rates.carbon(joules))
             for name, joules in lines]
    said = [*rates.assumptions(), "a running job's joules are by its mean power so far"]
    return BillTable(by, 0.0, moment.time_s - index.run.start_s, rates.currency or None, found,
                     total_j, _amount(rates, total_j), rates.carbon(total_j), said)


def budget(index: RunIndex, now_s: float, rates: Rates) -> BudgetTable:
    """Joules of each period up to now, against what it was given."""
    run = index.run
    kept = run.promises.budget
    if kept is not None:
        first_s, length_s = float(kept.edge_s[0]), float(kept.edge_s[1] - kept.edge_s[0])
        given_j = float(kept.energy_j)
        said = ["the budget is that of the run's power policy"]
    elif rates.budget_j is not None:
        first_s, length_s, given_j = run.start_s, rates.budget_period_s, rates.budget_j
        said = ["nothing keeps this budget: it is only counted"]
    else:
        return BudgetTable([], ["there is no energy budget"])
    periods: list[BudgetPeriod] = []
    start_s = first_s
    while start_s <= now_s and len(periods) < 1000:
        end_s = start_s + length_s
        times = np.linspace(start_s, min(end_s, now_s), POINTS)
        used_j = np.interp(times, *index.drawn) - index.drawn_j(start_s)
        periods.append(BudgetPeriod(start_s - run.start_s, end_s - run.start_s, given_j,
                                    float(used_j[-1]), (times - run.start_s).tolist(),
                                    used_j.tolist()))
        start_s = end_s
    return BudgetTable(periods, said)


def _sums(index: RunIndex, moment: Moment,
          by: str) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    if by not in COLUMNS:
        raise InputError(f"by is '{by[:40]}', must be user or account")
    run = index.run
    codes = getattr(run.jobs, COLUMNS[by])
    known, place = np.unique(codes, return_inverse=True)
    upto = run.jobs.submit_s <= moment.time_s
    energy_j = index.energy_at(moment, np.arange(len(run.jobs)))
    held_s = np.clip(np.minimum(index.end_s, moment.time_s) - index.start_s, 0.0, None)
    names = [run.jobs.name_of(COLUMNS[by], int(code)) if code >= 0 else NOBODY for code in known]
    count = len(known)
    return (names, np.bincount(place[upto], minlength=count),
            np.bincount(place, weights=energy_j, minlength=count),
            np.bincount(place, weights=held_s * index.units_of, minlength=count))


def _factor(share: float | None, used_j: float, total_j: float) -> float | None:
    if share is None or share <= 0:
        return None
    return float(2.0 ** -((used_j / total_j if total_j > 0 else 0.0) / share))


def _amount(rates: Rates, energy_j: float) -> float | None:
    found = rates.cost(energy_j)
    return None if found is None else found.amount
