"""Nodes that users, partitions and Slurm allow a job: kept, and never tried elsewhere for ever."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.test_modes import OneSlurm

from wattline.books import Books
from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.lease import hand_over
from wattline.controller.serving import serving
from wattline.controller.watching import Watcher
from wattline.controller.writings import Written, keep_written, kept_written
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import BAD_CONSTRAINTS, SlurmJob, SlurmNode
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = ("n1", "n2", "n3", "n4")
SUB = "sub"
"""A partition of n4 alone."""


@dataclass(frozen=True)
class Choosy(OneSlurm):
    """Starts jobs only where they may run, at once, and holds those that it has no nodes for."""

    cannot: dict[str, set[str]] = field(default_factory=dict)
    """By label the nodes on which a job cannot run: excluded, or without what it asks for."""
    clock: list[float] = field(default_factory=lambda: [1000.0])

    def ask(self, label: str, *, own: str = "", cannot: str = "", **more: Any) -> None:
        self.submit(label, submit_s=float(label), required_nodes=tuple(own.split()), **more)
        self.cannot[label] = set(cannot.split())

    def look(self) -> Seen:
        return Seen(self.clock[0], tuple(self.jobs.values()), tuple(
            SlurmNode(name, ("idle",), 1, ("batch", SUB) if name == "n4" else ("batch",))
            for name in NAMES))

    def start(self, label: str, nodes: Any, **more: Any) -> None:
        job = self.jobs[label]
        named = (job.required_nodes if more.get("own") else
                 () if more.get("anywhere") else tuple(nodes))
        self.jobs[label] = job = replace(job, required_nodes=named)
        fits = [name for name in NAMES if name not in self.cannot[label]
                and (job.partition != SUB or name == "n4")]
        busy = {name for each in self.jobs.values() for name in each.node_list
                if each.state == "RUNNING"}
        if not set(named) <= set(fits) or len(fits) < len(nodes):
            self.jobs[label] = replace(job, reason=BAD_CONSTRAINTS)
            return
        free = [name for name in (*named, *fits) if name not in busy]
        self.run(label, *list(dict.fromkeys(free))[:len(nodes)])

    def release(self, label: str, *, anywhere: bool = False) -> None:
        self.starts.append(label)
        super().release(label)
        if anywhere:
            self.jobs[label] = replace(self.jobs[label], required_nodes=())

    def end(self, label: str) -> None:
        self.jobs[label] = replace(self.jobs[label], state="COMPLETED")


@pytest.fixture
def choosy() -> Choosy:
    return Choosy()


def controller(slurm: Choosy) -> Controller:
    machine = Machine(nodes=len(NAMES), node_idle_w=90, node_active_w=300)
    books: Books = open_books(machine=machine, cap=1200.0, placement="first-fit", power="block",
                              start_s=1000.0)
    return Controller(books, slurm, Watcher(NAMES, node_w=300.0, mark="wattline"), act=True,
                      clock=lambda: slurm.clock[0])


def until(here: Controller, slurm: Choosy, seconds: float) -> list[str]:
    """Remarks of the cycles of some seconds."""
    said: list[str] = []
    for _ in range(int(2 * seconds)):
        slurm.clock[0] += 0.5
        said += here.cycle().remarks
    return said


@pytest.mark.parametrize("others", [0, 1, 2])
@pytest.mark.parametrize(("asked", "nodes", "runs_on"), [
    ({"own": "n4"}, 1, {"n4"}), ({"own": "n3 n4"}, 2, {"n3", "n4"}), ({"own": "n4"}, 2, {"n4"}),
    ({"partition": SUB}, 1, {"n4"}), ({"cannot": "n1 n2 n3"}, 1, {"n4"}),
    ({"own": "n4", "partition": SUB}, 1, {"n4"}), ({"cannot": "n4"}, 1, set())])
def test_a_job_runs_on_nodes_that_it_may_have(
    choosy: Choosy, asked: dict[str, Any], nodes: int, runs_on: set[str], others: int
) -> None:
    """First fit would give it n1; jobs beside it, before it and behind it, have the rest."""
    here = controller(choosy)
    for number in range(others):
        choosy.ask(f"{1 + 9 * number}")
    choosy.ask("5", nodes=nodes, **asked)
    until(here, choosy, 12)
    found = choosy.jobs["5"]
    assert found.state == "RUNNING"
    assert runs_on <= set(found.node_list)
    assert len(found.node_list) == nodes
    assert not set(found.node_list) & choosy.cannot["5"]
    assert found.required_nodes == tuple(asked.get("own", "").split()) or not asked.get("own")
    assert all(job.state == "RUNNING" for job in choosy.jobs.values())
    on = [name for job in choosy.jobs.values() for name in job.node_list]
    assert len(on) == len(set(on))
    # The books have followed: they would start another on what is really free.
    assert {name: set(here.watcher.node_names(here.watcher.told[name].nodes))
            for name in choosy.jobs} == {name: set(job.node_list)
                                         for name, job in choosy.jobs.items()}
    assert here.books.power_w == 360.0 + 210.0 * (nodes + others)


def test_nodes_that_are_in_use_are_waited_for_and_slurm_is_not_asked(choosy: Choosy) -> None:
    here = controller(choosy)
    for label in ("1", "2", "3", "4"):
        choosy.ask(label)
    until(here, choosy, 1)
    choosy.end("1")
    choosy.ask("5", own="n4")
    said = until(here, choosy, 60)
    assert choosy.starts == ["1", "2", "3", "4"]
    assert said == []
    sentence = explained(here, SiteConfig.model_construct(), {"job": "5"}).said
    assert "it asks for n4, which is not free" in sentence
    choosy.end("4")
    until(here, choosy, 6)
    assert choosy.jobs["5"].node_list == ("n4",)


def test_what_slurm_has_no_nodes_for_is_tried_twice_said_once_and_left(choosy: Choosy) -> None:
    here = controller(choosy)
    choosy.ask("5", cannot=" ".join(NAMES))
    choosy.ask("6")
    tried: list[str] = []
    before = Choosy.start

    def counted(self: Choosy, label: str, nodes: Any, **more: Any) -> None:
        tried.append(label)
        before(self, label, nodes, **more)

    object.__setattr__(choosy, "start", counted.__get__(choosy))
    said = until(here, choosy, 400)
    assert tried.count("5") == 2
    assert [line for line in said if "is not decided upon" in line] == [
        line for line in said if line.startswith("job 5 is not decided upon: Slurm finds no nodes")]
    assert sum("is not decided upon" in line for line in said) == 1
    assert "BadConstraints" in choosy.jobs["5"].admin_comment
    assert choosy.jobs["6"].state == "RUNNING"
    assert here.books.power_w == 360.0 + 210.0
    found = explained(here, SiteConfig.model_construct(), {"job": "5"})
    assert found.result["reason"] == "not managed"
    assert "BadConstraints" in found.said
    # A node comes back and lacks the same.
    here.watcher.down.add("n3")
    until(here, choosy, 20)
    assert tried.count("5") == 4
    # Its user asks for less.
    choosy.cannot["5"] = set()
    choosy.jobs["5"] = replace(choosy.jobs["5"], tres="cpu=1,mem=100M", reason="JobHeldUser")
    until(here, choosy, 2)
    assert choosy.jobs["5"].state == "RUNNING"


def test_a_start_that_slurm_refuses_waits_twice_as_long_each_time() -> None:
    """Also where Slurm says so by holding the job, and not by an error."""
    job = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0)
    watcher = Watcher(["n1"])
    nodes = (SlurmNode("n1", ("idle",), 1),)
    waits = []
    watcher.news(Seen(0.0, (job,), nodes))
    for number in range(8):
        watcher.asked("7", 100.0 * number)
        refused = replace(job, reason=BAD_CONSTRAINTS)
        event, = watcher.news(Seen(100.0 * number + 0.5, (refused,), nodes)).events
        waits.append(event.backoff_s)
        assert event.reason == BAD_CONSTRAINTS
    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 320.0]


Handing = Callable[[SiteConfig, Choosy], None]


def by_watchdog(site: SiteConfig, slurm: Choosy) -> None:
    with serving(site, act=True, slurm=slurm) as here:
        here.cycle()
    hand_over(site, slurm, 900.0)


def by_stop(site: SiteConfig, slurm: Choosy) -> None:
    with serving(site.model_copy(update={"when_stopped": "guard"}), act=True, slurm=slurm) as here:
        here.cycle()


def by_mode(site: SiteConfig, slurm: Choosy) -> None:
    with serving(site, act=True, slurm=slurm) as here:
        here.cycle()
    with serving(site, act=True, slurm=slurm, mode="guard") as here:
        here.cycle()
        here.cycle()


@pytest.mark.parametrize("hand", [by_watchdog, by_stop, by_mode])
def test_who_hands_jobs_to_slurm_keeps_users_nodes_and_the_queues_order(
    site: SiteConfig, hand: Handing
) -> None:
    """Lists of ours are taken back, also those of a controller before; squeue prints them newest
    first, and jobs of one second by number."""
    slurm = Choosy()
    submitted = {"13": 30.0, "12": 20.0, "11": 20.0, "9": 20.0, "10": 40.0}
    for label, submit_s in submitted.items():
        slurm.submit(label, nodes=4, submit_s=submit_s, licenses={"watts": 1200})  # never under 900
        slurm.cannot[label] = set()
    slurm.jobs["12"] = replace(slurm.jobs["12"], required_nodes=("n4",))
    slurm.jobs["13"] = replace(slurm.jobs["13"], required_nodes=("n2", "n3"))
    Path(site.folder).mkdir(exist_ok=True)
    keep_written(Path(site.folder), {"13": Written(("n3", "n2")), "99": Written()})
    hand(site, slurm)
    assert slurm.starts == ["9", "11", "12", "13", "10"]
    assert {label: job.required_nodes for label, job in slurm.jobs.items()} == {
        "9": (), "10": (), "11": (), "12": ("n4",), "13": ()}


def test_the_order_of_a_policy_comes_before_that_of_submission(site: SiteConfig) -> None:
    slurm = Choosy()
    sorted_by_length = site.model_copy(update={
        "policy": site.policy.model_copy(update={"order": "sjf"}), "when_stopped": "guard"})
    slurm.submit("1", nodes=2, submit_s=1.0, limit_s=6000.0)
    slurm.submit("2", nodes=1, submit_s=2.0, limit_s=4000.0)
    slurm.submit("3", nodes=1, submit_s=3.0, limit_s=5000.0)
    slurm.submit("8", nodes=4, submit_s=0.0, comment="")
    slurm.run("8", *NAMES)
    with serving(sorted_by_length, act=True, slurm=slurm) as here:
        here.cycle()
    assert slurm.starts == ["8", "2", "3", "1"]


def test_a_file_of_named_jobs_that_is_damaged_names_none(tmp_path: Path) -> None:
    assert kept_written(tmp_path) == {}
    both = {"1": Written(("n1", "n2"), 2, 600, 1, 2), "2": Written(asked_watts=5),
            "3_1": Written(())}
    keep_written(tmp_path, both)
    assert kept_written(tmp_path) == both
    (tmp_path / "named.json").write_text('["1", "2"]')  # of an earlier version
    assert kept_written(tmp_path) == {"1": Written(), "2": Written()}
    for damaged in ("{", "5", '{"1": 2}', '{"1": {"strange": 2}}'):
        (tmp_path / "named.json").write_text(damaged)
        assert kept_written(tmp_path) == {}
