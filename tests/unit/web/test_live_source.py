"""The live machine as a source: a controller with a told Slurm, and what the API says of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.support.asking import Asking
from tests.unit.web.told_site import SITE, Site, asking, job, made

from wattline.account.measured.book import MeasuredLedger
from wattline.account.store import Store
from wattline.advice.measured import account_import
from wattline.controller.licences import LicenceNet
from wattline.web.app import create_app
from wattline.web.sources.live import LiveSource


def test_nodes_classes_and_jobs_are_what_the_controller_sees(site: Site) -> None:
    site.controller.cycle()
    live = asking(site)
    now = live.get("/api/now")
    assert (now["power_w"], now["cap_w"], now["measured"]) == (780, 1000, False)
    assert (now["running"], now["queued"], now["busy_nodes"], now["nodes"]) == (1, 2, 2, 4)
    assert {part["name"]: part["power_w"] for part in now["by"]["class"]} == {
        "thin": 600, "fat": 180}
    nodes = live.get("/api/nodes", offset=1)
    assert nodes["names"] == ["n2", "n3", "n4"]
    assert nodes["state"] == ["busy", "idle", "idle"]
    assert nodes["job"] == ["7", None, None]
    assert live.get("/api/racks")["nodes"] == [2, 2]
    queue = live.get("/api/queue")
    assert [each["id"] for each in queue["jobs"]] == ["8", "9"]
    assert queue["jobs"][0]["wait_s"] == pytest.approx(60, abs=5)
    assert "watts" in queue["jobs"][0]["why"]
    assert live.get("/api/jobs", user="bob")["total"] == 1
    assert [each["id"] for each in live.get("/api/jobs", sort="id", descending=False)["jobs"]] == [
        "7", "8", "9"]
    assert abs(now["epoch_s"] + now["time_s"] - time.time()) < 5
    assert now["node_max_w"] == 300


def test_the_scale_of_a_live_machine_is_the_most_of_its_hungriest_class(site: Site) -> None:
    said = site.file.read_text().replace('nodes = "n[3-4]" }', 'nodes = "n[3-4]", active_w = 450 }')
    site.file.write_text(said)
    site.controller.cycle()
    assert asking(site).get("/api/now")["node_max_w"] == 450


def test_an_order_goes_to_the_desk_and_says_for_whom(site: Site) -> None:
    with site.going():
        live = asking(site)
        wanted = {"action": "set_cap", "value": {"watts": 700}}
        shown = live.post("/api/operator/preview", wanted).json()
        assert "80 W above it" in " ".join(shown["consequences"])
        assert shown["consequences"][-1].startswith("2 of 2 waiting jobs need more")
        done = live.post("/api/operator/apply", {**wanted, "confirm": shown["confirm"]})
        assert done.status_code == 200, done.text
        assert done.json()["said"] == "the cap is 700 W from now on"
        now = live.get("/api/now")
        assert now["cap_w"] == 700
        assert "80 W above the cap of 700 W" in [each["text"] for each in now["alarms"]]
        order, = (site.file.parent / "desk" / "done").iterdir()
        assert json.loads(order.read_text())["for_whom"] == "local"
        kept = (site.file.parent / "actions.jsonl").read_text()
        assert '"who": "local"' in kept
        missing = live.post("/api/operator/preview",
                            {"action": "unreserve", "value": {"name": "noon"}})
        assert missing.status_code == 422
        assert "W" in live.get("/api/jobs/8")["explanation"]


def test_who_starts_jobs_is_changed_with_its_consequences_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LicenceNet, "count", lambda net: 1000)
    site = made(tmp_path, "licences = true\n")
    mark = {"comment": "wattline"}
    site.slurm.jobs.update({"8": job("8", 2, **mark), "9": job("9", 1, **mark)})
    with site.going():
        live = asking(site)
        assert live.get("/api/now")["mode"] == "decide"
        assert "set_mode" in live.get("/api/about")["operator_actions"]
        wanted = {"action": "set_mode", "value": {"mode": "guard"}}
        shown = live.post("/api/operator/preview", wanted).json()
        assert any(each.endswith("whatever when_stopped says: 2")
                   for each in shown["consequences"])
        assert live.get("/api/now")["mode"] == "decide"
        done = live.post("/api/operator/apply", {**wanted, "confirm": shown["confirm"]})
        assert done.status_code == 200, done.text
        assert done.json()["said"].startswith("guard mode from now on")
        now = live.get("/api/now")
        assert now["mode"] == "guard"
        assert now["mode_since_s"] == pytest.approx(now["time_s"], abs=5)
        lines = [json.loads(line) for line in
                 (site.file.parent / "actions.jsonl").read_text().splitlines()]
        assert [(line["who"], line["value"], line["outcome"]) for line in lines] == [
            ("local", {"mode": "guard"}, "asked"), ("local", {"mode": "guard"}, "done")]


def test_guard_mode_is_refused_where_licences_do_not_follow_the_cap(site: Site) -> None:
    with site.going():
        refused = asking(site).post("/api/operator/preview",
                                    {"action": "set_mode", "value": {"mode": "guard"}})
    assert refused.status_code == 422
    assert "licences = true" in refused.json()["error"]


def test_a_controller_that_is_silent_is_an_alarm_and_takes_no_orders(site: Site) -> None:
    site.controller.cycle()
    live = asking(site, clock=lambda: time.time() + 100, stale_after_s=5.0)
    now = live.get("/api/now")
    assert 95 < now["stale_s"] < 110
    assert now["alarms"][0]["level"] == "critical"
    assert "silent" in now["alarms"][0]["text"]
    refused = live.post("/api/operator/preview", {"action": "set_cap", "value": 500})
    assert refused.status_code == 503
    assert "nothing can be ordered" in refused.json()["error"]
    assert asking(site).get("/api/now")["stale_s"] == 0


def test_what_a_silent_controller_said_is_no_figure_of_this_moment(site: Site) -> None:
    site.controller.cycle()
    live = asking(site, clock=lambda: time.time() + 100, stale_after_s=5.0)
    now = live.get("/api/now")
    for path in ("nodes", "racks", "queue", "jobs"):
        assert live.get(f"/api/{path}")["time_s"] == pytest.approx(now["time_s"] - now["stale_s"],
                                                                   abs=1.0)
    silent, speaking = (one.ask("GET", "/metrics").text for one in (live, asking(site)))
    assert "\nwattline_source_stale_seconds " in silent
    for name in ("wattline_power_watts", "wattline_nodes_busy", "wattline_jobs_running"):
        assert f"\n{name} " in speaking
        assert f"\n{name} " not in silent


def test_where_no_controller_ever_ran_the_answer_says_so(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(SITE)
    live = Asking(create_app(LiveSource(tmp_path / "site.toml")))
    status, error = live.refused("/api/now")
    assert status == 503
    assert "no controller runs" in error
    assert str(tmp_path) not in error
    assert str(tmp_path) not in json.dumps(live.get("/api/about"))
    assert "no controller runs" in " ".join(live.get("/api/about")["assumptions"])


def test_jobs_that_are_over_come_from_the_ledger(site: Site, tmp_path: Path) -> None:
    site.controller.cycle()
    source = LiveSource(site.file, price="3.6EUR")
    (tmp_path / "dump.txt").write_text(
        "JobID|User|Account|State|Submit|Start|End|NNodes|NodeList|AllocTRES\n"
        "5|ann|physics|COMPLETED|2026-10-05T09:00:00|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|"
        "energy=720000\n"
        "6|bob|climate|FAILED|2026-10-05T09:30:00|2026-10-05T10:00:00|2026-10-05T10:30:00|2|"
        "n[3-4]|energy=360000\n")
    account_import(tmp_path / "dump.txt", store=tmp_path / "ledger.db", zone="UTC")
    source.ledger.store = str(tmp_path / "ledger.db")
    live = Asking(create_app(source))
    jobs = live.get("/api/jobs", sort="energy_j")
    assert jobs["total"] == 5
    assert [each["id"] for each in jobs["jobs"][:2]] == ["5", "6"]
    assert jobs["jobs"][0]["power_w"] == 200
    assert live.get("/api/jobs", search="climate")["total"] == 1
    assert live.get("/api/jobs", state="failed", limit=1)["jobs"][0]["id"] == "6"
    assert live.get("/api/jobs", search="50%_")["total"] == 0
    one = live.get("/api/jobs/5")
    assert (one["energy_j"], one["cost"]) == (720000, {"amount": 0.72, "currency": "EUR"})
    assert one["coverage"] == 1
    assert one["quality"][0] == "slurm"
    assert set(one["profile"]["power_w"]) == {200}
    rows = live.get("/api/accounts", by="user")["rows"]
    assert [(row["name"], row["energy_j"]) for row in rows] == [("ann", 720000), ("bob", 360000)]
    metrics = live.ask("GET", "/metrics").text
    assert 'wattline_jobs_finished_total{state="FAILED"} 1.0' in metrics
    assert live.refused("/api/jobs/99")[0] == 404


def test_the_ledger_is_not_made_by_looking_at_it(site: Site, tmp_path: Path) -> None:
    site.controller.cycle()
    source = LiveSource(site.file)
    source.ledger.store = str(tmp_path / "none.db")
    assert Asking(create_app(source)).get("/api/accounts")["rows"] == []
    assert not (tmp_path / "none.db").exists()
    MeasuredLedger(Store(tmp_path / "none.db"))
    assert Asking(create_app(source)).get("/api/jobs")["total"] == 3
