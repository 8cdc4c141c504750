"""Several sites, day-ahead hours, observed distributions, bids below idle: from the command on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.contracts import check_ended, contract_text

from wattline.cli.main import cli
from wattline.demand_response import jointly
from wattline.demand_response.logs import busy_days, log_case
from wattline.grid.bidding.problem import Problem
from wattline.grid.market import Bid, Range
from wattline.grid.workloads import poisson_jobs, workload
from wattline.model.errors import InputError
from wattline.traces import read

compiled = pytest.mark.compiled  # many hours are simulated: minutes as plain Python

SITE = """
power_w_idle = 100.0
servers = 24
duration = "{duration}"
cycle_s = 2.0
warmup = "3m"
utilisation = 0.6
policy = "aqa"
standby = true
[signal]
step_s = 20.0
[[types]]
name = "a"
nodes = 1
time_s_min = 40.0
time_s_max = 60.0
power_w_max = 300.0
power_w_min = 200.0
threshold = 20.0
[[types]]
name = "b"
nodes = 2
time_s_min = 60.0
time_s_max = 80.0
power_w_max = 280.0
power_w_min = 200.0
threshold = 20.0
[standby_type]
name = "fill"
nodes = 1
time_s_min = 20.0
time_s_max = 30.0
power_w_max = 250.0
power_w_min = 180.0
threshold = 1.0
"""


def site(tmp_path: Path, name: str, duration: str = "10m", more: str = "") -> str:
    path = tmp_path / f"{name}.toml"
    path.write_text(contract_text(SITE.format(duration=duration) + more))
    return str(path)


def called(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [*arguments, "--json"])
    check_ended(result)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@compiled
def test_sites_bid_together(tmp_path: Path) -> None:
    north, south = site(tmp_path, "north"), site(tmp_path, "south")
    found = called("bid", north, "--with", south, "--rounds", "8")
    parts = found["sites"]
    assert set(parts) == {"north", "south"}
    assert found["participates"]
    assert found["reserve_w"] == pytest.approx(sum(p["reserve_w"] for p in parts.values()))
    # The sum's errors partly cancel: the joint bill is not above the bills of the parts.
    assert found["cost"] <= found["cost_apart"] + 1e-9
    most = called("bid", north, "--with", south, "--rounds", "8", "--least-reserve", "90kW")
    assert not most["participates"]
    assert "below the least reserve" in most["reason"]
    assert most["average_power_w"] is None


def test_sites_need_the_same_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []
    monkeypatch.setattr(jointly, "choose", lambda *case, **_: searched.append(case))
    argv = ["bid", site(tmp_path, "a"), "--with", site(tmp_path, "b", "20m"), "--rounds", "4"]
    result = CliRunner().invoke(cli, argv)
    assert isinstance(result.exception, InputError)
    assert "same duration" in str(result.exception)
    assert searched == []  # it is known before any bid is tried


@compiled
def test_hours_are_chosen_by_price(tmp_path: Path) -> None:
    prices = "[prices]\nreserve = [[0, 0.0], [3600, 0.1], [7200, 0.2]]\nerror = 0.0\n"
    path = site(tmp_path, "day", "3h", prices)
    found = called("bid", path, "--bid", "range", "--hours", "3")
    assert len(found["surface"]) == 1
    kept = found["surface"][0]["feasible"]
    assert [hour["participates"] for hour in found["hours"]] == [False, kept, kept]
    plan = called("bid", path, "--rounds", "8", "--hours", "3", "--hours-most", "1")["hours"]
    assert [hour["participates"] for hour in plan] == [False, False, True]
    assert plan[2]["cost"] < plan[2]["cost_without"]
    assert [hour["start_s"] for hour in plan] == [0.0, 3600.0, 7200.0]  # the warm-up is before
    found = called("regulate", path, "--rounds", "8", "--bid", "dayahead", "--warmup", "0s")
    assert found["bids"][0]["reserve_w"] == 0  # a reserve that is not paid for is not offered
    assert found["bids"][2]["reserve_w"] > 0
    taken = [b["reserve_w"] for b in found["bids"] if b["reserve_w"] > 0]
    assert found["participates"]
    assert found["reserve_w"] == pytest.approx(np.mean(taken))
    assert found["reason"].startswith(f"bids for {len(taken)} of 3 hours")
    later = called("regulate", path, "--rounds", "8", "--bid", "dayahead", "--warmup", "1h")
    assert [b["start_s"] for b in later["bids"]] == [0.0, 3600.0, 7200.0]
    assert later["bids"][0]["reserve_w"] == 0


@compiled
def test_observed_distributions_choose_a_bid(tmp_path: Path) -> None:
    found = called("bid", site(tmp_path, "burst"), "--burst", "3", "--bid", "empirical",
                   "--duration", "20m", "--forecast", "1")
    assert found["surface"] or "do not participate" in found["reason"]
    assert found["participates"] == (found["average_power_w"] is not None)


def test_bursts_keep_the_rate_and_spread_the_counts() -> None:
    load = workload("W2")
    rng = np.random.default_rng(5)
    counts = {burst: [len(poisson_jobs(replace(load, burst=burst), 3600.0, rng))
                      for _ in range(60)] for burst in (1.0, 5.0)}
    assert np.mean(counts[5.0]) == pytest.approx(np.mean(counts[1.0]), rel=0.1)
    assert np.var(counts[5.0]) > 3 * np.var(counts[1.0])
    with pytest.raises(InputError, match="burst"):
        replace(load, burst=0.5)


def test_targets_below_idle_only_where_allowed() -> None:
    reach = Range(5915.0, 14000.0)
    with pytest.raises(InputError, match="916 W below the idle machine"):
        reach.check(Bid(8434.0, 3435.0))
    allowed = replace(reach, below_idle=True)
    allowed.check(Bid(8434.0, 3435.0))
    assert allowed.largest_reserve_w(6500.0) == 6500.0
    with pytest.raises(InputError, match="below 0 W"):
        allowed.check(Bid(6000.0, 6100.0))
    assert Problem(replace(workload("W4"), below_idle=True)).workload.range.floor_w == 0


def test_a_log_of_cores_becomes_one_of_whole_nodes(tmp_path: Path) -> None:
    lines = ["; MaxNodes: 10", "; MaxProcs: 80"]
    for number in range(30):
        day, procs = number // 3, 8 * (1 + number // 3) - 3
        fields = [number + 1, day * 86400 + number, 0, 7200, procs, -1, -1, procs, 9000, -1, 1, 1,
                  1, 1, 1, 1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path = tmp_path / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    found = log_case(read(path), "log.swf", servers=None, start_s=0.0, duration_s=9e6,
                     power_w_idle=None, seed=1)
    assert found.workload.servers == 10
    assert sorted(set(found.jobs.procs.tolist())) == list(range(1, 11))
    busiest = busy_days(path, 2, days=1, load=1.0)
    assert busiest == [8, 9]  # the largest jobs come last

@compiled
def test_a_long_type_that_is_starved_violates(tmp_path: Path) -> None:
    # Shortest time and allowed delay of b are 21 min, the contract 10: b cannot be late in it.
    path = site(tmp_path, "starved")
    found = called("regulate", path, "--bid", "2900,400", "--weights", "1,0", "--utilisation", "1",
                   "--no-standby")
    assert found["qos"]["b"]["unfinished"] > 10
    assert found["qos"]["b"]["violation_share"] > 0.5
    assert found["constraints_met"] is False


@compiled
def test_nothing_is_promised_where_no_bid_is_made(tmp_path: Path) -> None:
    prices = "[prices]\nreserve = 0.0\nerror = 0.0\n"
    found = called("regulate", site(tmp_path, "out", more=prices), "--rounds", "8")
    assert not found["participates"]
    assert found["constraints_met"] is None
    assert found["average_power_w"] is None
    assert found["cost"] == pytest.approx(found["cost_uncontrolled"], rel=0.05)
    day = called("regulate", site(tmp_path, "day", "2h", prices), "--rounds", "8", "--bid",
                 "dayahead", "--warmup", "0s")
    assert not day["participates"]
    assert day["reason"].startswith("do not participate")
