"""Powers that a log measured are the powers of a contract; what nobody measured is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wattline.demand_response.building import case_of
from wattline.demand_response.case import Case
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid
from wattline.model.errors import InputError

MAP = """
[columns]
submit_s = "begin"
run_s = "seconds"
requested_procs = "nodes"
power_w = {column = "watts", per = "node"}
"""
SERVERS, JOBS = 60, 80


def rows_of(seed: int, unknown: float = 0.0) -> np.ndarray:
    """Begin, run time, nodes and watts per node (0: not measured) of each job."""
    rng = np.random.default_rng(seed)
    watts = rng.uniform(260.0, 900.0, JOBS)
    watts[rng.random(JOBS) < unknown] = 0.0
    return np.column_stack((np.sort(rng.uniform(0, 3000, JOBS)).round(),
                            rng.uniform(700, 6000, JOBS).round(),
                            rng.integers(1, 4, JOBS), watts.round(3)))


def case(folder: Path, rows: np.ndarray, **fields: Any) -> Case:
    lines = [",".join(map(str, row)) for row in rows.tolist()]
    (folder / "log.csv").write_text("\n".join(["begin,seconds,nodes,watts", *lines]) + "\n")
    (folder / "map.toml").write_text(MAP)
    given = {"log": str(folder / "log.csv"), "map": str(folder / "map.toml"), "servers": SERVERS,
             "power_w_idle": 210.0, "duration": "3h", "warmup": "0s", "cycle_s": 30.0}
    return case_of(read_contract(None, {**given, **fields}))


@pytest.mark.parametrize("pue", [1.0, 1.3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_job_draws_what_the_log_measured(tmp_path: Path, seed: int, pue: float) -> None:
    rows = rows_of(seed)
    found = run_contract(case(tmp_path, rows, pue=pue), None)
    done = np.isfinite(found.run.schedule.end_s)
    assert done.sum() > JOBS / 2
    rows = rows[done]
    measured_j = pue * rows[:, 1] * rows[:, 2] * rows[:, 3]
    assert found.run.schedule.energy_j[done] == pytest.approx(measured_j, rel=1e-9)


@pytest.mark.parametrize("seed", [4, 5])
def test_a_type_is_planned_with_the_mean_of_its_jobs(tmp_path: Path, seed: int) -> None:
    rows = rows_of(seed)
    made = case(tmp_path, rows)
    for number, each in enumerate(made.workload.types):
        mine = rows[np.asarray(made.jobs.application) == number]
        mean_w = (mine[:, 1] * mine[:, 3]).sum() / mine[:, 1].sum()
        assert each.power_w_max == pytest.approx(mean_w)
        assert 210.0 <= each.power_w_min < each.power_w_max
    assert "80 of 80 jobs draw the power that the log measured" in made.assumed[0]
    assert not any("idle server" in line for line in made.assumed)  # it is given


@pytest.mark.parametrize("feedback", [False, True])
def test_a_capped_job_keeps_its_part_of_the_power_of_its_type(
    tmp_path: Path, feedback: bool
) -> None:
    """Half of the jobs draw twice what the others do, also where caps hold them."""
    rows = rows_of(6)
    rows[:, 1:] = (1800.0, 1.0, 300.0)
    rows[::2, 3] = 600.0
    made = case(tmp_path, rows, feedback=feedback)
    held = run_contract(made, Bid(20_000.0, 1_000.0)).run.schedule
    done = np.isfinite(held.end_s)
    watts = (held.energy_j / (held.end_s - held.start_s))[done]
    hungry = rows[done, 3] == 600.0
    assert watts[hungry].max() <= 600.0 * (1 + 1e-9)
    assert watts[~hungry].min() < 0.99 * 300.0
    assert watts[hungry].min() > 1.2 * watts[~hungry].max()


def test_jobs_without_a_power_draw_the_mean_of_their_type(tmp_path: Path) -> None:
    rows = rows_of(7, unknown=0.4)
    made = case(tmp_path, rows)
    type_w = made.workload.column("power_w_max")[np.asarray(made.jobs.application)]
    server_w = made.jobs.power_w / made.jobs.procs
    none = rows[:, 3] == 0
    assert server_w[none] == pytest.approx(type_w[none])
    assert server_w[~none] == pytest.approx(rows[~none, 3])
    assert f"the {none.sum()} without draw the mean of their type" in made.assumed[0]


def test_a_log_without_powers_says_what_is_assumed(tmp_path: Path) -> None:
    rows = rows_of(8, unknown=1.1)
    with pytest.raises(InputError, match="it has no powers, and the 110 to 190 W"):
        case(tmp_path, rows)
    made = case(tmp_path, rows, power_w_idle=None)
    assert "the log has no powers: 110 to 190 W per server are assumed" in made.assumed[0]
    assert "31 W are assumed of an idle server" in made.assumed[-1]
    assert not made.own_powers


def test_jobs_that_draw_less_than_an_idle_server_are_planned_at_idle_power(tmp_path: Path) -> None:
    rows = rows_of(9)
    rows[:, 3] = 150.0
    made = case(tmp_path, rows)
    assert set(made.workload.column("power_w_max")) == {210.0}
    assert made.jobs.power_w == pytest.approx(150.0 * rows[:, 2])
