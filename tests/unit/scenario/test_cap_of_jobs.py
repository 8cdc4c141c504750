"""`power.cap_counts`: a cap on the machine, or on running jobs alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from wattline.model.errors import InputError, WattlineWarning
from wattline.results.verify.judge import verify

# Four nodes of 100 W, idle 50 W. Two jobs of two nodes at once, 200 s each.
LOG = "".join(f"{n} 0 0 200 2 -1 -1 2 300 -1 1 1 1 -1 1 -1 -1 -1\n" for n in (1, 2))
MACHINE = {"machine__nodes": 4, "machine__node_idle_w": 50, "machine__node_active_w": 100}


def run_of(folder: Path, power: str, counts: str, cap: float) -> wl.Run:
    log = folder / "log.swf"
    log.write_text(LOG)
    with pytest.warns(WattlineWarning):
        return wl.simulate(str(log), cap=cap, power=power,
                           power__cap_counts=counts, **MACHINE)


def test_a_cap_on_jobs_admits_what_a_cap_on_the_machine_does_not(tmp_path: Path) -> None:
    # One job: 200 W and 100 W of idle nodes. Both: 400 W.
    together = run_of(tmp_path, "block", "jobs", 400.0)
    assert together.schedule.start_s.tolist() == [0.0, 0.0]
    apart = run_of(tmp_path, "block", "jobs", 250.0)
    assert apart.schedule.start_s.tolist() == [0.0, 200.0]
    assert apart.power_w_peak == 300.0
    assert (apart.time_above_cap_s, apart.energy_above_cap_j) == (0.0, 0.0)
    machine = run_of(tmp_path, "block", "machine", 250.0)
    assert not machine.ran.any()


def test_dvfs_slows_jobs_by_their_own_power(tmp_path: Path) -> None:
    # Both jobs together draw 400 W. Under 340 W they may have f = 0.8: 0.766 x 400 W = 306.4 W.
    run = run_of(tmp_path, "dvfs", "jobs", 340.0)
    assert run.power_w_peak == pytest.approx(306.4)
    assert np.allclose(run.schedule.end_s, 200 / np.sqrt(0.8))


def test_what_the_cap_counts_is_said_and_checked(tmp_path: Path) -> None:
    run = run_of(tmp_path, "wait", "jobs", 250.0)
    assert any("idle nodes draw up to 200 W beyond it" in line for line in run.remarks)
    assert not list(verify(run).sentences)


@pytest.mark.parametrize(("fields", "message"), [
    ({"power": "watts"}, "block, wait, dvfs know"),
    ({"power": "block", "configure": "naive"}, "goes with policy.configure"),
])
def test_policies_that_do_not_know_it_refuse(
    tmp_path: Path, fields: dict[str, str], message: str
) -> None:
    log = tmp_path / "log.swf"
    log.write_text(LOG)
    with pytest.raises(InputError, match=message):
        wl.simulate(str(log), cap=250.0, power__cap_counts="jobs", **MACHINE, **fields)
