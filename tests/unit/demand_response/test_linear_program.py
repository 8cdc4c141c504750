"""Linear programs, put together and solved; and the corners of how servers run jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wattline as wl
from wattline.demand_response import linear_program
from wattline.demand_response.fluid import lowest_and_highest, modes_of
from wattline.demand_response.linear_program import LinearProgram
from wattline.grid.workloads import workload
from wattline.model.signal import Signal


def test_the_least_cost_that_keeps_all_rows() -> None:
    program = LinearProgram()
    both = program.add((2,), upper=[4.0, 10.0])
    row = program.row((1,), lower=6.0)
    program.put(row, both, [1.0, 2.0])
    found = program.least(np.array([1.0, 3.0]))
    assert found is not None
    assert found == pytest.approx([4.0, 1.0])
    assert program.least(np.array([1.0, 1.0])) == pytest.approx([0.0, 3.0])


def test_rows_that_contradict_have_no_answer() -> None:
    program = LinearProgram()
    one = program.add((1,), upper=1.0)
    program.put(program.row((1,), lower=2.0), one, 1.0)
    assert program.least(np.ones(1)) is None


def test_a_solver_without_an_optimum_is_an_error() -> None:
    program = LinearProgram()
    one = program.add((1,))
    program.put(program.row((1,), lower=2.0), one, 1.0)
    with pytest.raises(wl.WattlineError, match="not solved"):
        program.least(-np.ones(1))


def test_where_one_method_gives_no_answer_the_other_does(monkeypatch: pytest.MonkeyPatch) -> None:
    made = linear_program._solver

    def without_steps() -> Any:
        solver = made()
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("simplex_iteration_limit", 0)
        return solver

    monkeypatch.setattr(linear_program, "_solver", without_steps)
    test_the_least_cost_that_keeps_all_rows()
    test_rows_that_contradict_have_no_answer()


@pytest.mark.parametrize("number", range(1, 15))
def test_every_cap_lies_between_the_modes(number: int) -> None:
    for each in workload(f"W{number}").types:
        modes = modes_of(each)
        corners = np.array([[mode.power_w, mode.speed, 1.0] for mode in modes]).T
        for power_w in np.linspace(each.power_w_min, each.power_w_max, 9):
            point = np.array([power_w, each.time_s_min / each.time_s(power_w), 1.0])
            shares, *_ = np.linalg.lstsq(corners, point, rcond=None)
            assert corners @ shares == pytest.approx(point)
            assert shares.min() >= -1e-9


def test_the_least_and_the_most_of_each_block() -> None:
    signal = Signal(np.array([0.0, 5.0, 12.0]), np.array([1.0, -1.0, 3.0]))
    low, high = lowest_and_highest(signal, np.array([2.0, 6.0, 10.0, 14.0]))
    assert low.tolist() == [-1.0, -1.0, -1.0]
    assert high.tolist() == [1.0, -1.0, 3.0]
