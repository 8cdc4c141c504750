"""The policy of a controller that runs is changed by an order, and its journal replays."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.support.live_folder import write_site
from tests.unit.controller.fakes import FakeSlurm

import wattline as wl
from wattline.books.journal import read_journal
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.desk import open_desk
from wattline.controller.remembering import Remembered, open_remembered
from wattline.controller.speaking import live_order, live_status
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import SlurmJob

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


def pending(label: str, nodes: int, limit_s: float) -> SlurmJob:
    return SlurmJob(label, int(label), 0, "PENDING", nodes, nodes, limit_s, math.nan, math.nan,
                    float(label), user="ann", comment="wattline")


@dataclass
class Going:
    """A controller whose cycles a thread runs, and whose jobs run where it starts them."""

    file: Path
    site: SiteConfig
    kept: Remembered
    slurm: FakeSlurm
    controller: Controller

    @classmethod
    def made(cls, file: Path, slurm: FakeSlurm) -> Going:
        site = read_configuration(file)
        kept = open_remembered(site, Path(site.folder), time.time(), act=True)
        controller = Controller(
            kept.books, slurm, Watcher(site.node_names, node_w=site.node_active_w, mark=site.mark,
                                       decides=site.mode == "decide"), act=True)
        open_desk(controller, site, remembers=True)
        return cls(file, site, kept, slurm, controller)

    def cycle(self) -> None:
        self.controller.cycle()
        for kind, label, *more in self.slurm.told:
            if kind == "start":
                self._show(label, state="RUNNING", node_list=tuple(more[0]))
        self.slurm.told.clear()

    def _show(self, label: str, **more: object) -> None:
        self.slurm.jobs = [replace(job, **more) if job.label == label else job
                           for job in self.slurm.jobs]

    def running(self) -> list[str]:
        return [job.label for job in self.slurm.jobs if job.state == "RUNNING"]

    def end(self, label: str) -> None:
        self._show(label, state="COMPLETED")

    def __enter__(self) -> Going:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self) -> None:
        while not self._stop.is_set():
            self.cycle()
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.fixture
def going(tmp_path: Path) -> Going:
    """Of four nodes three are busy; a long job and then a short one wait for all of them."""
    file = write_site(tmp_path, nodes=4)
    site = Going.made(file, FakeSlurm(
        [pending("1", 3, 600.0), pending("2", 4, 6000.0), pending("3", 4, 60.0)],
        ("n1", "n2", "n3", "n4")))
    site.cycle()
    site.cycle()
    assert site.running() == ["1"]
    return site


def test_shortest_first_is_ordered_starts_the_shorter_and_replays(going: Going) -> None:
    with going:
        found = live_order(going.file, "set_policy", changes={"policy.order": "sjf"}, within_s=60)
        status = live_status(going.file)
    assert found.said.startswith("from now on: order sjf, backfill easy")
    assert status["policy"]["order"] == "sjf"
    assert going.running() == ["1"]
    going.end("1")
    going.cycle()
    going.cycle()
    assert going.running() == ["3"]  # by first come it would be 2
    going.kept.close()
    again = wl.replay(going.kept.path)
    assert again.equal
    assert again.result.decisions == 2
    changes = [entry.policy for entry in read_journal(going.kept.path.read_text(), "").entries()
               if entry.policy]
    assert [each["scenario"]["policy"]["order"] for each in changes] == ["sjf"]


@pytest.mark.parametrize("saved", [True, False])
def test_a_controller_that_is_started_again_goes_on_with_what_was_ordered(
    going: Going, saved: bool
) -> None:
    with going:
        live_order(going.file, "set_policy", changes={"policy.order": "sjf"}, within_s=60)
    if saved:
        going.kept.save(going.controller.books)
    going.kept.close()
    there = open_remembered(going.site, Path(going.site.folder), time.time(), act=True)
    said, = there.remarks
    assert said.startswith("the policy that was ordered goes on, not that of the file: order sjf")
    assert there.books.scenario == going.controller.books.scenario
    there.largest_bytes = 1
    there.save_as_they_are(there.books, time.time() + 100)  # a page is turned
    there.books.step(time.time() + 101, [])
    there.close()
    journals = sorted(Path(going.site.folder).glob("*.journal"))
    assert len(journals) == 2
    assert all(wl.replay(each).equal for each in journals)
    now = wl.advise_policy(live=going.file, samples=1, candidates=["fcfs"])
    assert [each.name for each in now.candidates] == ["as it is", "fcfs"]
    assert now.waiting == 2


def test_one_round_of_the_supervisor_says_what_it_would_change_and_with_act_does(
    going: Going
) -> None:
    with going:
        dry, = wl.follow_policy(going.file, rounds=1, candidates=["sjf"], samples=2)
        assert live_status(going.file)["policy"]["order"] == "fcfs"
        done, stays = wl.follow_policy(going.file, rounds=2, act=True, candidates=["sjf"],
                                       samples=2, sleep=lambda seconds: None)
    assert dry.changes == {"policy.order": "sjf"}
    assert dry.why.startswith("sjf promises wait_s")
    assert dry.done == ""
    assert done.done.startswith("from now on: order sjf")
    assert stays.changes == {}
    assert stays.advice is not None
    assert [each.name for each in stays.advice.candidates] == ["as it is", "as at first"]
    assert stays.advice.candidates[1].changes == {"policy.order": "fcfs"}
    going.kept.close()
    assert wl.replay(going.kept.path).equal


def test_there_is_a_way_back_to_the_cap_of_the_first_look(going: Going) -> None:
    def lower(_: float) -> None:
        live_order(going.file, "set_cap", watts=900.0)
        live_order(going.file, "set_policy", changes={"policy.order": "wfp"}, within_s=60)

    with going:
        first, later = wl.follow_policy(going.file, rounds=2, candidates=["sjf", "wfp cap=900W"],
                                        samples=1, sleep=lower)
    assert first.advice is not None
    assert later.advice is not None
    cap_w = 1e6  # of `write_site`
    assert [(each.name, dict(each.changes)) for each in later.advice.candidates] == [
        ("as it is", {}), ("sjf", {"policy.order": "sjf", "power.cap": cap_w}),
        ("as at first", {"policy.order": "fcfs", "power.cap": cap_w})]


@pytest.mark.parametrize(("changes", "said"), [
    ({}, "`changes` is missing"),
    ({"power.cap": 500}, "order set_cap"),
    ({"machine.nodes": 5}, "is no part of the policy"),
    ({"policy.order": "fastest"}, "fastest"),
    ({"policy.placement": "counted"}, "only counts units"),
    ({"policy.configure": "moldable"}, "where nodes and threads of jobs are chosen"),
    ({"policy.power": "budget"}, "counts what was used"),
])
def test_what_cannot_be_changed_is_refused_in_a_sentence(
    going: Going, changes: dict[str, object], said: str
) -> None:
    before = going.controller.books.scenario
    with going, pytest.raises(wl.InputError, match=said) as caught:
        live_order(going.file, "set_policy", changes=changes, within_s=60)
    assert "\n" not in str(caught.value)
    assert going.controller.books.scenario == before
    going.kept.close()


def test_in_guard_mode_there_is_no_policy_to_change(tmp_path: Path) -> None:
    file = write_site(tmp_path, nodes=4, more='mode = "guard"')
    going = Going.made(file, FakeSlurm([], ("n1", "n2", "n3", "n4")))
    going.cycle()
    with going, pytest.raises(wl.InputError, match="in guard mode Slurm starts the jobs"):
        live_order(file, "set_policy", changes={"policy.order": "sjf"}, within_s=60)
    going.kept.close()
