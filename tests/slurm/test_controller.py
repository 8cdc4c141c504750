"""The books decide what a real Slurm starts: under the cap, nothing lost, nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.slurm.bedside import runs, slurm, submit, until
from wattline.controller.configuration import read_configuration
from wattline.controller.controller import Controller
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import longest_above, replays, run_workload
from wattline.controller.testbed.simulated import Setup, beside_simulation
from wattline.controller.testbed.workload import BedJob, jobs_of
from wattline.controller.watching import Watcher, watts_of_licences
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands
from wattline.model.jobs import JobTable
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

CAP_W = 1300.0
POLICIES = {"power": "block", "placement": "first-fit"}


def opener(bed: Bed, cap_w: float = CAP_W):
    machine = Machine(nodes=bed.nodes, node_idle_w=bed.power.idle_w,
                      node_active_w=bed.power.active_w)
    return lambda begin_s, write: open_books(machine=machine, cap=cap_w, start_s=begin_s,
                                             journal=write, **POLICIES)


def workload(bed: Bed, seed: int, count: int) -> list[BedJob]:
    random = np.random.default_rng(seed)
    procs = random.integers(1, 4, count)
    run_s = random.integers(2, 7, count).astype(float)
    table = JobTable.build(
        submit_s=np.cumsum(random.integers(0, 3, count)), run_s=run_s, requested_s=run_s * 3,
        procs=procs, power_w=procs * random.integers(150, 330, count))
    return jobs_of(table, bed)


@pytest.fixture(autouse=True)
def empty(bed: Bed) -> None:
    slurm(bed, "scancel", "-u", "root")
    until(lambda: not slurm(bed, "squeue", "-h"))


def test_a_workload_runs_under_the_cap_and_its_journal_replays(bed: Bed) -> None:
    jobs = workload(bed, seed=1, count=14)
    found = run_workload(bed, jobs, opener(bed), cap_w=CAP_W)
    assert found.finished == found.jobs == 14
    assert (found.lost, found.doubled) == ((), ())
    assert found.decisions == 14
    assert found.replay_equal
    assert found.above_cap_s_max <= 2.0
    assert max(watts for _, watts in found.power_w) > 0.7 * CAP_W
    assert found.energy_error_max < 0.2  # Slurm counts in whole seconds of short jobs
    beside = beside_simulation(found, jobs, Setup(bed.nodes, bed.power, CAP_W, POLICIES))
    assert len(found.seen) == 14
    # Each job holds its nodes for the rest of Slurm's tick; with that known, starts are foretold.
    assert 0.0 < beside.overhead_s < 3.0
    assert beside.with_overhead.late_s_median <= 1.5
    assert abs(beside.with_overhead.late_s_worst) <= abs(beside.without.late_s_worst)


def controller(bed: Bed, tmp_path: Path, **more) -> Controller:
    lines: list[str] = []
    books = opener(bed)(time.time(), lines.append)
    return Controller(books, Slurm(Commands(bed.environment)),
                      Watcher(bed.names, watts=watts_of_licences()), **more)


def test_without_acting_it_says_what_it_would_do(bed: Bed, tmp_path: Path) -> None:
    here = controller(bed, tmp_path)
    label = submit(bed, 5, 250, "-H", "-N", "2", "-t", "1", "-L", "watts:500")
    cycle = here.cycle()
    assert cycle.remarks == (f"would start {label} on n0001,n0002",)
    assert slurm(bed, "squeue", "-h", "-j", label, "-o", "%T %r") == "PENDING JobHeldUser"


def test_jobs_that_others_start_are_counted(bed: Bed, tmp_path: Path) -> None:
    """Four nodes draw 4 x 300 W beside two idle ones: no room for another under the cap."""
    here = controller(bed, tmp_path, act=True)
    others = submit(bed, 60, 270, "-N", "4", "-t", "5", "-L", "watts:1080")
    until(lambda: runs(bed, others))
    label = submit(bed, 5, 250, "-H", "-N", "1", "-t", "1", "-L", "watts:250")
    cycle = here.cycle()
    assert cycle.decisions == ()
    assert here.books.power_w == pytest.approx(1080.0 + 2 * 90.0)
    slurm(bed, "scancel", others)
    until(lambda: bool(here.cycle().decisions), within_s=15)
    until(lambda: runs(bed, label))
    here.cycle()
    assert here.watcher.told[label].running


def test_a_job_that_is_cancelled_while_it_waits_is_forgotten(bed: Bed, tmp_path: Path) -> None:
    here = controller(bed, tmp_path, act=True)
    label = submit(bed, 5, 400, "-H", "-N", "4", "-t", "1", "-L", "watts:1600")
    assert [each.kind for each in here.cycle().decisions] == ["refuse"]
    slurm(bed, "scancel", label)
    here.cycle()
    assert label not in here.watcher.told


def test_a_drained_node_gets_no_job(bed: Bed, tmp_path: Path) -> None:
    here = controller(bed, tmp_path, act=True)
    slurm(bed, "scontrol", "update", "nodename=n0001", "state=drain", "reason=test")
    try:
        label = submit(bed, 20, 200, "-H", "-N", "1", "-t", "1", "-L", "watts:200")
        decision, = here.cycle().decisions
        assert here.watcher.node_names(decision.control.nodes) == ["n0002"]
        until(lambda: runs(bed, label))
    finally:
        slurm(bed, "scontrol", "update", "nodename=n0001", "state=resume")


def test_a_slurm_that_gives_no_answer_changes_nothing(bed: Bed, tmp_path: Path) -> None:
    here = controller(bed, tmp_path, act=True)
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


SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
cap = 1300
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""


def command(site: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "wattline", "controller", "--config", str(site),
                           *options], capture_output=True, text=True, check=False, timeout=120)


def test_the_command_says_what_it_would_do_and_does_it_with_act(bed: Bed, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE.format(bed=bed.folder))
    label = submit(bed, 20, 250, "-H", "-N", "2", "-t", "1", "-L", "watts:500")
    dry = command(site, "--cycles", "1")
    assert f"would start {label} on n0001,n0002" in dry.stdout
    assert "nothing is started" in dry.stderr
    done = command(site, "--act", "--cycles", "2", "--json")
    assert done.returncode == 0, done.stderr
    until(lambda: runs(bed, label))
    journals = sorted((tmp_path / "controller").glob("*.journal"))
    assert len(journals) == 2
    assert replays(journals[-1])


def test_a_second_controller_of_a_folder_is_refused(bed: Bed, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE.format(bed=bed.folder))
    with serving(read_configuration(site), act=False):
        second = command(site, "--cycles", "1")
    assert second.returncode == 1
    assert "another controller holds" in second.stderr
    assert second.stderr.count("\n") <= 2
