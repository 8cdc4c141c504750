"""Jobs on shared nodes: which CPUs the books count, and whose watts a node's are."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from wattline.books import Ended, NodesDown, Started
from wattline.controller.sharing.licences import allowed_above_w
from wattline.controller.sharing.parts import NodeParts, SharedParts
from wattline.controller.sharing.watching import SharedWatcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.holding import Holding, devices_of, read_holdings
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.model.errors import InputError

PLAIN = NodeParts(4, 100.0, 10.0, {}, {})
GPUS = NodeParts(4, 200.0, 20.0, {"gpu:a100": 2}, {"gpu:a100": 300.0})
PARTS = SharedParts({"n1": PLAIN, "g1": GPUS})
JOB = SlurmJob("7", 7, 0, "RUNNING", 1, 2, 300.0, 0.0, math.nan, 0.0, node_list=("n1",))
CARD = replace(JOB, label="8", job_id=8, cpus=1, node_list=("g1",), tres="cpu=1,gres/gpu=1")


def looked(watcher: SharedWatcher, *jobs: SlurmJob, down: str = ""):
    nodes = tuple(SlurmNode(name, ("down",) if name == down else ("mixed",), 4)
                  for name in ("n1", "g1"))
    return watcher.news(Seen(0.0, jobs, nodes))


def test_each_job_answers_for_its_parts_and_its_share_of_idle_power() -> None:
    watcher = SharedWatcher(PARTS)
    found = looked(watcher, JOB, CARD)
    assert [(each.units, each.watts) for each in found.applied] == [
        (2, 2 * 10.0 + 50.0), (1, 20.0 + 300.0 + 50.0)]
    assert found.events == [Started("7", (0, 1)), Started("8", (4,))]
    assert watcher.node_names((0, 1, 4)) == ["n1", "g1"]


def test_two_jobs_on_one_node_have_cpus_of_their_own_and_give_them_back() -> None:
    watcher = SharedWatcher(PARTS)
    second = replace(JOB, label="9", job_id=9)
    assert looked(watcher, JOB, second).events == [Started("7", (0, 1)), Started("9", (2, 3))]
    # The first has ended and another has its CPUs, which Slurm shows first.
    third = replace(JOB, label="3", job_id=3)
    events = looked(watcher, third, replace(JOB, state="COMPLETED"), second).events
    assert events == [Ended("7"), Started("3", (0, 1))]
    assert looked(watcher, third, second).events == []


def test_a_job_says_how_much_it_adds_by_its_licences() -> None:
    watcher = SharedWatcher(PARTS)
    found = looked(watcher, replace(JOB, licenses={"watts": 80}))
    assert found.applied[0].watts == 80.0 + 50.0
    assert watcher.asked_w(replace(JOB, node_list=(), licenses={"watts": 80})) == 80.0
    assert watcher.asked_w(replace(CARD, node_list=())) == 320.0  # where cards are


def test_a_job_over_several_nodes_is_told_by_what_it_holds_of_each() -> None:
    text = ("JobId=7 JobName=x\n   Nodes=n1 CPU_IDs=0-2 Mem=0 GRES=\n"
            "   Nodes=g1 CPU_IDs=0 Mem=0 GRES=gpu:a100:2(IDX:0-1)\n")
    held = read_holdings(text)
    assert held == {"n1": Holding(3), "g1": Holding(1, {"gpu:a100": 2})}
    watcher = SharedWatcher(PARTS, holdings=lambda job: held)
    found = looked(watcher, replace(JOB, cpus=4, nodes=2, node_list=("n1", "g1")))
    assert found.applied[0].watts == 30.0 + 75.0 + 20.0 + 600.0 + 50.0
    assert found.events == [Started("7", (0, 1, 2, 4))]


def test_devices_of_a_kind_are_counted_once() -> None:
    assert devices_of("cpu=4,mem=1G,gres/gpu=2,gres/gpu:a100=2,gres/fpga=1") == {
        "gpu:a100": 2, "fpga": 1}


def test_a_node_that_is_down_takes_all_its_cpus_with_it() -> None:
    assert looked(SharedWatcher(PARTS), down="g1").events == [NodesDown(nodes=(4, 5, 6, 7))]


@pytest.mark.parametrize(("states", "rests_w"), [
    (("mixed", "reserved"), 50.0), (("mixed", "drain"), 50.0), (("down", "powered_down"), 0.0),
    (("mixed",), 0.0)])
def test_a_node_that_takes_no_jobs_draws_idle_power_beside_those_that_it_has(
    states: tuple[str, ...], rests_w: float
) -> None:
    """Of the job the books count its part of it, of two CPUs of four."""
    watcher = SharedWatcher(PARTS)
    watcher.news(Seen(0.0, (JOB,), (SlurmNode("n1", states, 4), SlurmNode("g1", ("idle",), 4))))
    assert sum(watcher.resting_w(name, 0.0) for name in watcher.resting) == rests_w


def test_what_a_node_draws_is_divided_among_its_jobs_and_none_of_it_is_lost() -> None:
    watcher = SharedWatcher(PARTS)
    wide, small = replace(JOB, cpus=3), replace(JOB, label="9", job_id=9, cpus=1)
    looked(watcher, wide, small)
    drawn = {name: watcher.drawn_w(told, dict.fromkeys(watcher.names, 180.0))
             for name, told in watcher.told.items()}
    assert drawn == {"7": 75.0 + 60.0, "9": 25.0 + 20.0}
    assert math.isnan(watcher.drawn_w(watcher.told["7"], {}))


def test_a_node_wants_its_idle_power_once_and_what_each_job_adds() -> None:
    watcher = SharedWatcher(PARTS)
    looked(watcher, JOB, replace(JOB, label="9", job_id=9, cpus=1))
    assert watcher.wanted_w(lambda name, told: told.watts) == {"n1": 130.0}
    assert watcher.wanted_w(lambda name, told: told.watts + 10.0) == {"n1": pytest.approx(150.0)}


def test_licences_leave_idle_power_aside_and_whatever_no_licence_stands_for() -> None:
    assert allowed_above_w(PARTS, [], 1000.0, PARTS.drawn_w([])) == 700.0
    jobs = [replace(JOB, licenses={"watts": 20}), CARD]
    assert PARTS.drawn_w(jobs) == 640.0
    # The card's 320 W run without licences: 1,000 less 300 idle and these.
    assert allowed_above_w(PARTS, jobs, 1000.0, 640.0) == 380.0
    # A job that draws less than its licences keeps them.
    assert allowed_above_w(PARTS, jobs, 1000.0, 300.0) == 700.0


@pytest.mark.parametrize(("nodes", "more"), [
    (("x1", "x2"), 200), (("n1", "x1"), 100), (("n1", "n2"), 0)])
def test_licences_for_nodes_elsewhere_are_given_beside(nodes: tuple[str, ...], more: int) -> None:
    """Slurm counts them together, and they stand for nothing that is drawn here."""
    job = replace(JOB, nodes=2, cpus=2, node_list=nodes, licenses={"watts": 200})
    drawn_w = 300.0 + 200.0 - more
    assert allowed_above_w(PARTS, [job], 1000.0, drawn_w) == 700.0 + more


def test_a_node_that_the_twin_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="has no node 'x9'"):
        PARTS.of(["n1", "x9"])
