"""Run folders over HTTP: at their end, at a time, replayed; with and without nodes; a contract."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.asking import Asking

import wattline as wl
from wattline.model.errors import InputError, WattlineError
from wattline.web.app import create_app
from wattline.web.beat import Beat
from wattline.web.places import ServerPlaces
from wattline.web.sources.replaying import ReplayClock
from wattline.web.sources.run_folder import open_run_folder
from wattline.web.sources.run_history import kept_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows no nodes by name."""
    trace = wl.generate("lublin", seed=3, jobs=60, nodes=32)
    machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300, nodes_per_rack=8)
    run = wl.simulate(trace, machine=machine)
    return run.save(tmp_path_factory.mktemp("runs") / "run")


def test_at_its_end_everything_is_over_and_nothing_can_be_ordered(folder: Path) -> None:
    source = open_run_folder(folder, price="0.2EUR", carbon="300")
    app = Asking(create_app(source))
    now = app.get("/api/now")
    assert (now["running"], now["queued"], now["busy_nodes"]) == (0, 0, 0)
    assert now["power_w"] == now["idle_w"]
    assert now["cap_w"] is None
    assert app.get("/api/jobs")["total"] == 60
    bill = app.get("/api/bill")
    assert bill["total_j"] == pytest.approx(wl.open_run(folder).energy_j)
    assert bill["total_amount"] == pytest.approx(bill["total_j"] / 3.6e6 * 0.2)
    assert bill["currency"] == "EUR"
    about = app.get("/api/about")
    assert about["operator_actions"] == []
    assert any("stands still" in each for each in about["assumptions"])


def test_a_table_of_prices_makes_joules_dear_when_they_are(folder: Path, tmp_path: Path) -> None:
    """Free up to the middle of the run, then 2 EUR: the bill is that of the second half."""
    run = wl.open_run(folder)
    half_s = (run.end_s - run.start_s) / 2
    table = tmp_path / "prices.csv"
    table.write_text(f"time_s,Price (EUR/kWh)\n0,0\n{half_s},2\n")
    app = Asking(create_app(open_run_folder(folder, price=str(table))))
    early_j = Asking(create_app(open_run_folder(folder, at_s=half_s))).get("/api/bill")["total_j"]
    bill = app.get("/api/bill")
    assert bill["total_amount"] == pytest.approx((bill["total_j"] - early_j) / 3.6e6 * 2)
    assert sum(line["amount"] for line in bill["lines"]) == pytest.approx(bill["total_amount"])
    assert sum(row["cost"]["amount"] for row in app.get("/api/accounts", by="user")["rows"]) == (
        pytest.approx(sum(line["amount"] for line in bill["lines"][:-1])))
    said = " ".join(app.get("/api/about")["assumptions"])
    assert "has no dates: its first row is taken for the first submission" in said
    assert "mean power" in said
    first = app.get("/api/jobs", sort="start_s", descending=False)["jobs"][0]["id"]
    assert app.get(f"/api/jobs/{first}")["cost"]["amount"] == 0


def test_at_a_time_it_is_as_the_log_of_the_run_says(folder: Path) -> None:
    run = wl.open_run(folder)
    at_s = 0.4 * (run.end_s - run.start_s)
    app = Asking(create_app(open_run_folder(folder, at_s=at_s)))
    now = app.get("/api/now")
    row = int(np.searchsorted(run.events.time_s, run.start_s + at_s, side="right")) - 1
    assert (now["power_w"], now["busy_nodes"], now["queued"]) == (
        run.events.power_w[row], run.events.busy[row], run.events.queued[row])
    nodes = app.get("/api/nodes")
    assert nodes["state"].count("busy") == now["busy_nodes"]
    assert sum(nodes["power_w"]) == pytest.approx(now["power_w"])
    assert any("does not know which nodes" in each for each in app.get("/api/about")["assumptions"])
    with pytest.raises(InputError, match="has no second"):
        open_run_folder(folder, at_s=1e12)


def test_a_replay_goes_on_and_begins_again() -> None:
    now_s = [0.0]
    clock = ReplayClock(50.0, 0.0, 100.0, 10.0, lambda: now_s[0], 0.0)
    seen = []
    for now_s[0] in (0.0, 4.0, 6.0, 16.0):
        seen.append(clock.now_s())
    assert seen == [50, 90, 10, 10]
    assert replace(clock, speed=0.0).now_s() == 50


def test_few_points_keep_both_ends_and_every_extreme() -> None:
    value = np.random.default_rng(1).normal(size=5000)
    time_s = np.sort(np.random.default_rng(2).uniform(0, 1e4, 5000))
    other = np.random.default_rng(3).integers(0, 10**6, 5000)
    rows = kept_rows(time_s, 100, value, other)
    assert len(rows) <= 100
    assert {0, 4999, *(int(place) for each in (value, other)
                       for place in (each.argmax(), each.argmin()))} <= set(rows.tolist())
    assert list(kept_rows(time_s[:7], 100, value[:7])) == list(range(7))


def test_a_contract_has_the_power_that_it_asks_for(folder: Path, tmp_path: Path) -> None:
    run = wl.open_run(folder)
    place = run.save(tmp_path / "run")
    (place / "power.csv").write_text(
        "start_s,end_s,power_w,average_w,reserve_w,signal\n"
        f"{run.start_s},{run.start_s + 60},1,5000,1000,0.5\n"
        f"{run.start_s + 60},{run.end_s},1,5000,1000,-1\n")
    app = Asking(create_app(open_run_folder(place, at_s=60.0)))
    assert app.get("/api/now")["target_w"] == 4000
    assert app.get("/api/history")["target_w"][0] == 5500


def test_a_source_that_fails_does_not_stop_the_beat() -> None:
    class Broken:
        calls = 0

        def turn(self) -> None: ...

        def now(self) -> None:
            self.calls += 1
            raise ValueError if self.calls == 1 else WattlineError("no controller runs")

    async def events() -> list[bytes]:
        found = []
        beat = Beat(Broken(), 0.01, ServerPlaces())  # type: ignore[arg-type]
        async for said in beat.events():
            found.append(said)
            if len(found) == 3:
                return found
        return found

    first, second, _ = asyncio.run(events())
    assert b"event: trouble" in first
    assert "mistake of its own" in json.loads(first.split(b"data: ")[1])["error"]
    assert json.loads(second.split(b"data: ")[1])["error"] == "no controller runs"


def test_jobs_of_nobody_are_found_by_what_accounts_call_them(folder: Path) -> None:
    app = Asking(create_app(open_run_folder(folder)))
    for by in ("user", "account"):
        for row in app.get("/api/accounts", by=by)["rows"]:
            assert app.get("/api/jobs", **{by: row["name"]})["total"] == row["jobs"] > 0
