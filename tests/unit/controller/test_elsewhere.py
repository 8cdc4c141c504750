"""Jobs on nodes that the site's file does not name: what of them is on ours is counted."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.books import Cancelled, Ended, Started
from wattline.controller.asking import watts_of_licences
from wattline.controller.controller import Controller
from wattline.controller.elsewhere import part_here
from wattline.controller.node_power import NodePower
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

OURS = ("n1", "n2", "n3")
NODES = tuple(SlurmNode(name, ("idle",), 32) for name in (*OURS, "x1", "x2"))
WAITS = SlurmJob("7", 7, 0, "PENDING", 4, 128, 300.0, math.nan, math.nan, 0.0)
SPREAD = replace(WAITS, state="RUNNING", node_list=("n2", "n3", "x1", "x2"),
                 licenses={"watts": 1201, "x": 3})
AWAY = replace(WAITS, state="RUNNING", node_list=("x1", "x2"), nodes=2)


def watcher() -> Watcher:
    return Watcher(OURS, watts=watts_of_licences(NodePower.alike(OURS, 90.0, 300.0)), node_w=300.0)


def looked(here: Watcher, *jobs: SlurmJob):
    return here.news(Seen(0.0, jobs, NODES))


@pytest.mark.parametrize(("licences", "watts"), [
    ({"watts": 1201}, 601.0), ({}, 600.0), ({"watts": 4}, 180.0)])
def test_a_job_that_is_partly_elsewhere_holds_its_nodes_and_watts_here(
    licences: dict[str, int], watts: float
) -> None:
    here = watcher()
    job = replace(SPREAD, licenses=licences)
    first = looked(here, job)
    assert first.events == [Started("7", (1, 2))]
    assert (here.told["7"].units, here.told["7"].watts) == (2, watts)
    said = [line for line in first.remarks if "does not name" in line]
    assert said == ["job 7 runs on x[1-2], which the site's file does not name, and on n[2-3]: "
                    "only that part of it is counted"]
    for _ in range(3):
        again = looked(here, job)
        assert (again.events, again.remarks) == ([], [])
    assert looked(here, replace(job, state="COMPLETED")).events == [Ended("7")]


def test_the_books_start_nothing_on_nodes_that_it_holds() -> None:
    machine = Machine(nodes=3, node_idle_w=90, node_active_w=300)
    books = open_books(machine=machine, cap=900.0, power="block", placement="first-fit")
    slurm = FakeSlurm([SPREAD, replace(WAITS, label="8", nodes=2, licenses={"watts": 240})],
                      (*OURS, "x1"))
    here = Controller(books, slurm, watcher(), act=True, clock=lambda: 0.0)
    here.cycle()
    here.cycle()
    assert not [words for words in slurm.told if words[0] == "start"]
    assert here.books.power_w == pytest.approx(90.0 + 601.0)
    slurm.jobs[0] = replace(SPREAD, state="COMPLETED")
    here.cycle()
    assert [words[:2] for words in slurm.told if words[0] == "start"] == [("start", "8")]


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("node_list", [("x1", "x2"), ("n1", "x1")])
def test_a_job_of_ours_that_slurm_lets_run_elsewhere_is_said_once(
    asked: bool, node_list: tuple[str, ...]
) -> None:
    here = watcher()
    looked(here, replace(WAITS, nodes=2))
    if asked:
        here.asked("7", 0.0, by_slurm=True)
        here.told["7"].resize((1, 2))
    there = replace(AWAY, node_list=node_list)
    first = looked(here, there)
    over = Ended("7", False) if asked else Cancelled("7")
    assert first.events[0] == over
    assert first.events[1:] == ([Started("7~1", (0,))] if "n1" in node_list else [])
    assert sum("does not name" in line for line in first.remarks) == 1
    for _ in range(2):
        again = looked(here, there)
        assert (again.events, again.remarks) == ([], [])


@pytest.mark.parametrize("state", ["RUNNING", "CONFIGURING", "COMPLETING", "COMPLETED"])
def test_jobs_that_are_all_elsewhere_are_of_no_matter(state: str) -> None:
    here = watcher()
    found = looked(here, replace(AWAY, state=state))
    assert (found.events, found.applied, found.remarks) == ([], [], [])
    assert here.told == {}


@pytest.mark.parametrize("node_list", [(), ("n1",), OURS])
def test_a_job_that_is_all_here_is_itself(node_list: tuple[str, ...]) -> None:
    job = replace(SPREAD, node_list=node_list)
    assert part_here(job, OURS) is job
    part = part_here(SPREAD, OURS)
    assert (part.nodes, part.most_nodes, part.cpus) == (2, 2, 64)
    assert part.licenses == {"watts": 601, "x": 3}
