"""Jobs that say what they draw, on nodes that draw little idle: there they raise the power most."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import wattline as wl

CAP_W = 1300.0
PERIOD_S = 700.0


def machine() -> wl.Machine:
    """The first class draws more idle than the second."""
    return wl.Machine(classes=[
        wl.NodeClass(name="old", count=4, cores=1, idle_w=100, active_w=300),
        wl.NodeClass(name="new", count=4, cores=1, idle_w=20, active_w=300, speed=0.5)])


def jobs(seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    nodes, run_s = random.integers(1, 5, 15), random.integers(50, 900, 15).astype(float)
    return pd.DataFrame({
        "submit_s": np.sort(random.integers(0, 3000, 15)), "run_s": run_s, "procs": nodes,
        "requested_s": run_s * random.choice([1.0, 2.5], 15),
        "power_w": nodes * random.integers(130, 300, 15)})


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("follow_cap", [False, True])
def test_frequencies_keep_the_cap_wherever_a_job_runs(follow_cap: bool) -> None:
    run = wl.simulate(jobs(0), machine=machine(), placement="first-fit",
                      power=wl.Adaptive(cap=CAP_W, follow_cap=follow_cap))
    assert 1000 < run.power_w_peak <= CAP_W * (1 + 1e-9)
    assert wl.verify(run).sentences == []


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("carry", ["forbid", "charge-now"])
@pytest.mark.parametrize("seed", [1, 4])
def test_no_period_has_less_than_its_jobs_draw(seed: int, carry: str) -> None:
    budget = wl.Budget(energy=PERIOD_S * CAP_W, period=PERIOD_S, carry=carry)
    run = wl.simulate(jobs(seed), machine=machine(), placement="first-fit", power=budget,
                      policy__overrun="kill")
    assert run.budget["over"] == []
    assert run.ran.sum() >= 8


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_at_full_speed_a_job_draws_what_it_says_on_any_class() -> None:
    both = pd.DataFrame({"submit_s": [0, 0], "run_s": [100, 100], "procs": [4, 4],
                         "power_w": [800, 800]})
    run = wl.simulate(both, machine=machine(), placement="first-fit", power=wl.Adaptive(cap=5000))
    assert run.schedule.energy_j.tolist() == pytest.approx([800 * 100, 800 * 200])
