"""A running controller is spoken to through its folder: orders are done once, and answered."""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.support.commands import status_of

from wattline.books.journal import read_journal
from wattline.books.replay import replay
from wattline.controller import desk
from wattline.controller.asking import watts_of_licences
from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Controller
from wattline.controller.desk import open_desk
from wattline.controller.orders import DONE, ORDERS, REFUSED, TAKEN, Inbox, give
from wattline.controller.resting import NAME
from wattline.controller.speaking import explain_job, live_order, live_status, moment_s
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen, Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.model.errors import InputError, WattlineError
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = [f"n{number}" for number in range(1, 9)]
SITE = """nodes = "n[1-8]"
node_idle_w = 90
node_active_w = 300
cap = 1500
folder = "desk"
"""


def pending(label: str, nodes: int, **more) -> SlurmJob:
    return replace(SlurmJob(label, int(label), 0, "PENDING", nodes, nodes, 600.0, math.nan,
                            math.nan, 0.0, partition="batch", user="ann", name="cfd"), **more)


@dataclass(frozen=True)
class ToldSlurm(Slurm):
    """A Slurm that shows what the test says."""

    jobs: dict[str, SlurmJob] = field(default_factory=dict)
    failing: list[str] = field(default_factory=list)

    def look(self) -> Seen:
        if self.failing:
            raise SlurmError(self.failing[0])
        return Seen(time.time(), tuple(self.jobs.values()),
                    tuple(SlurmNode(name, ("idle",), 1) for name in NAMES))

    def job(self, label: str) -> SlurmJob | None:
        return self.jobs.get(label)


@dataclass
class Site:
    """A controller whose cycles a thread runs, as its process would."""

    file: Path
    controller: Controller
    slurm: ToldSlurm
    lines: list[str]

    @property
    def folder(self) -> Path:
        return self.file.parent / "desk"


def made(tmp_path: Path, more: str = "") -> Site:
    file = tmp_path / "site.toml"
    file.write_text(SITE + more)
    site = read_configuration(file)
    lines: list[str] = []
    books = open_books(
        machine=Machine(nodes=8, node_idle_w=90, node_active_w=300), cap=site.cap,
        order=site.policy.order, backfill=site.policy.backfill, power=site.policy.power,
        placement=site.policy.placement, start_s=time.time(), journal=lines.append)
    slurm = ToldSlurm()
    controller = Controller(books, slurm, Watcher(NAMES, site.partitions,
                                                  watts=watts_of_licences()))
    open_desk(controller, site)
    return Site(file, controller, slurm, lines)


class Going:
    def __init__(self, controller: Controller) -> None:
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(controller,))

    def _run(self, controller: Controller) -> None:
        while not self.stop.is_set():
            controller.cycle()
            time.sleep(0.01)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return made(tmp_path)


@pytest.fixture
def going(site: Site) -> Iterator[Site]:
    site.controller.cycle()
    with Going(site.controller):
        yield site


def test_the_cap_that_is_shown_is_the_one_that_was_set_also_with_nodes_that_take_no_jobs(
    going: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ("--config", str(going.file))
    live_order(going.file, "set_cap", watts=1200.0)
    monkeypatch.setattr(desk, "KEPT", ())  # by an order instead of by nodes that Slurm drains
    live_order(going.file, "reserve", name=NAME, duration_s=3600.0, watts=90.0)
    assert live_status(going.file)["cap_w"] == 1110.0
    assert status_of("power", "show", "--live", *config) == 0
    said = capsys.readouterr().out
    assert "PowerCap=1200 " in said
    assert "90 W of the cap are drawn by nodes that take no jobs or boot: 1,110 W are left" in said


def test_a_cap_that_is_set_holds_in_the_books_and_in_the_journal(going: Site) -> None:
    found = live_order(going.file, "set_cap", watts=1200.0)
    assert found.said == "the cap is 1,200 W from now on"
    assert found.result["cap_w"] == 1200.0
    assert live_status(going.file)["cap_w"] == 1200.0
    assert any('["capchanged",{"watts":1200.0}]' in line for line in going.lines)
    done, = (going.folder / DONE).iterdir()
    said = json.loads(done.read_text())
    assert (said["kind"], said["watts"], said["who"]) == ("set_cap", 1200.0, "root" if
                                                           os.getuid() == 0 else said["who"])
    assert abs(said["when_s"] - time.time()) < 60
    assert not list((going.folder / ORDERS).iterdir())


def test_a_journal_with_orders_in_it_replays(site: Site) -> None:
    site.slurm.jobs["7"] = pending("7", 3)
    with Going(site.controller):
        wait_for_status(site)
        live_order(site.file, "set_cap", watts=800.0)
        site.slurm.jobs["8"] = pending("8", 1)
    journal = read_journal("".join(site.lines), "test")
    books = open_books(machine=Machine(nodes=8, node_idle_w=90, node_active_w=300), cap=1500,
                       power="watts", placement="first-fit", start_s=journal.head["start_s"])
    replayed = replay(books, journal.entries())
    assert replayed.equal
    assert replayed.books.state.clock[0].cap_w == 800.0


def wait_for_status(site: Site) -> None:
    until_s = time.monotonic() + 10
    while not (site.folder / "status.json").exists():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_a_window_ahead_is_reserved_and_withdrawn(going: Site) -> None:
    start_s = time.time() + 3600
    found = live_order(going.file, "reserve", start_s=start_s, duration_s=600.0, watts=500.0,
                       name="noon")
    window, = live_status(going.file)["ahead"]
    assert (window["name"], window["watts"], window["begun"]) == ("noon", 500.0, False)
    assert any("does not plan ahead" in remark for remark in found.result["remarks"])
    with pytest.raises(InputError, match="there already"):
        live_order(going.file, "reserve", start_s=start_s, duration_s=600.0, watts=1.0, name="noon")
    assert sum('["reserved"' in line for line in going.lines) == 1
    with pytest.raises(InputError, match="for nodes that take no jobs: take another name"):
        live_order(going.file, "reserve", name="nodes-without-jobs", duration_s=60.0, watts=10.0)
    live_order(going.file, "unreserve", name="noon")
    assert live_status(going.file)["ahead"] == []
    with pytest.raises(InputError, match="no reservation 'noon'; there is none"):
        live_order(going.file, "unreserve", name="noon")


@pytest.mark.parametrize(("kind", "fields", "said"), [
    ("set_cap", {"watts": -1.0}, "it must be above 0"),
    ("set_cap", {"watts": 1e6}, "a cap of 1,000,000 W; the site's file allows at most"),
    ("set_cap", {"watts": "much"}, "watts is 'much', must be a number"),
    ("set_cap", {"watts": 700.0}, "a cap of 700 W; the machine draws 720 W idle"),
    ("reserve", {"watts": 1500.0, "duration_s": 60.0}, "would leave a cap of 0 W"),
    ("reserve", {"watts": 781.0, "duration_s": 60.0}, "would leave a cap of 719 W; the machine dr"),
    ("reserve", {"watts": 100.0, "duration_s": 0.0}, "its duration is 0 s, must be above 0"),
    ("reserve", {"watts": 100.0, "duration_s": 60.0, "start_s": 3600.0},
     "would begin at 1970-01-01T01:00:00Z, which is past"),
    ("reserve", {"watts": 100.0}, "duration_s is None"),
    ("dance", {}, "there is no order 'dance'; there are: set_cap"),
    ("fairshare", {}, "does not weigh shares"),
    ("explain", {"job": "99"}, "neither the books nor Slurm know a job 99"),
])
def test_what_cannot_be_is_refused_with_the_reason(
    going: Site, kind: str, fields: dict, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        live_order(going.file, kind, **fields)
    assert len(list((going.folder / REFUSED).iterdir())) == 1
    assert not any('["reserved"' in line or '["capchanged"' in line for line in going.lines)


def test_files_that_are_no_orders_are_refused(going: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"kind": "set_cap", "watts": 1}')
    (going.folder / ORDERS / "1.json").symlink_to(secret)
    (going.folder / ORDERS / "2.json").write_text("{")
    (going.folder / ORDERS / "3.json").write_text(f'{{"kind": "{70_000 * "x"}"}}')
    (going.folder / ORDERS / "4.json").write_text("[1]")
    until_s = time.monotonic() + 10
    while len(list((going.folder / REFUSED).glob("?.json"))) < 4:  # not those being written
        assert time.monotonic() < until_s
        time.sleep(0.01)
    said = [json.loads((going.folder / REFUSED / f"{number}.json").read_text())["outcome"]["said"]
            for number in range(1, 5)]
    assert [text.removeprefix("it cannot be read: ") for text in said] == [
        "an order is a plain file", "it is no JSON",
        "it has 70,012 bytes; an order has at most 65,536", "an order is an object with a `kind`"]
    assert live_status(going.file)["cap_w"] == 1500.0


def test_an_order_that_was_taken_when_the_controller_stopped_is_not_done_later(
    site: Site
) -> None:
    (site.folder / TAKEN / "1.json").write_text('{"kind": "set_cap", "watts": 1}')
    Inbox(site.folder)
    assert not list((site.folder / TAKEN).iterdir())
    said = json.loads((site.folder / REFUSED / "1.json").read_text())
    assert "look at what holds" in said["outcome"]["said"]


def test_an_order_that_nobody_takes_is_withdrawn(site: Site) -> None:
    with pytest.raises(WattlineError, match="withdrawn, and nothing was done"):
        give(site.folder, "set_cap", {"watts": 1000.0}, within_s=0.1)
    assert not list((site.folder / ORDERS).iterdir())


def test_where_no_controller_runs_it_is_said_in_one_line(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("power", "show", "--live", "--config", str(site.file)) == 1
    assert "no controller runs in" in capsys.readouterr().err
    site.controller.cycle()
    said = json.loads((site.folder / "status.json").read_text())
    (site.folder / "status.json").write_text(json.dumps({**said, "pid": 2**22 + 1}))
    with pytest.raises(WattlineError, match="the last one was heard of"):
        live_status(site.file)
    assert status_of("controller", "explain", "7", "--config", "/nowhere.toml") == 2


def test_the_status_says_who_waits_and_what_went_wrong(site: Site) -> None:
    site.slurm.jobs.update({"7": pending("7", 3), "8": pending("8", 2), "9": pending("9", 6)})
    site.controller.cycle()
    said = live_status(site.file)
    assert [job["job"] for job in said["starting"]["jobs"]] == ["7"]
    assert said["running"] == {"count": 0, "jobs": []}
    assert said["waiting"]["jobs"][0] | {"submit_s": 0} == {
        "job": "8", "nodes": 2, "submit_s": 0, "why": "watts"}
    assert said["refused"] == {"count": 1, "jobs": ["9"]}
    assert said["power_w"] == 5 * 90 + 3 * 300
    assert said["slurm_answers"]
    site.slurm.failing.append("squeue gave no answer in 15 s")
    site.controller.cycle()
    said = live_status(site.file)
    assert not said["slurm_answers"]
    assert said["last_error"] == "squeue gave no answer in 15 s"


def test_a_start_counts_as_running_once_slurm_shows_it(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.slurm.jobs.update({"7": pending("7", 3), "8": pending("8", 2)})
    site.controller.cycle()
    show = ("power", "show", "--live", "--config", str(site.file))
    assert status_of(*show) == 0
    assert "0 jobs run, 1 start, 1 wait; 5 of 8 nodes are free" in capsys.readouterr().out
    site.slurm.jobs["7"] = pending("7", 3, state="RUNNING", start_s=time.time(),
                                   node_list=("n1", "n2", "n3"))
    site.controller.cycle()
    assert [job["job"] for job in live_status(site.file)["running"]["jobs"]] == ["7"]
    assert status_of(*show) == 0
    assert "1 jobs run, 1 wait; 5 of 8 nodes are free" in capsys.readouterr().out


def test_a_job_is_explained(going: Site, capsys: pytest.CaptureFixture[str]) -> None:
    going.slurm.jobs.update({"7": pending("7", 3), "8": pending("8", 2)})
    until_s = time.monotonic() + 10
    while live_status(going.file)["waiting"]["count"] < 1:
        assert time.monotonic() < until_s
        time.sleep(0.01)
    found = explain_job("8", going.file)
    assert found["reason"] == "watts"
    assert found["expected_s"] == pytest.approx(time.time() + 600, abs=30)
    going.slurm.jobs["8"] = pending("8", 2, priority=100, reason="Resources")
    found = explain_job("8", going.file)
    assert found["reason"] == "not ours"
    assert "it waits there for Resources" in found["sentence"]
    going.slurm.jobs["8"] = pending("8", 2, priority=100)
    assert status_of("controller", "explain", "8", "--config", str(going.file)) == 0
    assert "slurm_reason" not in capsys.readouterr().out, "there is none"
    assert status_of("controller", "explain", "7", "--config", str(going.file)) == 0
    assert re.search(r"^  since_s = 20\d\d-\d\d-\d\dT.*Z$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(("comment", "said"), [
    ("wattline: suspended to keep the cap", "goes on when there is room"),
    ("", "not by the controller")])
def test_a_suspended_job_does_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], comment: str, said: str
) -> None:
    site = made(tmp_path)
    site.slurm.jobs["7"] = pending("7", 3, state="SUSPENDED", node_list=("n1", "n2", "n3"),
                                   admin_comment=comment)
    site.controller.cycle()
    with Going(site.controller):
        found = explain_job("7", site.file)
        assert status_of("power", "show", "--live", "--config", str(site.file)) == 0
    assert found["reason"] == "suspended"
    assert said in found["sentence"]
    assert "1 jobs run, of which 1 suspended, 0 wait" in capsys.readouterr().out


def test_a_job_of_another_partition_is_left_to_slurm(tmp_path: Path) -> None:
    site = made(tmp_path, 'partitions = ["batch"]\n')
    site.slurm.jobs["5"] = pending("5", 1, partition="debug")
    site.controller.cycle()
    with Going(site.controller):
        found = explain_job("5", site.file)
    assert found["reason"] == "not ours"
    assert "the partition debug, which is left to Slurm" in found["sentence"]


def test_shares_order_the_live_queue_by_joules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ann has drawn joules and Bob none, so Bob's job comes first though it came last."""
    shares = tmp_path / "shares.toml"
    shares.write_text("".join(f'[[account]]\nname = "{user}"\nshare = 1\n'
                              for user in ("ann", "bob")))
    site = made(tmp_path, f'[policy]\norder = {{ name = "energy-share", shares = "{shares}", '
                          'size = 0.5 }\nbackfill = "none"\n')
    site.slurm.jobs["1"] = pending("1", 3)
    site.controller.cycle()
    time.sleep(0.05)
    site.slurm.jobs.update({"2": pending("2", 2), "3": pending("3", 2, user="bob")})
    site.controller.cycle()
    site.controller.cycle()
    with Going(site.controller):
        found = live_order(site.file, "fairshare").result
        assert status_of("fairshare", "--live", "--config", str(site.file)) == 0
    usage = {each["name"]: each["usage_j"] for each in found["accounts"]}
    assert usage["ann"] > 0 == usage["bob"]
    assert [each["user"] for each in found["waiting"]] == ["bob", "ann"]
    first, second = found["waiting"]
    factor = {each["name"]: each["factor"] for each in found["accounts"]}
    assert first["priority"] == pytest.approx(factor["bob"] + 0.5 * 2 / 8)
    assert second["priority"] == pytest.approx(factor["ann"] + 0.5 * 2 / 8)
    assert "bob" in capsys.readouterr().out


def test_the_commands_act_on_the_live_machine_only_with_live(
    going: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ("--config", str(going.file))
    assert status_of("power", "set", "--live", *config, "--cap", "50%") == 0
    out = capsys.readouterr()
    assert out.out == "the cap is 1,200 W from now on\n"
    assert "takes the cap of its file" in out.err
    for word in ("none", "INFINITE"):  # the most that the site's file allows
        assert status_of("power", "set", "--live", *config, "--cap", word) == 0
        assert capsys.readouterr().out == "the cap is 1,500 W from now on\n"
    assert status_of("power", "set", "--live", *config, "--cap", "1200W") == 0
    capsys.readouterr()
    assert status_of("power", "reserve", "--live", *config, "--start", "2h", "--duration", "1h",
               "--watts", "200", "--name", "noon") == 0
    assert "200 W are reserved (noon)" in capsys.readouterr().out
    assert status_of("power", "show", "--live", *config) == 0
    shown = capsys.readouterr().out
    assert "MinWatts=720 CurrentWatts=720 PowerCap=1200" in shown
    assert "Reservation=noon" in shown
    assert status_of("power", "reserve", "--live", *config, "--remove", "--name", "noon") == 0
    assert status_of("energy", "status", "--live", *config) == 0
    assert "there is no energy budget" in capsys.readouterr().out
    assert status_of("claims", "list", "--live", *config, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"applications": []}
    for words, said in (
        (("power", "show", *config), "--config needs --live"),
        (("power", "show", "week.toml", "--live"), "leave out SCENARIO"),
        (("power", "set", "--live", *config, "--cap", "1kW", "--at", "1h"), "--at does not go"),
        (("power", "set", "--live", *config, "--cap", "1kW", "--at", "0"), "--at does not go"),
        (("power", "set", "--live", *config, "--cap", "1kW", "--floor", "0"), "--floor does not"),
        (("power", "show", "--live", *config, "--nodes", "7"), "--nodes does not go with --live"),
        (("power", "show", "--live", *config, "--at", "0"), "--at does not go"),
        (("power", "reserve", "--live", *config, "--start", "-5", "--duration", "1h", "--watts",
          "10"), "--start -5 is past"),
        (("power", "set", "--live", *config), "nothing to set"),
        (("power", "set", "--live", *config, "--cap", "0"), "or none, for no cap"),
        (("power", "set", "--cap", "1kW"), "Missing argument 'SCENARIO'"),
        (("power", "reserve", "--live", *config), "Missing option '--start'"),
        (("energy", "status"), "Missing argument 'RUN|SCENARIO'"),
        (("controller",), "Missing option '--config'"),
    ):
        assert status_of(*words) == 2
        assert said in capsys.readouterr().err


def test_claims_of_what_runs_are_shown(going: Site, capsys: pytest.CaptureFixture[str]) -> None:
    going.slurm.jobs["7"] = pending("7", 3, name="ep.C")
    until_s = time.monotonic() + 10
    while live_status(going.file)["starting"]["count"] < 1:
        assert time.monotonic() < until_s
        time.sleep(0.01)
    assert status_of("claims", "list", "--live", "--config", str(going.file), "--json") == 0
    row, = json.loads(capsys.readouterr().out)["applications"]
    assert (row["application"], row["running"], row["node_w"]) == ("ep.C", 1, 300.0)


def test_times_are_dates_or_from_now_on() -> None:
    assert moment_s("now", 100.0) == 100.0
    assert moment_s("2h", 100.0) == moment_s("now+2h", 100.0) == 7300.0
    assert moment_s("1970-01-01T01:00:00", 100.0) == 3600.0
    assert moment_s("1970-01-01T01:00:00+01:00", 100.0) == 0.0
