"""Money of a period that begins within an hour of the table of prices."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import wattline as wl

BEGIN_S = 1791194400  # 2026-10-05T10:00 UTC


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A job of four hours on a node whose meter shows 1 kW and 3 kW, half an hour each."""
    (tmp_path / "dump.txt").write_text(
        "JobID|User|Account|State|Start|End|NNodes|NodeList\n"
        "7|ann|phys|COMPLETED|2026-10-05T10:00:00|2026-10-05T14:00:00|1|n1\n")
    samples = [f"{BEGIN_S + 60 * minute},n1,{1000 if minute % 60 < 30 else 3000}"
               for minute in range(240)]
    (tmp_path / "power.csv").write_text("\n".join(["time,node,watts", *samples, ""]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("dump.txt", "power.csv"):
            wl.account_import(tmp_path / name, store=tmp_path / "site.db", zone="UTC")
    return tmp_path / "site.db"


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize(("period", "money"), [
    ("2026-10-05T10:00..2026-10-05T14:00", 2 * (0.1 + 0.2 + 0.3 + 0.4)),
    ("2026-10-05T10:30..2026-10-05T12:00", 1.5 * 0.1 + 2 * 0.2),
    ("2026-10-05T10:30..2026-10-05T13:15", 1.5 * 0.1 + 2 * (0.2 + 0.3) + 0.25 * 0.4),
])
def test_money_is_that_of_the_joules_at_the_price_of_their_hour(
    store: Path, tmp_path: Path, period: str, money: float
) -> None:
    prices = tmp_path / "prices.csv"
    rows = [f"2026-10-05 {hour}:00,{0.1 * (hour - 9):.1f}" for hour in range(10, 16)]
    prices.write_text("\n".join(["Datetime (UTC),Price (EUR/kWh)", *rows, ""]))
    bill = wl.account_bill(store, period, price=str(prices), zone="UTC")
    assert bill.money == pytest.approx(money)
