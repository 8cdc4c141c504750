"""Prices with dates beside a log: a budget buys by the clock of both.

The twin's log begins on 4 March 2025 at 8:00. Prices fall at 8:10 to a fiftieth, so that nothing
starts before 600 s, wherever the table begins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.twin_sites import sacct

import wattline as wl
from wattline.model.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CHEAP_S = 600.0
HEAD = "Datetime (UTC),Price (EUR/MWh)\n"
DAYS_BEFORE = "2025-03-01T00:00:00,10\n2025-03-02T08:03:00,500\n"
DAY = "2025-03-04T00:00:00,500\n2025-03-04T08:10:00,10\n2025-03-04T09:00:00,500\n"
NEXT_DAY = "2025-03-05T00:00:00,500\n"
BUDGET = {"name": "budget", "energy": 500.0 * 1200.0 + 130_000.0, "period": 1200.0,
          "strategy": "idle", "price": "prices.csv"}


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = sacct(tmp_path)
    wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"], idle_w=100,
                 cpu_w=10, gpu_w=0, out=tmp_path / "twin.toml")
    return tmp_path / "twin.toml"


def told(run: Any) -> str:
    (line,) = [line for line in run.remarks if "prices.csv" in line]
    return str(line)


@pytest.mark.parametrize("rows", [DAY, DAYS_BEFORE + DAY, DAY + NEXT_DAY])
def test_a_twin_buys_by_the_dates_of_its_log(twin: Path, rows: str) -> None:
    Path("prices.csv").write_text(HEAD + rows)
    run = wl.simulate(twin, policy__power=BUDGET)
    first_s = float(np.nanmin(run.schedule.start_s))
    assert CHEAP_S <= first_s <= CHEAP_S + 5.0
    assert told(run).endswith("the first submission is at 2025-03-04T08:00:00")


def test_start_is_the_date_of_the_first_submission(twin: Path) -> None:
    Path("prices.csv").write_text(HEAD + DAY)
    run = wl.simulate(twin, policy__power={**BUDGET, "start": "2025-03-04T08:05:00"})
    assert CHEAP_S - 300.0 <= float(np.nanmin(run.schedule.start_s)) <= CHEAP_S - 295.0
    assert not [line for line in run.remarks if "prices.csv" in line]


def test_a_table_of_another_year_begins_with_the_log_and_says_so(twin: Path) -> None:
    Path("prices.csv").write_text(HEAD + "2023-06-01T00:00:00,500\n2023-06-01T00:07:00,10\n")
    run = wl.simulate(twin, policy__power=BUDGET)
    assert 420.0 <= float(np.nanmin(run.schedule.start_s)) <= 425.0
    assert "has no time in common with the log (2025-03-04T08:00:00 to 2025-03-04T08:05:30): its " \
        "first row (2023-06-01T00:00:00) is taken for the first submission" in told(run)


def test_a_table_that_begins_within_the_log_is_refused(twin: Path) -> None:
    Path("prices.csv").write_text(HEAD + "2025-03-04T08:01:00,500\n2025-03-04T08:10:00,10\n")
    with pytest.raises(InputError, match="begins at 2025-03-04T08:01:00, after the beginning of"):
        wl.simulate(twin, policy__power=BUDGET)


@pytest.mark.parametrize("dated", [True, False])
def test_whole_nodes_buy_by_the_dates_of_their_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dated: bool
) -> None:
    """One job of one node, 10 s after the log's second 0, at 8:00; without a date the table begins
    with its submission."""
    monkeypatch.chdir(tmp_path)
    header = "; UnixStartTime: 1741075200\n" if dated else ""  # 2025-03-04T08:00:00Z
    Path("log.swf").write_text(
        header + "1 10 -1 60 1 -1 -1 1 120 -1 1 1 1 1 1 1 -1 -1\n"
        "2 900 -1 60 1 -1 -1 1 120 -1 1 1 1 1 1 1 -1 -1\n")
    Path("prices.csv").write_text(HEAD + "2025-03-04T07:53:00,500\n2025-03-04T08:10:00,10\n")
    budget = {**BUDGET, "energy": 100.0 * 1200.0 + 30_000.0}
    run = wl.simulate({
        "name": "dates", "trace": {"file": "log.swf"}, "policy": {"power": budget},
        "machine": {"nodes": 1, "node_idle_w": 100, "node_active_w": 200}})
    assert run.schedule.start_s[0] == (600.0 if dated else 10.0 + 17 * 60.0)
    assert ("the first submission is at 2025-03-04T08:00:10" if dated else
            "has dates and the log has none: its first row (2025-03-04T07:53:00)") in told(run)


def test_a_table_in_seconds_counts_from_the_first_submission(twin: Path) -> None:
    Path("prices.csv").write_text("time_s,Price (EUR/MWh)\n0,500\n480,10\n")
    run = wl.simulate(twin, policy__power=BUDGET)
    assert 480.0 <= float(np.nanmin(run.schedule.start_s)) <= 485.0
    assert "has no dates: its first row is taken for the first submission" in told(run)
