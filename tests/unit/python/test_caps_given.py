"""A cap in any form: a number, a list of steps, a table of pandas or Arrow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import wattline as wl
from wattline.scenario.model import CapChange, CapPlan

JOBS = {"submit_s": [0.0, 10.0], "run_s": [100.0, 50.0], "procs": [4, 4],
        "requested_s": [200.0, 60.0]}
MACHINE = wl.Machine(nodes=8, node_idle_w=100, node_active_w=300)
STEPS = [{"time_s": 0.0, "watts": 2400.0}, {"time_s": 50.0, "watts": 1200.0}]


def run_under(cap: object) -> wl.Result:
    return wl.simulate(JOBS, machine=MACHINE, power=wl.Dvfs(cap=cap))


def test_a_plan_of_a_cap_is_taken_as_it_is() -> None:
    planned = CapPlan(watts=2400.0, changes=(CapChange(at=50.0, watts=1200.0),))
    assert run_under(planned).energy_j == run_under(STEPS).energy_j


@pytest.mark.parametrize("cap", [pd.DataFrame(STEPS), pa.Table.from_pylist(STEPS), tuple(STEPS)],
                         ids=["pandas", "arrow", "tuple"])
def test_steps_of_a_cap_may_be_rows_of_a_table(cap: object) -> None:
    run, listed = run_under(cap), run_under(STEPS)
    assert run.energy_j == listed.energy_j != run_under(2400.0).energy_j
    assert wl.simulate(JOBS, machine=MACHINE, watch_cap=cap).time_above_cap_s > 0


@pytest.mark.parametrize(("begins_s", "told"), [(0.0, False), (5.0, True)])
@pytest.mark.parametrize("asked", [{"power": "dvfs", "power__cap": ...},
                                   {"power__watch_cap": ...}])
def test_what_holds_before_the_first_step_is_said(
    asked: dict[str, object], begins_s: float, told: bool
) -> None:
    steps = [{"time_s": begins_s, "watts": 2000.0}]
    run = wl.simulate(JOBS, machine=MACHINE, **{
        name: steps if value is ... else value for name, value in asked.items()})
    assert any("its value holds before that too" in line for line in run.remarks) == told


@pytest.mark.parametrize("cap", [pd.DataFrame(STEPS), STEPS], ids=["pandas", "list"])
def test_a_run_is_called_by_the_steps_of_its_cap_on_one_line(cap: object) -> None:
    found = wl.sweep(JOBS, machine=MACHINE, power="dvfs", vary={"cap": [None, cap]})
    assert list(found.runs)[1].endswith(
        "cap time_s 0.0, watts 2400.0 then time_s 50.0, watts 1200.0")


@pytest.mark.parametrize("cap", [np.float32(1200), np.int64(1200), np.array(1200.0)])
def test_numbers_of_numpy_are_numbers(cap: object) -> None:
    assert run_under(cap).energy_j == run_under(1200).energy_j


@pytest.mark.parametrize(("cap", "said"), [
    ([1, 2], r"a list holds steps, each with time_s and watts \(it is \[1, 2\]\)"),
    (np.array([1200.0, 900.0]), "a list holds steps"),
    (pd.DataFrame(STEPS).iloc[::-1], "steps must rise in time; 0 s comes after 50 s"),
    (pd.DataFrame({"time": [0], "watts": [5]}), r"cap\.0\.time_s: this is needed"),
    (pd.Series([1, 2]), "this Series cannot be read as a table"),
], ids=["list", "numpy", "falling", "other columns", "series"])
def test_what_is_no_cap_is_said_on_one_line(cap: object, said: str) -> None:
    with pytest.raises(wl.InputError, match=said) as caught:
        run_under(cap)
    assert "\n" not in str(caught.value)
