"""Jobs of others that share a node: it is counted once, with the watts of all of them."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.unit.controller.fakes import FakeSlurm

from wattline.books import Ended, Measured, Started
from wattline.controller.asking import watts_of_licences
from wattline.controller.controller import Controller
from wattline.controller.node_power import NodePower
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = tuple(f"n{number}" for number in range(1, 7))
NODES = tuple(SlurmNode(name, ("idle",), 32) for name in NAMES)
OURS = SlurmJob("9", 9, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 9.0, partition="batch",
                licenses={"watts": 200})
OTHER = replace(OURS, label="1", job_id=1, state="RUNNING", partition="other", node_list=("n6",),
                start_s=1.0, submit_s=0.0, licenses={"watts": 100})


def others(count: int) -> list[SlurmJob]:
    return [replace(OTHER, label=str(number), job_id=number, start_s=float(number))
            for number in range(1, count + 1)]


def watcher() -> Watcher:
    power = NodePower.alike(NAMES, 90.0, 300.0)
    return Watcher(NAMES, ["batch"], watts=watts_of_licences(power), node_w=300.0, power=power)


def looked(here: Watcher, *jobs: SlurmJob, nodes=NODES):
    return here.news(Seen(0.0, jobs, nodes))


def test_ours_starts_beside_a_node_that_six_jobs_of_others_share() -> None:
    books = open_books(machine=Machine(nodes=6, node_idle_w=90, node_active_w=300), cap=1500.0,
                       power="block", placement="first-fit")
    slurm = FakeSlurm([*others(6), OURS], NAMES)
    here = Controller(books, slurm, watcher(), act=True, clock=lambda: 1.0)
    done = here.cycle()
    assert [(each.kind, each.job) for each in done.decisions] == [("start", "9")]
    assert [each[:3] for each in slurm.told] == [("start", "9", ["n1"])]
    assert not [line for line in done.remarks if "do not take" in line]
    assert books.power_w == 5 * 90 + (90 + 6 * 10) + (200 - 90)
    # As many run as before when the first of them has ended, less its watts.
    slurm.jobs = [replace(each, state="COMPLETED") if each.label == "1" else each
                  for each in slurm.jobs]
    here.cycle()
    assert books.power_w == 5 * 90 + (90 + 5 * 10) + (200 - 90)
    assert {name for name, told in here.watcher.told.items() if told.running} == {"2", "9"}


def test_the_next_takes_the_place_of_the_first_of_a_node() -> None:
    here = watcher()
    first, second = others(2)
    found = looked(here, first, second)
    assert [each.job for each in found.applied] == ["1"]
    assert found.events == [Started("1", (5,)), Measured(110.0, "1")]
    assert [line for line in found.remarks if "job 2 shares n6" in line]
    for _ in range(3):
        again = looked(here, first, second)
        assert (again.events, again.applied, again.remarks) == ([], [], [])
    after = looked(here, replace(first, state="COMPLETED"), second)
    assert after.events == [Ended("1"), Started("2", (5,))]
    assert here.told["2"].watts == 100.0


def test_jobs_that_say_nothing_draw_what_a_node_does_however_many_they_are() -> None:
    here = watcher()
    silent = [replace(each, licenses={}) for each in others(3)]
    assert looked(here, *silent).events == [Started("1", (5,))]
    assert here.told["1"].watts == 300.0
    looked(here, *silent, replace(OTHER, label="4", start_s=4.0, licenses={"watts": 190}))
    assert here.told["1"].watts == 400.0


def test_what_goes_is_taken_from_the_watts_again() -> None:
    here = watcher()
    first, second = others(2)
    looked(here, first, second)
    gone = looked(here, first, replace(second, state="COMPLETED"))
    assert gone.events == [Measured(100.0, "1")]
    assert here.told["1"].watts == 100.0


def test_a_job_of_two_nodes_counts_the_one_that_nobody_else_has() -> None:
    here = watcher()
    wide = replace(OTHER, label="2", node_list=("n5", "n6"), nodes=2, start_s=2.0,
                   licenses={"watts": 240})
    found = looked(here, OTHER, wide)
    assert found.events == [Started("1", (5,)), Started("2", (4,)), Measured(130.0, "1")]
    assert here.told["2"].watts == 120.0
    alone = looked(here, replace(OTHER, state="COMPLETED"), wide)
    assert [type(each) for each in alone.events] == [Ended, Ended, Started]
    assert here.told["2~1"].nodes == (4, 5)
    assert here.told["2~1"].watts == 240.0


def test_a_node_that_drains_under_them_is_told_once() -> None:
    here = watcher()
    drains = (*NODES[:5], replace(NODES[5], states=("mixed", "drain")))
    looked(here, *others(2), nodes=drains)
    assert looked(here, *others(2), nodes=drains).events == []
