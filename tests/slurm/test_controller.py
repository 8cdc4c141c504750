"""The books decide what a real Slurm starts: under the cap, nothing lost, nothing twice."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from tests.slurm.bedside import LONG_S, OURS, runs, slurm, start_s, submit, until
from tests.slurm.pace import Pace
from wattline.controller.asking import watts_of_licences
from wattline.controller.controller import Controller
from wattline.controller.testbed.accounted import longest_above
from wattline.controller.testbed.conditions import Conditions
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import run_workload
from wattline.controller.testbed.simulated import Setup, beside_simulation
from wattline.controller.testbed.workload import BedJob, jobs_of
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import put_back
from wattline.model.jobs import JobTable
from wattline.scenario.asking import replay_journal
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

CAP_W = 1300.0
POLICIES = {"power": "block", "placement": "first-fit"}


def workload(bed: Bed, seed: int, count: int, most_s: int = 7) -> list[BedJob]:
    random = np.random.default_rng(seed)
    procs = random.integers(1, 4, count)
    run_s = random.integers(2, most_s, count).astype(float)
    table = JobTable.build(
        submit_s=np.cumsum(random.integers(0, 3, count)), run_s=run_s, requested_s=run_s * 3,
        procs=procs, power_w=procs * random.integers(150, 330, count))
    return jobs_of(table, bed)


def test_a_workload_runs_under_the_cap_and_its_journal_replays(
    bed: Bed, tmp_path: Path, pace: Pace
) -> None:
    jobs = workload(bed, seed=1, count=12)
    begin_s = time.time()
    found = run_workload(bed, jobs, Conditions(CAP_W, policies=POLICIES),
                         journal=tmp_path / "journal")
    assert found.finished == found.jobs == 12
    assert (found.lost, found.doubled, found.refused, found.requeued) == ((), (), (), ())
    assert found.decisions >= 12
    assert found.replay_equal
    assert found.above_cap_s_max <= 2.0 * pace.slowest(begin_s)
    assert max(watts for _, watts in found.power_w) > 0.7 * CAP_W
    assert found.energy_error_max <= 0.03
    assert (tmp_path / "journal").read_text().count("\n") > 12
    beside = beside_simulation(found, jobs, Setup(bed.nodes, bed.power, CAP_W, POLICIES))
    assert len(found.seen) == 12
    # Each job holds its nodes for the rest of Slurm's tick; with that known, starts are foretold.
    assert beside.overhead_s > 0.0
    assert beside.with_overhead.late_s_median <= max(1.5, beside.overhead_s)
    assert abs(beside.with_overhead.late_s_worst) <= abs(beside.without.late_s_worst) + 1.0
    assert beside.as_held.late_s_median <= start_s(found)
    asked_otherwise(tmp_path, 12)


def asked_otherwise(folder: Path, jobs: int) -> None:
    """Another policy is asked what it would have done with the same journal, from the beginning
    and later."""
    own, other = folder / "own.toml", folder / "other.toml"
    own.write_text('[policy]\npower = "block"\nplacement = "first-fit"\n')
    other.write_text('[policy]\norder = "sjf"\nbackfill = "conservative"\npower = "block"\n'
                     'placement = "first-fit"\n')
    assert replay_journal(folder / "journal", own, since="decision:5").equal
    for since in (None, "decision:5"):
        found = replay_journal(folder / "journal", other, since=since)
        assert found.other is not None
        assert found.other.run is not None
        assert found.other.simulated
        assert sum(found.other.starts.values()) == jobs
        assert np.isfinite(found.other.run.schedule.end_s).all()
        assert found.other.run.power_w_peak <= CAP_W + 1e-6
    assert not found.equal


def controller(bed: Bed, cap_w: float = CAP_W, **more) -> Controller:
    machine = Machine(nodes=bed.nodes, node_idle_w=bed.power.idle_w,
                      node_active_w=bed.power.active_w)
    books = open_books(machine=machine, cap=cap_w, start_s=time.time(), **POLICIES)
    watcher = Watcher(bed.names, watts=watts_of_licences(), node_w=bed.power.active_w,
                      mark="wattline")
    return Controller(books, Slurm(Commands(bed.environment)), watcher, **more)


def test_without_acting_it_says_what_it_would_do(bed: Bed) -> None:
    here = controller(bed)
    label = submit(bed, 5, 250, *OURS, "-N", "2", "-t", "1", "-L", "watts:500")
    cycle = here.cycle()
    assert cycle.remarks == (f"would start {label} on n0001,n0002, 500 W",)
    assert slurm(bed, "squeue", "-h", "-j", label, "-o", "%T %r") == "PENDING JobHeldUser"


def test_jobs_that_others_start_are_counted(bed: Bed) -> None:
    """Four nodes draw 4 x 270 W beside two idle ones: no room for another under the cap."""
    here = controller(bed, act=True)
    others = submit(bed, LONG_S, 270, "-N", "4", "-t", "20", "-L", "watts:1080")
    until(lambda: runs(bed, others))
    label = submit(bed, LONG_S, 250, *OURS, "-N", "1", "-t", "20", "-L", "watts:250")
    cycle = here.cycle()
    assert cycle.decisions == ()
    assert here.books.power_w == pytest.approx(1080.0 + 2 * 90.0)
    few = Watcher(bed.names[3:], watts=watts_of_licences())
    found = few.news(here.slurm.look())  # a site that has fewer nodes than Slurm
    assert few.told[others].watts == 270.0 * few.told[others].units
    assert "only that part of it is counted" in " ".join(found.remarks)
    slurm(bed, "scancel", others)
    until(lambda: bool(here.cycle().decisions))
    until(lambda: runs(bed, label))
    here.cycle()
    assert here.watcher.told[label].running


def test_a_refused_job_says_why_it_waits_and_is_forgotten_when_cancelled(bed: Bed) -> None:
    here = controller(bed, act=True)
    label = submit(bed, 5, 400, *OURS, "-N", "4", "-t", "1", "-L", "watts:1600")
    assert [each.kind for each in here.cycle().decisions] == ["refuse"]
    said = slurm(bed, "scontrol", "show", "job", label)
    assert "AdminComment=wattline: could never start under the highest cap" in said
    slurm(bed, "scancel", label)
    here.cycle()
    assert label not in here.watcher.told


def test_a_drained_node_gets_no_job(bed: Bed) -> None:
    here = controller(bed, act=True)
    slurm(bed, "scontrol", "update", "nodename=n0001", "state=drain", "reason=test")
    try:
        label = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20", "-L", "watts:200")
        decision, = here.cycle().decisions
        assert here.watcher.node_names(decision.control.nodes) == ["n0002"]
        until(lambda: runs(bed, label))
    finally:
        slurm(bed, "scontrol", "update", "nodename=n0001", "state=resume")


def test_a_job_that_its_user_holds_on_purpose_is_not_started(bed: Bed) -> None:
    here = controller(bed, act=True)
    label = submit(bed, 5, 200, "-H", "-N", "1", "-t", "1")
    assert here.cycle().decisions == ()
    assert label not in here.watcher.told


def test_a_job_that_an_operator_holds_or_releases_by_hand_is_theirs(bed: Bed) -> None:
    here = controller(bed, act=True)
    label = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
    slurm(bed, "scontrol", "hold", label)
    assert [here.cycle().decisions for _ in range(2)] == [(), ()]
    assert slurm(bed, "squeue", "-h", "-j", label, "-o", "%T %r") == "PENDING JobHeldAdmin"
    assert label not in here.watcher.told
    slurm(bed, "scontrol", "release", label)
    until(lambda: runs(bed, label))
    here.cycle()
    assert here.watcher.told[label].running


def test_a_start_that_does_not_happen_is_withdrawn_and_tried_again(bed: Bed) -> None:
    """Somebody else has the node meanwhile: Slurm must not start the job when that one ends."""
    here = controller(bed, act=True)
    here.cycle()
    label, other = _overtaken(bed, here)
    try:
        until(lambda: any("told to start and did not" in said for said in here.cycle().remarks))
        until(lambda: "Held" in slurm(bed, "squeue", "-h", "-j", label, "-o", "%r"))
        slurm(bed, "scancel", other)
        until(lambda: bool(here.cycle()) and runs(bed, label))
    finally:
        slurm(bed, "scancel", label, other)


def _overtaken(bed: Bed, here: Controller) -> tuple[str, str]:
    """A job that was told to start on all nodes, and another that took one of them before it.

    The other must come after our look and before Slurm's next tick, so it may take a few tries.
    """
    for _ in range(5):
        label = submit(bed, LONG_S, 200, *OURS, "-N", "6", "-t", "20", "-L", "watts:1200")
        other = submit(bed, LONG_S, 200, "-N", "1", "-t", "20")
        decided = bool(here.cycle().decisions)
        until_s = time.monotonic() + 5.0
        while decided and time.monotonic() < until_s and not runs(bed, label):
            if runs(bed, other):
                return label, other
            time.sleep(0.1)
        slurm(bed, "scancel", label, other)
        until(lambda: not slurm(bed, "squeue", "-h"))
        here.cycle()
    pytest.skip("five times Slurm started the two jobs in another order")


def test_a_requeued_job_is_started_again_without_slurms_delay(bed: Bed) -> None:
    here = controller(bed, act=True)
    label = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20", "--requeue")
    # More than one: the jobs of the test before may still be leaving their nodes.
    until(lambda: bool(here.cycle()) and runs(bed, label))
    here.cycle()
    here.slurm.explain(label, here.watcher.comment(put_back(1)))
    here.slurm.requeue(label, hold=True)
    until(lambda: not runs(bed, label))
    until(lambda: bool(here.cycle()) and runs(bed, label))
    assert f"{label}.1" in here.watcher.told


def test_a_slurm_that_gives_no_answer_changes_nothing(bed: Bed) -> None:
    here = controller(bed, act=True)
    here.slurm = Slurm(Commands({**os.environ, "SLURM_CONF": "/nowhere"}, patience_s=1.0))
    cycle = here.cycle()
    assert not cycle.looked
    assert cycle.decisions == ()
    assert len(cycle.remarks) == 1


def test_the_longest_time_above_a_cap() -> None:
    curve = [(0.0, 5.0), (1.0, 11.0), (2.0, 12.0), (4.0, 10.0), (5.0, 11.0), (6.0, 9.0),
             (7.0, 20.0)]
    assert longest_above(curve, 10.0) == 3.0
    assert longest_above([*curve, (17.0, 20.0)], 10.0) == 10.0
    assert longest_above([], 10.0) == 0.0
