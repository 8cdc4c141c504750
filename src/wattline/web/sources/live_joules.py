"""Joules of the live machine: by user and account from the ledger, the budget from the books."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from wattline.model.errors import InputError
from wattline.web.sources.live_ledger import LedgerPages
from wattline.web.sources.run_joules import NOBODY, Rates
from wattline.web.sources.shape import (
    AccountRow,
    AccountTable,
    BillLine,
    BillTable,
    BudgetPeriod,
    BudgetTable,
)

NO_LEDGER = ("no joules are measured here: the site has no agents, or its ledger has not been "
             "written yet")


def accounts(ledger: LedgerPages, by: str, owner: str | None, rates: Rates) -> AccountTable:
    """All that the ledger has, the greatest first."""
    if by not in ("user", "account"):
        raise InputError(f"by is '{by[:40]}', must be user or account")
    rows = [AccountRow(total.name or NOBODY, total.jobs, total.energy_j,
                       rates.cost(total.energy_j), rates.carbon(total.energy_j), total.node_s, None)
            for total in ledger.totals(by) if owner is None or total.name == owner]
    said = ["joules are measured, and those of jobs alone"] if ledger.there else [NO_LEDGER]
    return AccountTable(by, rows, said)


def bill(ledger: LedgerPages, by: str, rates: Rates, epoch_s: float, now_s: float) -> BillTable:
    """This month, in UTC; what no job drew is not in it."""
    if by not in ("user", "account"):
        raise InputError(f"by is '{by[:40]}', must be user or account")
    month = datetime.fromtimestamp(now_s, UTC).replace(day=1, hour=0, minute=0, second=0,
                                                       microsecond=0)
    found = ledger.totals(by, month.timestamp())
    total_j = sum(each.energy_j for each in found)
    lines = [BillLine(each.name or NOBODY, each.energy_j, _amount(rates, each.energy_j),
                      rates.carbon(each.energy_j)) for each in found]
    said = [*rates.assumptions(), "the month so far, in UTC, of jobs: `wattline account bill` "
            "closes it to the meters"] if ledger.there else [NO_LEDGER]
    return BillTable(by, month.timestamp() - epoch_s, now_s - epoch_s, rates.currency or None,
                     lines, total_j, _amount(rates, total_j), rates.carbon(total_j), said)


def budget(said: Mapping[str, Any] | None, epoch_s: float, now_s: float) -> BudgetTable:
    """The period that holds now, where the power policy keeps an energy budget."""
    if said is None:
        return BudgetTable([], ["the controller keeps no energy budget"])
    used_j = float(said["budget_j"]) - float(said["left_j"])
    start_s, end_s = float(said["start_s"]) - epoch_s, float(said["end_s"]) - epoch_s
    return BudgetTable(
        [BudgetPeriod(start_s, end_s, float(said["budget_j"]), used_j,
                      [start_s, min(now_s - epoch_s, end_s)], [0.0, used_j])],
        ["used are the joules of the books, promises to running jobs included; their course "
         "within the period is drawn as a line"])


def _amount(rates: Rates, energy_j: float) -> float | None:
    found = rates.cost(energy_j)
    return None if found is None else found.amount
