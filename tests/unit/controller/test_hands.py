"""Every kind of decision becomes what Slurm and the nodes are told."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.books import Books, Control, Decision, Measured
from wattline.controller.controller import Controller
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import SlurmJob
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books


def controller(act: bool = True, **policies) -> Controller:
    machine = Machine(nodes=2, node_idle_w=90, node_active_w=300)
    books = open_books(machine=machine, cap=600.0, placement="first-fit",
                       **{"power": "block", **policies})
    made = Controller(books, FakeSlurm(), Watcher(["n1", "n2"], node_w=300.0), act=act,
                      clock=lambda: 0.0)
    made.watcher.told["7"] = Told("7", 2, 60.0, 600.0, (0, 1), True)
    return made


def done(here: Controller, kind: str, power_w: float = 0.0, job: str | None = "7",
         **control) -> list[str]:
    decision = Decision(kind, job, 1.0, power_w, Control(2, **control))
    return here.hands.carry_out(here, [decision], 5.0)


def test_starts_pauses_and_resumes_are_told_to_slurm() -> None:
    here = controller()
    done(here, "start", 600.0, nodes=(1, 0))
    done(here, "pause")
    done(here, "resume", 600.0)
    assert here.slurm.told == [("start", "7", ["n2", "n1"]), ("suspend", "7"), ("resume", "7")]
    assert here.watcher.told["7"].asked_s == 5.0
    assert here.hands.caps.nodes_w == {}


def test_a_job_without_watts_gets_them_as_licences_where_the_site_has_some() -> None:
    here = controller()
    bare = SlurmJob("7", 7, 0, "PENDING", 2, 2, 300.0, math.nan, math.nan, 0.0)
    here.watcher.told["7"].row = bare
    done(here, "start", 600.0, nodes=(0, 1))
    here.hands.licences = True
    done(here, "start", 600.0, nodes=(0, 1))
    here.watcher.told["7"].row = replace(bare, licenses={"watts": 500})
    done(here, "start", 500.0, nodes=(0, 1))
    start = ("start", "7", ["n1", "n2"])
    assert here.slurm.told == [start, (*start, 600), start]


def test_a_job_that_is_to_run_slower_gets_caps_on_its_nodes() -> None:
    here = controller()
    done(here, "speed", 400.0, frequency_share=0.7)
    assert here.hands.caps.nodes_w == {"n1": 200.0, "n2": 200.0}
    done(here, "speed", 600.0, frequency_share=1.0)
    assert here.hands.caps.nodes_w == {}
    done(here, "start", 500.0, nodes=(0, 1), cap_w=250.0, node_caps_w=(240.0, 260.0))
    assert here.hands.caps.nodes_w == {"n1": 240.0, "n2": 260.0}
    done(here, "speed", 600.0, cap_w=math.inf)
    assert here.hands.caps.nodes_w == {}


def test_a_configuration_becomes_nodes_licences_words_and_caps_of_nodes() -> None:
    """A row of a table: one node of 180 W, with a cap of its sockets that no node could hold."""
    here = controller()
    here.watcher.told["7"].running = False
    done(here, "start", 180.0, nodes=(1,), cores=16, cap_w=65.0)
    assert here.slurm.told == [("start", "7", ["n2"], 180, "wattline: cores=16 cap_w=65")]
    assert here.hands.caps.nodes_w == {"n2": 180.0}
    told = here.watcher.told["7"]
    assert (told.units, told.watts) == (1, 300.0)


def test_what_claims_choose_is_said_by_the_name_of_the_class() -> None:
    here = controller()
    done(here, "start", 400.0, nodes=(0, 1), node_class=0, threads=4, inner_threads=2)
    assert here.slurm.told[0][-1] == "wattline: class=node threads=4x2"
    assert here.hands.caps.nodes_w == {}


def moldable_books(**more: str) -> Books:
    machine = Machine(nodes=2, node_idle_w=60, node_active_w=300)
    return open_books(machine=machine, cap=600.0, power="watts", placement="first-fit",
                      configure={"name": "naive", **more})


def test_a_job_that_nobody_measured_starts_as_it_was_requested() -> None:
    job = SlurmJob("7", 7, 0, "PENDING", 2, 2, 300.0, math.nan, math.nan, 0.0, name="x")
    here = Controller(moldable_books(), FakeSlurm([job]), Watcher(["n1", "n2"], molds=True),
                      act=True, clock=lambda: 0.0)
    said, = here.cycle().remarks
    assert said.startswith("job 7: 'x' has no table of configurations")
    started = [told for told in here.slurm.told if told[0] == "start"]
    assert [told[1] for told in started] == ["7"]
    assert here.books.state.live[0].watts == 2 * 300.0


def test_a_job_that_the_books_do_not_take_says_why() -> None:
    books = moldable_books(unknown="refuse")
    job = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0, name="x")
    here = Controller(books, FakeSlurm([job]), Watcher(["n1", "n2"], molds=True), act=True,
                      clock=lambda: 0.0)
    assert "there is no application 'x'" in here.cycle().remarks[0]
    assert here.slurm.told[0][:2] == ("explain", "7")
    assert "there is no application 'x'" in here.slurm.told[0][2]
    assert here.cycle().remarks == ()


def test_a_level_of_the_machine_holds_for_all_jobs_that_run() -> None:
    here = controller()
    done(here, "level", 0.75, job=None, frequency_share=0.8)
    assert here.hands.caps.nodes_w == pytest.approx({"n1": 225.0, "n2": 225.0})
    done(here, "level", 1.0, job=None, frequency_share=1.0)
    assert here.hands.caps.nodes_w == {}


def test_nodes_are_switched_and_then_not_taken_for_broken() -> None:
    here = controller()
    done(here, "down", job=None, nodes=(1,))
    assert here.slurm.told == [("power", ["n2"], False)]
    assert here.watcher.off == {"n2"}
    done(here, "up", job=None, nodes=(1,))
    assert here.watcher.off == set()


def test_a_refused_job_is_told_why() -> None:
    here = controller()
    assert "could never start" in done(here, "refuse")[0]
    assert here.slurm.told[0][:2] == ("explain", "7")


@pytest.mark.parametrize("kind", ["start", "pause", "resume", "speed", "level", "down", "refuse"])
def test_a_dry_run_only_says_what_it_would(kind: str) -> None:
    here = controller(act=False)
    assert len(done(here, kind, 600.0, nodes=(0,))) == 1
    assert here.slurm.told == []
    assert here.hands.caps.nodes_w == {}


def test_nothing_is_asked_or_written_where_nothing_happens() -> None:
    lines: list[str] = []
    machine = Machine(nodes=2, node_idle_w=90, node_active_w=300)
    books = open_books(machine=machine, cap=600.0, power="block", placement="first-fit",
                       journal=lines.append)
    here = Controller(books, FakeSlurm(), Watcher(["n1", "n2"]), act=True, clock=lambda: 1.0)
    for _ in range(3):
        here.cycle()
    assert len(lines) == 1
    heard: list[float] = []
    here.listeners = [lambda cycle: heard.append(cycle.time_s)]
    here.slurm.fails = True
    assert not here.cycle().looked
    assert heard == [1.0]


def test_a_clock_that_is_set_back_stands_still_for_the_books() -> None:
    here = controller()
    times = iter([100.0, 40.0, 101.0])
    here.clock = lambda: next(times)
    here.sources = [lambda now_s: [Measured(700.0 + now_s)]]
    assert [here.cycle().time_s for _ in range(3)] == [100.0, 100.0, 101.0]
    assert here.books.now_s == 101.0
