"""Costs of a job that waits: prices and carbon by the hours in which it will run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import wattline as wl
from wattline.advice.futures.rates import Clock, rate_on
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.run_clock import RunClock
from wattline.traces.rates import carbon_from, price_from

WEEK_S = 1772409600.0
"""2026-03-02, when the log of examples/week.toml begins, and examples/prices.csv."""
STEP = "time_s,Price (EUR/kWh)\n0,1\n100,3\n200,3\n"
DATED = "Datetime (UTC),Price (EUR/kWh)\n2026-03-02T00:00:00,1\n2026-03-02T00:01:40,3\n"


def table(tmp_path: Path, text: str) -> str:
    (tmp_path / "rates.csv").write_text(text)
    return str(tmp_path / "rates.csv")


def at(now_s: float, unix_start_s: float | None = None, first_s: float = 0.0) -> Clock:
    """An instant of a log that goes on until 40 s after its first submission."""
    return Clock(now_s, RunClock.of(first_s, first_s + 40.0, unix_start_s))


def test_each_draw_pays_for_the_hours_in_which_it_runs(tmp_path: Path) -> None:
    rate = rate_on(at(10.0), table(tmp_path, STEP), price_from)
    assert rate is not None
    start_s, used_s = np.array([10.0, 50.0, 150.0, np.nan]), np.array([20.0, 100.0, 10.0, 10.0])
    costs = rate.of_draws(start_s, used_s, 3.6e6)  # a kWh per second
    assert costs[:3] == pytest.approx([20.0, 50.0 + 150.0, 30.0])
    assert np.isnan(costs[3])
    said = list(rate.remarks(start_s, used_s))
    assert said[0].endswith("has no dates: its first row is taken for the first submission; "
                            "--price-start DATE says otherwise")
    assert said[1].endswith("counted for the 3 of 4 draws that start by the horizon")
    assert len(said) == 2
    later = list(rate.remarks(np.array([250.0]), np.array([100.0])))
    assert later[-1].endswith("ends before some draws do; its last value stands for the rest")


def test_one_figure_holds_also_for_draws_that_start_later() -> None:
    rate = rate_on(at(0.0), "0.5EUR", price_from)
    assert rate is not None
    start_s, used_s = np.array([1.0, np.nan]), np.array([7200.0, 3600.0])
    assert rate.of_draws(start_s, used_s, 1000.0) == pytest.approx([1.0, 0.5])
    assert list(rate.remarks(start_s, used_s)) == []


@pytest.mark.parametrize(("clock", "start", "costs"), [
    (at(20.0, WEEK_S), "", [1.0, 3.0]),  # by the log's dates
    (at(WEEK_S + 20, None, WEEK_S), "", [1.0, 3.0]),  # a log in Unix seconds
    (at(20.0, None), "", [1.0, 3.0]),  # no dates: from the first row on
    (at(520.0, None, 500.0), "", [1.0, 3.0]),  # which is the first submission, not second 0
    (at(20.0, 0.0), "", [1.0, 3.0]),  # a header that says 1970 says nothing
    (at(20.0, 1e9), "", [1.0, 3.0]),  # dates of another year
    (at(20.0, WEEK_S), "2026-03-02T00:01:00", [3.0, 3.0]),  # as told
    (at(520.0, WEEK_S, 500.0), "2026-03-02T00:01:00", [3.0, 3.0]),  # of the first submission
    (Clock(WEEK_S + 20, None), "", [1.0, 3.0]),  # a live machine
])
def test_a_table_lies_on_the_clock_of_the_log(
    tmp_path: Path, clock: Clock, start: str, costs: list[float],
) -> None:
    rate = rate_on(clock, table(tmp_path, DATED), price_from, start)
    assert rate is not None
    at_s = np.array([clock.now_s + 30, clock.now_s + 100])
    assert rate.of_draws(at_s, np.ones(2), 3.6e6) == pytest.approx(costs)
    by_date = clock.log is None or (clock.log.epoch_s in (0.0, WEEK_S) and not start)
    assert any("by its dates" in line or "by the dates of the log" in line
               for line in rate.notes) == by_date


def test_a_table_of_other_times_is_refused(tmp_path: Path) -> None:
    dated = table(tmp_path, DATED)
    with pytest.raises(InputError, match="begins after the last job"):
        rate_on(at(1e9 + 500, None, 1e9), dated, price_from)
    for clock in (at(300.0), Clock(2e9, None)):
        with pytest.raises(InputError, match="has nothing of this instant"):
            rate_on(clock, dated, price_from)
    with pytest.raises(InputError, match="its times are no dates"):
        rate_on(Clock(2e9, None), table(tmp_path, STEP), price_from)
    with pytest.raises(InputError, match="one figure holds at any time"):
        rate_on(at(0.0), "0.3", price_from, "2026-03-02")
    with pytest.raises(InputError, match="give it with price"):
        rate_on(at(0.0), table(tmp_path, STEP), carbon_from)
    with pytest.raises(InputError, match="a live machine has its own dates"):
        rate_on(Clock(2e9, None), table(tmp_path, DATED), price_from, "2026-03-02")


def test_the_command_takes_tables_and_figures() -> None:
    asked = ["advise", "start", "1212", "examples/week.toml", "--at", "68%", "--samples", "2"]
    tables = ["--price", "examples/prices.csv", "--carbon", "300"]
    said = CliRunner().invoke(cli, [*asked, *tables, "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert found["currency"] == "EUR"
    assert found["carbon_g"]["mean"] == pytest.approx(found["energy_j"]["mean"] / 3.6e6 * 300)
    # Prices are between 30 and 135 EUR per MWh at any hour.
    assert 0.03 < found["cost"]["mean"] / (found["energy_j"]["mean"] / 3.6e6) < 0.135
    shown = CliRunner().invoke(cli, [*asked, *tables])
    assert "EUR; emits " in shown.output
    assert "kg of CO2" in shown.output
    alone = CliRunner().invoke(cli, [*asked, "--price-start", "2026-03-02"])
    assert isinstance(alone.exception, wl.InputError)
    assert "goes with" in str(alone.exception)
