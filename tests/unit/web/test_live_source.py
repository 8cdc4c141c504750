"""The live machine as a source: a controller with a told Slurm, and what the API says of it."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.support.asking import Asking

from wattline.account.measured.book import MeasuredLedger
from wattline.account.store import Store
from wattline.advice.measured import account_import
from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Controller
from wattline.controller.desk import open_desk
from wattline.controller.showing import MachineWriter
from wattline.controller.watching import Watcher, watts_of_licences
from wattline.live.slurm.client import Seen, Slurm
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books
from wattline.web.app import create_app
from wattline.web.settings import Settings
from wattline.web.sources.live import LiveSource
from wattline.web.sources.run_joules import Rates

NAMES = ["n1", "n2", "n3", "n4"]
SITE = """nodes = "n[1-4]"
node_idle_w = 90
node_active_w = 300
cap = 1000
folder = "desk"
classes = [{ name = "thin", nodes = "n[1-2]" }, { name = "fat", nodes = "n[3-4]" }]
"""


def job(label: str, nodes: int, **more) -> SlurmJob:
    return replace(SlurmJob(label, int(label), 0, "PENDING", nodes, nodes, 600.0, math.nan,
                            math.nan, time.time() - 60, partition="batch", user="ann",
                            account="physics", name="cfd", licenses={"watts": 300 * nodes}), **more)


@dataclass(frozen=True)
class ToldSlurm(Slurm):
    jobs: dict[str, SlurmJob] = field(default_factory=dict)

    def look(self) -> Seen:
        return Seen(time.time(), tuple(self.jobs.values()),
                    tuple(SlurmNode(name, ("idle",), 1) for name in NAMES))

    def job(self, label: str) -> SlurmJob | None:
        return self.jobs.get(label)


@dataclass
class Site:
    file: Path
    controller: Controller
    slurm: ToldSlurm

    @contextmanager
    def going(self) -> Iterator[None]:
        """Cycles in a thread, as the controller's process has them."""
        stop = threading.Event()

        def cycles() -> None:
            while not stop.wait(0.01):
                self.controller.cycle()

        thread = threading.Thread(target=cycles)
        self.controller.cycle()
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """One job of two nodes runs with 600 W by its licences, and two wait; 780 W are drawn."""
    file = tmp_path / "site.toml"
    file.write_text(SITE)
    found = read_configuration(file)
    books = open_books(machine=Machine(nodes=4, node_idle_w=90, node_active_w=300), cap=found.cap,
                       power=found.policy.power, placement=found.policy.placement,
                       start_s=time.time())
    slurm = ToldSlurm()
    controller = Controller(books, slurm, Watcher(NAMES, watts=watts_of_licences()))
    controller.listeners = (MachineWriter(controller, tmp_path / "desk"),)
    open_desk(controller, found)
    running = job("7", 2, state="RUNNING", start_s=time.time() - 30, node_list=("n1", "n2"),
                  priority=5)
    slurm.jobs.update({"7": running, "8": job("8", 2), "9": job("9", 1, user="bob")})
    return Site(file, controller, slurm)


def asking(site: Site, **more) -> Asking:
    source = LiveSource(site.file, sample=False, **more)
    return Asking(create_app(source, Settings(journal=site.file.parent / "actions.jsonl")))


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
        assert missing.status_code == 404
        assert "W" in live.get("/api/jobs/8")["explanation"]


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


def test_where_no_controller_ever_ran_the_answer_says_so(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(SITE)
    live = Asking(create_app(LiveSource(tmp_path / "site.toml", sample=False)))
    status, error = live.refused("/api/now")
    assert status == 503
    assert "no controller runs" in error
    assert "no controller runs" in " ".join(live.get("/api/about")["assumptions"])


def test_jobs_that_are_over_come_from_the_ledger(site: Site, tmp_path: Path) -> None:
    site.controller.cycle()
    source = LiveSource(site.file, sample=False, rates=Rates(price_per_j=1e-6, currency="EUR"))
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


def test_the_course_is_kept_for_a_day_with_its_gaps() -> None:
    from wattline.web.sources.live_course import Course, Sample

    course = Course(most=5)
    for second in range(8):
        course.add(Sample(float(second), None if second == 5 else 10.0 * second, 55.0, None,
                          second))
    course.add(Sample(7.0, 999.0, None, None, 0))
    found = course.history(-math.inf, math.inf, 100)
    assert found.time_s == [3, 4, 5, 6, 7]
    assert found.power_w == [30, 40, None, 60, 70]
    assert found.target_w is None
    assert course.above_since() == 6
    assert course.history(4.5, 6.0, 100).time_s == [5, 6]


def test_the_ledger_is_not_made_by_looking_at_it(site: Site, tmp_path: Path) -> None:
    site.controller.cycle()
    source = LiveSource(site.file, sample=False)
    source.ledger.store = str(tmp_path / "none.db")
    assert Asking(create_app(source)).get("/api/accounts")["rows"] == []
    assert not (tmp_path / "none.db").exists()
    MeasuredLedger(Store(tmp_path / "none.db"))
    assert Asking(create_app(source)).get("/api/jobs")["total"] == 3
