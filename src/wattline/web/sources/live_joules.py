"""Joules of the live machine: by user and account from the ledger, the budget from the books."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from wattline.account.measured.questions import Conditions, Total
from wattline.model.errors import InputError
from wattline.web.sources.live_ledger import LedgerPages, Stretches
from wattline.web.sources.rates import Rates
from wattline.web.sources.run_joules import (
    NOBODY,
    NOT_YOURS,
    YOUR_PART,
    about_names,
    added_up,
)
from wattline.web.sources.shape import (
    AccountRow,
    AccountTable,
    BillLine,
    BillTable,
    BudgetPeriod,
    BudgetTable,
    Cost,
)

NO_LEDGER = ("no joules are measured here: the site's file has no [broker] over which agents of "
             "nodes report, or the controller has not written its ledger yet")
NO_SHARES = ("the queue is not ordered by shares of joules: write order = { name = "
             "\"energy-share\", shares = \"shares.toml\" } under [policy] in the site's file")


def accounts(ledger: LedgerPages, by: str, owner: str | None, rates: Rates,
             factors: Mapping[str, float] | None = None) -> AccountTable:
    """All that the ledger has, the greatest first; `factors` are those of fair-share."""
    if by not in ("user", "account"):
        raise InputError(f"by is '{by[:40]}', must be user or account")
    asked = Conditions(users=() if owner is None else (owner,))
    spent = _Spent(ledger, by, rates, asked)
    hidden = owner is not None and by == "account"
    rows = [AccountRow(total.name or NOBODY, total.jobs, total.energy_j, spent.cost(total),
                       spent.grams(total), total.node_s,
                       None if hidden else (factors or {}).get(total.name))
            for total in ledger.totals(by, asked)]
    said = ["joules are measured, and those of jobs alone"] if ledger.there else []
    said += about_names(by, owner, [row.name for row in rows])
    if hidden:
        return AccountTable(by, rows, said, _missing(ledger, rates, {}) | {"fairshare": NOT_YOURS})
    if factors is not None:
        said.append("fair-share is that by which the controller orders the queue: by the joules of "
                    "its books, which fade with a half-life")
    return AccountTable(by, rows, said, _missing(ledger, rates, factors))


def _missing(ledger: LedgerPages, rates: Rates,
             factors: Mapping[str, float] | None) -> dict[str, str]:
    found = rates.missing()
    if not ledger.there:
        found["energy_j"] = NO_LEDGER
    if factors is None:
        found["fairshare"] = NO_SHARES
    return found


def bill(ledger: LedgerPages, by: str, owner: str | None, rates: Rates, epoch_s: float,
         now_s: float) -> BillTable:
    """This month, in UTC; what no job drew is not in it."""
    if by not in ("user", "account"):
        raise InputError(f"by is '{by[:40]}', must be user or account")
    month = datetime.fromtimestamp(now_s, UTC).replace(day=1, hour=0, minute=0, second=0,
                                                       microsecond=0)
    asked = Conditions(users=() if owner is None else (owner,), start_s=month.timestamp())
    found = ledger.totals(by, asked)
    spent = _Spent(ledger, by, rates, asked)
    lines = [BillLine(each.name or NOBODY, each.energy_j, spent.amount(each), spent.grams(each))
             for each in found]
    said = [*rates.assumptions(), "the month so far, in UTC, of jobs: `wattline account bill` "
            "closes it to the meters", *about_names(by, owner, [line.name for line in lines]),
            *([] if owner is None else [YOUR_PART])] if ledger.there else [NO_LEDGER]
    return BillTable(by, month.timestamp() - epoch_s, now_s - epoch_s, rates.currency or None,
                     lines, *added_up(lines, rates), said)


def budget(said: Mapping[str, Any] | None, epoch_s: float) -> BudgetTable:
    """The period that holds now, where the power policy keeps an energy budget."""
    if said is None:
        return BudgetTable([], ["the controller keeps no energy budget: write power = { name = "
                                "\"budget\", ... } under [policy] in the site's file"])
    used_j = float(said["budget_j"]) - float(said["left_j"])
    start_s, end_s, at_s = (float(said[name]) - epoch_s for name in ("start_s", "end_s", "at_s"))
    return BudgetTable(
        [BudgetPeriod(start_s, end_s, float(said["budget_j"]), used_j,
                      [start_s, at_s], [0.0, used_j])],
        ["used are the joules of the books when the controller wrote last, promises to idle nodes "
         "and running jobs included; their course within the period is drawn as a line"])


class _Spent:
    """What joules of the ledger cost; where that depends on when, hour by hour."""

    def __init__(self, ledger: LedgerPages, by: str, rates: Rates,
                 asked: Conditions) -> None:
        self.rates = rates
        self.used = {} if rates.flat else ledger.spread(by, asked, even_in_hours=rates.hourly)

    def amount(self, total: Total) -> float | None:
        return self.rates.amount(*self._of(total))

    def cost(self, total: Total) -> Cost | None:
        return self.rates.cost(*self._of(total))

    def grams(self, total: Total) -> float | None:
        return self.rates.grams(*self._of(total))

    def _of(self, total: Total) -> Stretches:
        return (total.energy_j, 0.0, 0.0) if self.rates.flat else self.used.get(
            total.name, (0.0, 0.0, 0.0))
