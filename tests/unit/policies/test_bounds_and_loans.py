"""Bounds of racks hold whatever raises the power of jobs that run: loans, or a higher level."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.racks import rack_peaks_w

from wattline.model.jobs import JobTable
from wattline.results.verify.judge import verify
from wattline.scenario.build import plan
from wattline.scenario.load import validate
from wattline.traces import Trace


def play(power, configure, seed, count=60, rack_w=2200.0, cap_w=9000.0):
    random = np.random.default_rng(seed)
    jobs = JobTable.build(
        submit_s=np.cumsum(random.integers(0, 30, count)), run_s=np.full(count, 100.0),
        requested_s=random.integers(100, 400, count), procs=random.choice([8, 16, 32], count),
        application=np.zeros(count, dtype=int), names={"application": ("BT-MZ",)})
    limits = {f"rack{rack}": rack_w for rack in range(4)}
    scenario = validate({
        "name": "racks", "trace": {"file": "made"}, "power": {"cap": cap_w},
        "machine": {"nodes": 64, "node_idle_w": 60, "node_active_w": 260,
                    "nodes_per_rack": 16},
        "policy": {"power": power, "configure": configure,
                   "placement": {"name": "bounded", "limits": limits}}}, "racks")
    return plan(scenario, Trace(jobs, source="made")).run()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_loans_stop_at_the_bounds_of_racks(seed: int) -> None:
    """Unbounded, loans took racks to 3,007 W here; the watts that are lent stay where they fit."""
    lent, kept = play("lending", "naive", seed), play("watts", "naive", seed)
    for run in (lent, kept):
        assert verify(run).sentences == []
        assert max(rack_peaks_w(run, 16, 60.0)) <= 2200.0 * (1 + 1e-9)
    assert np.nansum(lent.schedule.end_s) < np.nansum(kept.schedule.end_s), "nothing was lent"


@pytest.mark.parametrize("cap_w", [6000.0, 8000.0])
def test_no_more_is_lent_than_the_cap_leaves(cap_w: float) -> None:
    """With racks that have room for all, the cap alone holds loans back: they come close to it."""
    lent, kept = (play(power, "naive", 1, rack_w=90_000.0, cap_w=cap_w)
                  for power in ("lending", "watts"))
    assert lent.power_w_peak >= 0.98 * cap_w
    for run in (lent, kept):
        assert verify(run).sentences == []
        assert run.time_above_cap_s == 0.0
        assert run.power_w_peak <= cap_w * (1 + 1e-9)
    assert np.nansum(lent.schedule.end_s) < np.nansum(kept.schedule.end_s), "nothing was lent"


def test_a_higher_level_waits_for_the_bounds_of_racks() -> None:
    """All of a rack of four is busy with 300 W a node, which may draw 900 W: it goes slower.

    At full power the rack would draw 1,200 W. At half of the core's frequency a node draws
    300 x (0.65 x 0.25 + 0.35) = 153.75 W, at 0.7 200.55 W, at 0.8 229.8 W: 0.7 it is, although the
    machine's cap would allow full speed.
    """
    jobs = JobTable.build(submit_s=[0.0], run_s=[100.0], procs=[4])
    scenario = validate({
        "name": "level", "trace": {"file": "made"}, "power": {"cap": 5000.0, "beta": 1.0},
        "machine": {"nodes": 8, "node_idle_w": 90, "node_active_w": 300, "nodes_per_rack": 4},
        "policy": {"power": "dvfs",
                   "placement": {"name": "bounded", "limits": {"rack0": 900}}}}, "level")
    run = plan(scenario, Trace(jobs, source="made")).run()
    found = [float(run.schedule.end_s[0]), run.power_w_peak, run.placement.first.tolist()]
    assert found[0] == pytest.approx(100 / 0.7)
    assert found[1] == pytest.approx(4 * 90 + 4 * 200.55)
    assert found[2] == [0]
