"""Prices by local dates cost the same jobs the same, in a bill of meters and in a simulated run."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.scenario.policies import Readers

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
DUMP = """JobID|User|Account|Submit|Start|End|ElapsedRaw|NNodes|ReqNodes|NodeList|Timelimit|State|\
ConsumedEnergyRaw
1|ada|lab|2026-07-01T12:00:00|2026-07-01T12:00:00|2026-07-01T13:00:00|3600|1|1|n1|2:00:00|\
COMPLETED|3600000
"""
ZONE = "Europe/Berlin"


def _prices(folder: Path, column: str = "datetime") -> Path:
    """A kWh costs the number of its hour."""
    path = folder / "prices.csv"
    rows = [f"2026-07-01T{hour:02d}:00:00,{hour}" for hour in range(24)]
    path.write_text("\n".join([f"{column},price (EUR/kWh)", *rows, ""]))
    return path


@pytest.mark.parametrize(("column", "cost"), [("datetime", 12.0), ("Datetime (UTC)", 10.0)])
def test_bill_and_run_cost_the_same_in_one_zone(tmp_path: Path, column: str, cost: float) -> None:
    """The dump is of Berlin; so is the table, or it says that it is of UTC."""
    prices = str(_prices(tmp_path, column))
    (tmp_path / "sacct.txt").write_text(DUMP)
    wl.account_import(tmp_path / "sacct.txt", store=tmp_path / "s.db", zone=ZONE)
    bill = wl.account_bill(tmp_path / "s.db", "2026-07-01", price=prices, zone=ZONE)
    run = wl.simulate(validate({
        "trace": {"file": str(tmp_path / "sacct.txt"), "zone": ZONE},
        "machine": {"nodes": 1, "node_idle_w": 100, "node_active_w": 1000}}, "test"))
    account = wl.account_run(run, price=prices, zone=ZONE)
    assert bill.money == pytest.approx(cost)
    assert account.cost == pytest.approx(cost, rel=1e-6)


MACHINE = wl.Machine(nodes=1, node_idle_w=100, node_active_w=1000)


@pytest.mark.parametrize(("column", "hour"), [("datetime", 12), ("Datetime (UTC)", 10)])
def test_a_trial_of_a_budget_reads_log_and_prices_in_the_zone(
    tmp_path: Path, column: str, hour: int
) -> None:
    prices = str(_prices(tmp_path, column))
    (tmp_path / "sacct.txt").write_text(DUMP)
    found = wl.try_budget("10kWh", machine=MACHINE, trace=tmp_path / "sacct.txt", period="1h",
                          price=prices, zone=ZONE)
    assert found.runs["no limit"]["cost"] == pytest.approx(hour)
    assert any("2026-07-01T10:00:00" in line for line in found.remarks)


def test_a_plan_begins_at_a_date_of_the_zone(tmp_path: Path) -> None:
    """Prices name their offset, the start does not: noon in Berlin is ten by them."""
    table = _prices(tmp_path)
    table.write_text(table.read_text().replace(":00:00,", ":00:00+00:00,"))
    asked = {"machine": MACHINE, "period": "1h", "price": str(table), "start": "2026-07-01T12:00"}
    assert wl.plan_energy("1kWh", **asked).cost == pytest.approx(12.0)
    assert wl.plan_energy("1kWh", **asked, zone=ZONE).cost == pytest.approx(10.0)


def test_the_start_of_a_policys_prices_is_a_date_of_the_scenarios_zone(tmp_path: Path) -> None:
    table = _prices(tmp_path)
    table.write_text(table.read_text().replace(":00:00,", ":00:00+00:00,"))
    (tmp_path / "sacct.txt").write_text(DUMP)
    scenario = validate({
        "trace": {"file": str(tmp_path / "sacct.txt"), "zone": ZONE},
        "machine": {"nodes": 1, "node_idle_w": 100, "node_active_w": 1000}}, "test")
    ready = plan(scenario)
    found = Readers(scenario, ready.jobs, ready.machine, {}).tariff(str(table), "2026-07-01T12:00")
    assert found.value[found.time_s == 0.0] * 3.6e6 == pytest.approx(10.0)
