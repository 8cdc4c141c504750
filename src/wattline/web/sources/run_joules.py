"""Joules of a run by user and account, in money and grams, and against a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.web.sources.rates import Rates
from wattline.web.sources.run_index import Moment, RunIndex
from wattline.web.sources.shape import (
    AccountRow,
    AccountTable,
    BillLine,
    BillTable,
    BudgetPeriod,
    BudgetTable,
)

COLUMNS = {"user": "user", "account": "group"}
NOBODY = "(not said)"
NO_SHARES = "shares of joules are not known of a run"
NOT_YOURS = "the fair-share of an account follows what all of it used, and you see your own jobs"
YOUR_PART = "it is your part of the machine's bill"
POINTS = 48
"""Points of the curve of a period."""


def about_names(by: str, owner: str | None, names: Sequence[str]) -> list[str]:
    """What the lines of a table by name are of, where that is not plain."""
    said = []
    if _hides_others(by, owner):
        said.append("the lines are of your own jobs: what others of an account used is not in them")
    if NOBODY in names:
        said.append(f"{NOBODY} are jobs of which nobody said the {by}")
    return said


def added_up(lines: Sequence[BillLine], rates: Rates) -> tuple[float, float | None, float | None]:
    """Joules, money and grams of lines together; None of what has no rate."""
    return (sum(line.energy_j for line in lines),
            None if rates.price is None else sum(line.amount or 0.0 for line in lines),
            None if rates.carbon is None else sum(line.carbon_g or 0.0 for line in lines))


def _hides_others(by: str, owner: str | None) -> bool:
    return owner is not None and by == "account"


def accounts(index: RunIndex, moment: Moment, by: str, owner: str | None,
             rates: Rates) -> AccountTable:
    """Joules, node seconds and jobs of each user or account so far, the greatest first."""
    used = _Used(index, moment, rates)
    upto = index.run.jobs.submit_s <= moment.time_s
    total_j = float(used.energy_j.sum())
    shares = dict(rates.fairshare)
    rows = []
    for name, mine in _by_name(index, by, owner):
        count = int(upto[mine].sum())
        if count == 0:
            continue
        joules = float(used.energy_j[mine].sum())
        rows.append(AccountRow(
            name, count, joules, rates.cost(*used.of(mine)), rates.grams(*used.of(mine)),
            float((used.held_s[mine] * index.units_of[mine]).sum()),
            None if _hides_others(by, owner) else _factor(shares.get(name), joules, total_j)))
    rows.sort(key=lambda row: -row.energy_j)
    said = ["joules are those of the jobs' nodes, idle power included; what free nodes draw is in "
            "nobody's", *about_names(by, owner, [row.name for row in rows])]
    if _hides_others(by, owner):
        return AccountTable(by, rows, said, rates.missing() | {"fairshare": NOT_YOURS})
    if shares:
        said.append("fair-share is 2 to the power of minus the used share over the granted one, "
                    "without half-life: 0.5 where both are equal")
    missing = rates.missing() | ({} if shares else {"fairshare": NO_SHARES})
    return AccountTable(by, rows, said, missing)


def bill(index: RunIndex, moment: Moment, by: str, owner: str | None, rates: Rates) -> BillTable:
    """All joules up to now: those of each user or account, and what no job drew; or an owner's."""
    used = _Used(index, moment, rates)
    lines = [line for name, mine in _by_name(index, by, owner)
             if (line := used.line(name, mine)).energy_j > 0]
    lines.sort(key=lambda line: -line.energy_j)
    said = [*rates.assumptions(), _of_running(index, moment),
            *about_names(by, owner, [line.name for line in lines])]
    if owner is not None:
        return BillTable(by, 0.0, moment.time_s - index.run.start_s, rates.currency or None, lines,
                         *added_up(lines, rates), [*said, YOUR_PART])
    edge_s, drawn_j = index.drawn
    upto = np.append(edge_s[edge_s < moment.time_s], moment.time_s)
    stretches = np.diff(np.interp(upto, edge_s, drawn_j)), upto[:-1], upto[1:]
    total_j = index.drawn_j(moment.time_s)
    amount, grams = rates.amount(*stretches), rates.grams(*stretches)
    lines.append(BillLine("idle nodes", total_j - sum(line.energy_j for line in lines),
                          _rest(amount, [line.amount for line in lines]),
                          _rest(grams, [line.carbon_g for line in lines])))
    return BillTable(by, 0.0, moment.time_s - index.run.start_s, rates.currency or None, lines,
                     total_j, amount, grams, said)


def _of_running(index: RunIndex, moment: Moment) -> str:
    """How the joules of running jobs are known."""
    unknown = int((~index.drawn_by(moment).exact).sum())
    said = "a running job's joules are those of its power up to now"
    return said if unknown == 0 else (
        f"{said}; of {unknown:,} that run only the mean power is known, which stands for it")


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
        return BudgetTable([], ["the run's power policy keeps no energy budget: simulate it with "
                                "power = { name = \"budget\", ... }"])
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


class _Used:
    """By job the joules up to a moment, and the time in which they were used."""

    def __init__(self, index: RunIndex, moment: Moment, rates: Rates) -> None:
        self.rates = rates
        self.energy_j = index.energy_at(moment, np.arange(len(index.run.jobs)))
        self.start_s = index.start_s
        self.end_s = np.minimum(index.end_s, moment.time_s)
        self.held_s = np.clip(self.end_s - index.start_s, 0.0, None)

    def of(self, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.energy_j[rows], self.start_s[rows], self.end_s[rows]

    def line(self, name: str, rows: IntArray) -> BillLine:
        return BillLine(name, float(self.energy_j[rows].sum()), self.rates.amount(*self.of(rows)),
                        self.rates.grams(*self.of(rows)))


def _by_name(index: RunIndex, by: str, owner: str | None) -> Iterator[tuple[str, IntArray]]:
    """The users or accounts of a run, each with the rows of its jobs; of an owner's alone."""
    if by not in COLUMNS:
        raise InputError(f"by is '{by[:40]}', must be user or account")
    jobs = index.run.jobs
    chosen = np.arange(len(jobs)) if owner is None else _rows_of(index, owner)
    known, place, counts = np.unique(getattr(jobs, COLUMNS[by])[chosen], return_inverse=True,
                                     return_counts=True)
    rows = np.split(chosen[np.argsort(place, kind="stable")], np.cumsum(counts)[:-1])
    for code, mine in zip(known.tolist(), rows, strict=True):
        yield jobs.name_of(COLUMNS[by], code) if code >= 0 else NOBODY, mine


def _rows_of(index: RunIndex, user: str) -> IntArray:
    """The jobs of one user."""
    jobs = index.run.jobs
    codes = [code for code in np.unique(jobs.user).tolist()
             if code >= 0 and jobs.name_of("user", code) == user]
    return np.flatnonzero(np.isin(jobs.user, codes))


def _rest(total: float | None, parts: Sequence[float | None]) -> float | None:
    return None if total is None else total - sum(part or 0.0 for part in parts)


def _factor(share: float | None, used_j: float, total_j: float) -> float | None:
    if share is None or share <= 0:
        return None
    return float(2.0 ** -((used_j / total_j if total_j > 0 else 0.0) / share))

