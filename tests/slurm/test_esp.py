"""The ESP-2 benchmark, shrunk in time, on a real Slurm: under the cap, and as it was simulated."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from tests.slurm.bedside import start_s
from tests.slurm.pace import Pace
from wattline.controller.testbed.conditions import Conditions
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import BedRun, run_workload
from wattline.controller.testbed.simulated import Setup, beside_simulation
from wattline.controller.testbed.trying import USUAL
from wattline.controller.testbed.workload import faster, jobs_of

WATTS = (180.0, 330.0)
"""Per node, of a job of the whole machine and of one on a single node."""


def held(run: BedRun, jobs: int, cap_w: float, slowest: float) -> None:
    assert (run.jobs, run.finished) == (jobs, jobs)
    assert (run.lost, run.doubled, run.refused) == ((), (), ())
    assert run.above_cap_s_max <= 2.0 * slowest
    assert max(watts for _, watts in run.power_w) > 0.8 * cap_w
    assert run.replay_equal


def test_some_of_its_jobs_take_as_long_as_simulated(bed: Bed, pace: Pace) -> None:
    first = wl.generate("esp2", seed=1, nodes=bed.nodes).jobs.take(np.arange(18))
    jobs = jobs_of(faster(first, 150.0), bed, WATTS)
    begin_s = time.time()
    run = run_workload(bed, jobs, Conditions(1400.0, policies=USUAL))
    held(run, 18, 1400.0, pace.slowest(begin_s))
    beside = beside_simulation(run, jobs, Setup(bed.nodes, bed.power, 1400.0, USUAL))
    # A run this short ends with one job or another: a second or two are much of it.
    assert run.makespan_s <= 1.1 * beside.with_overhead.makespan_s + 2.0
    assert beside.as_held.late_s_median <= start_s(run)


@pytest.mark.long
def test_all_230_jobs_on_64_nodes_take_at_most_a_tenth_longer_than_simulated(
    bed: Bed, tmp_path: Path, pace: Pace
) -> None:
    """On a bed of its own; `bed` says whether there can be one at all."""
    begin_s = time.time()
    found = wl.try_workload(wl.generate("esp2", seed=1, nodes=64), nodes=64, cap=15_000.0,
                            speed=60.0, node_w=WATTS, journal=tmp_path / "journal")
    held(found.run, 230, 15_000.0, pace.slowest(begin_s))
    assert found.beside is not None
    assert found.run.makespan_s <= 1.1 * found.beside.with_overhead.makespan_s
    # Small jobs pass before or behind each other by a second: the worst says nothing here.
    assert found.beside.with_overhead.late_s_median <= 3.0
    # Told what the controller was told, it decides at the same instants: what is left is how long
    # Slurm takes to start a job.
    assert found.beside.as_held.late_s_median <= 1.5
    assert abs(found.beside.as_held.late_s_worst) <= 3.0
