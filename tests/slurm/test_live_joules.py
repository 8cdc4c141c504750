"""Joules of every job on a live machine: in the ledger, in its comment, and beside the truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tomli_w

import wattline as wl
from tests.slurm.bedside import LONG_S, OURS, held_j, runs, slurm, stay, submit, until
from tests.slurm.pace import Pace
from wattline.account.measured.from_sacct import read_sacct
from wattline.controller.configuration import read_configuration
from wattline.controller.serving import serving
from wattline.controller.testbed.agents import agents_of
from wattline.controller.testbed.conditions import Conditions
from wattline.controller.testbed.daemons import Daemons
from wattline.controller.testbed.emulator import OFF
from wattline.controller.testbed.faults import Faults
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import run_workload
from wattline.controller.testbed.workload import BedJob

POLICIES = {"power": "block", "placement": "first-fit"}


def jobs(count: int, least_s: float) -> list[BedJob]:
    return [BedJob(number, number, least_s + number % 3, 60.0, 1 + number % 2, 230.0)
            for number in range(count)]


def test_each_job_has_its_joules_in_the_ledger_and_in_its_comment(bed: Bed) -> None:
    """Jobs of two seconds and more, by the ledger to three per cent."""
    found = run_workload(bed, jobs(5, 2.0), Conditions(1300.0, policies=POLICIES))
    assert found.energy_error_max <= 0.03
    assert [(life.state, life.source) for life in found.joules] == [("COMPLETED", "series")] * 5
    store = bed.folder / "controller" / "ledger.db"
    for life in found.joules:
        said = slurm(bed, "sacct", "-n", "-X", "-P", "-j", life.job, "-o", "AdminComment")
        assert said == f"energy={life.ledger_j:.0f}j"
        steps = wl.account_job(life.job, store).lives[-1]["steps"]
        assert {step["source"] for step in steps} == {"series"}
        # They run a little shorter than prolog to epilog, and are known by whole seconds.
        assert 0.4 * life.ledger_j < max(step["energy_j"] for step in steps) <= life.ledger_j + 1
    beside = wl.account_compare(store, jobs=[life.job for life in found.joules])
    assert len(beside.rows) == 5
    assert 0.0 < beside.apart_max < 0.5


def test_a_job_whose_node_loses_power_has_nothing_of_what_the_node_drew_afterwards(
    bed: Bed, tmp_path: Path
) -> None:
    """The node is back in power for three seconds before its slurmd runs the job's epilog."""
    agents = agents_of(bed)
    broker = tomli_w.dumps({"broker": agents.pop("broker")})
    (tmp_path / "site.toml").write_text(
        'nodes = "n[0001-0006]"\nnode_idle_w = 90\nnode_active_w = 300\ncap = 1300\n'
        f'slurm_conf = "{bed.configuration}"\nfolder = "controller"\n'
        + tomli_w.dumps(agents) + broker)
    daemons = Daemons(bed)
    with serving(read_configuration(tmp_path / "site.toml"), act=True) as here:
        def cycles(ready: Callable[[], bool]) -> None:
            until(lambda: here.cycle().looked and ready())

        def seconds(count: float) -> None:
            until_s = time.monotonic() + count
            cycles(lambda: time.monotonic() >= until_s)

        job = submit(bed, LONG_S, 250, *OURS, "--no-requeue", "-N", "1", "-t", "20")
        cycles(lambda: runs(bed, job))
        seconds(6)
        node = slurm(bed, "squeue", "-h", "-j", job, "-o", "%N")
        try:
            (bed.meters / node / OFF).touch()
            daemons.kill_node(node)
            slurm(bed, "scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
            seconds(2)
        finally:
            (bed.meters / node / OFF).unlink()
        seconds(3)
        daemons.start_node(node)
        daemons.resume([node])
        cycles(lambda: node not in here.watcher.down)
        seconds(2)
    true_j, = held_j(bed, job)
    life = wl.account_job(job, tmp_path / "controller" / "ledger.db").lives[-1]
    assert life["state"] == "NODE_FAIL"
    # What was drawn between the last reading before and the first one after is divided by time.
    assert 0.8 * true_j < life["energy_j"] <= 1.03 * true_j


@pytest.mark.long
def test_joules_are_right_when_nodes_die_clocks_are_wrong_and_messages_are_lost(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, pace: Pace
) -> None:
    kinds = ("a node dies with its job:", "messages of agents are lost", "a clock is set wrong:",
             "slurmdbd is restarted", "the agents are killed")
    monkeypatch.setattr(Faults, "KINDS", {name: Faults.KINDS[name] for name in kinds})
    begin_s = time.time()
    found = run_workload(bed, [BedJob(number, 2.0 * number, 2.0 + number % 5, 60.0, 1 + number % 3,
                                      230.0) for number in range(16)],
                         Conditions(1300.0, policies=POLICIES, faults=7))
    assert (found.finished, found.lost, found.doubled) == (16, (), ())
    assert found.above_cap_s_max <= 2.0 * pace.slowest(begin_s)
    assert found.replay_equal
    assert found.energy_error_max <= 0.03


@pytest.fixture
def other(bed: Bed) -> Iterator[str]:
    """A partition that is left to Slurm, whose jobs may be on one node."""
    slurm(bed, "scontrol", "create", "PartitionName=other", "Nodes=n0006", "OverSubscribe=NO")
    yield "other"
    slurm(bed, "scancel", "-p", "other")
    until(lambda: not slurm(bed, "squeue", "-h"))
    slurm(bed, "scontrol", "delete", "PartitionName=other")


def test_jobs_that_give_a_node_back_or_share_one_have_what_was_drawn_in_their_time(
    bed: Bed, tmp_path: Path, other: str
) -> None:
    """Slurm runs the epilog of a node when a running job is made smaller. Of two jobs on one node
    the first is there until the other is gone: together they have what the node drew for it."""
    agents = agents_of(bed)
    broker = tomli_w.dumps({"broker": agents.pop("broker")})
    (tmp_path / "site.toml").write_text(
        'nodes = "n[0001-0006]"\nnode_idle_w = 90\nnode_active_w = 300\ncap = 1300\n'
        f'slurm_conf = "{bed.configuration}"\nfolder = "controller"\n'
        + tomli_w.dumps(agents) + broker)
    with serving(read_configuration(tmp_path / "site.toml"), act=True) as here:
        def cycles(ready: Callable[[], bool]) -> None:
            until(lambda: here.cycle().looked and ready())

        def seconds(count: float) -> None:
            until_s = time.monotonic() + count
            cycles(lambda: time.monotonic() >= until_s)

        job = submit(bed, LONG_S, 200, *OURS, "-N", "2", "-t", "20")
        first = submit(bed, LONG_S, 150, "-p", other, "-n", "2", "-t", "20")
        cycles(lambda: runs(bed, job) and runs(bed, first))
        second = submit(bed, LONG_S, 150, "-p", other, "-n", "2", "-t", "20")
        cycles(lambda: runs(bed, second))
        seconds(3)
        before_s = time.time()
        slurm(bed, "scontrol", "update", f"JobId={job}", "NumNodes=1")
        seconds(4)
        slurm(bed, "scancel", job, second)
        cycles(lambda: len(held_j(bed, job)) == 2 and bool(held_j(bed, second)))
        slurm(bed, "scancel", first)
        cycles(lambda: bool(held_j(bed, first)))
        seconds(1)
    store = tmp_path / "controller" / "ledger.db"
    lives = {each: wl.account_job(each, store).lives[-1] for each in (job, first, second)}
    shared = [lives[each]["energy_j"] for each in (first, second)]
    assert min(shared) > 0.0
    assert sum(shared) == pytest.approx(sum(held_j(bed, first)), rel=0.03)
    found, truth = lives[job], held_j(bed, job)
    assert max(truth) > 1.5 * min(truth)
    assert found["energy_j"] == pytest.approx(sum(truth), rel=0.03)
    assert_told_by_accounting(bed, job, before_s, tmp_path)


def assert_told_by_accounting(bed: Bed, job: str, before_s: float, folder: Path) -> None:
    """Learn of it by a controller that was away meanwhile, or by an import: the job gave a node
    back after this moment, in whole seconds, and before its epilog there."""
    dump, store = folder / "sacct.txt", folder / "told.db"
    asked = ("sacct", "-P", "-D", "-j", job, "-o", "JobID,State,Submit,Start,End,ElapsedRaw,NNodes,"
             "AllocCPUS,NodeList,AllocTRES,ConsumedEnergyRaw")
    until(lambda: "CANCELLED" in slurm(bed, *asked))
    dump.write_text(slurm(bed, *asked) + "\n")
    told = read_sacct(dump.read_bytes(), "sacct", cluster=bed.cluster, zone="UTC")
    given_back, = told.stays
    assert before_s - 1.0 < given_back.told_s <= stay(bed, job, given_back.node)["end_s"]
    wl.account_import(dump, store=store, cluster=bed.cluster, zone="UTC")
    life, = wl.account_job(job, store).lives
    assert life["state"] == "CANCELLED"
    joules = dump.read_text().strip().rpartition("|")[2]  # a short job may have none in Slurm 24.11
    assert life["quality"].endswith("without the nodes that it gave back" if joules else "unknown")
