"""Figures and sums of them, as a person writes them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from wattline.analysis.expressions import Constraint, Expression
from wattline.analysis.intervals import half_interval, mean_interval
from wattline.model.errors import InputError

FIGURES = {"energy_j": 100.0, "wait_s.mean": 20.0, "wait_s.p95": 50.0}


@pytest.mark.parametrize(("text", "value"), [
    ("energy_j", 100.0), ("wait_s", 20.0), ("energy_j + 0.1*wait_s", 102.0),
    ("-(wait_s.p95 - 10)/4", -10.0), ("2**3", 8.0)])
def test_an_expression_is_worked_out(text: str, value: float) -> None:
    assert Expression.parse(text).value(FIGURES) == value


@pytest.mark.parametrize("text", ["nothing", "energy_j / 0", "10.0**400 * energy_j", "(-8)**0.5"])
def test_what_has_no_value_is_not_a_number(text: str) -> None:
    assert math.isnan(Expression.parse(text).value(FIGURES))


@pytest.mark.parametrize("text", [
    "", "energy_j +", "__import__('os')", "open('x')", "[1]", "a if b else c", "'text'", "True",
    "energy_j < 3", "f(1).x"])
def test_nothing_else_is_an_expression(text: str) -> None:
    with pytest.raises(InputError, match=r"energy_j \+|is no figure"):
        Expression.parse(text)


@pytest.mark.parametrize(("text", "excess"), [
    ("wait_s.p95 <= 60", -10.0), ("wait_s.p95 >= 60", 10.0), ("energy_j < 2*wait_s", 60.0)])
def test_a_constraint_says_by_how_much_it_is_broken(text: str, excess: float) -> None:
    assert Constraint.parse(text).excess.value(FIGURES) == excess


@pytest.mark.parametrize(("text", "kept"), [
    ("wait_s.p95 <= 50", True), ("wait_s.p95 >= 50", True), ("wait_s.p95 < 50", False),
    ("wait_s.p95 > 50", False), ("wait_s.p95 < 51", True), ("wait_s.p95 > 49", True),
    ("nothing <= 1", False), ("nothing < 1", False)])
def test_a_strict_constraint_is_broken_by_its_bound(text: str, kept: bool) -> None:
    assert Constraint.parse(text).is_kept(FIGURES) is kept


@pytest.mark.parametrize("text", ["energy_j", "1 < energy_j < 2", "energy_j == 3", "<= 4"])
def test_nothing_else_is_a_constraint(text: str) -> None:
    with pytest.raises(InputError, match="is no constraint"):
        Constraint.parse(text)


def test_the_interval_of_a_mean_is_students() -> None:
    mean, half = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert half == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert mean_interval([5.0])[0] == 5.0
    assert math.isnan(mean_interval([5.0])[1])
    for freedom, student in ((1, 12.706), (3, 3.182), (4, 2.776), (9, 2.262), (999, 1.962)):
        draws = np.arange(freedom + 1.0)
        error = draws.std(ddof=1) / math.sqrt(freedom + 1)
        assert half_interval(draws) == pytest.approx(student * error, rel=2e-3)
    # Of forty draws from one to forty: t of 39 degrees of freedom is 2.0227.
    assert mean_interval(list(map(float, range(1, 41))))[1] == pytest.approx(3.739, abs=0.001)


@pytest.mark.parametrize(("written", "plain"), [
    ("power_w.peak <= 16kW", "power_w.peak <= 16000"),
    ("power_w.peak <= 1.6e1 kW", "power_w.peak <= 16000"),
    ("wait_s < 10h", "wait_s < 36000"),
    ("90min > wait_s.p95", "5400 > wait_s.p95"),
    ("wait_s.p95 <= 2*1d", "wait_s.p95 <= 172800"),
    ("energy_j <= 2MWh", "energy_j <= 7.2e9"),
    ("energy_j <= 3e6", "energy_j <= 3000000"),
    ("wait_s + 0.1*energy_j <= 1h", "wait_s + 0.1*energy_j <= 3600"),
])
def test_units_in_a_constraint_are_those_of_the_figure(written: str, plain: str) -> None:
    for factor in (0.5, 1.0, 2.0):
        figures = {"power_w.peak": 16e3 * factor, "wait_s.mean": 36e3 * factor,
                   "wait_s.p95": 5400.0 * factor, "energy_j": 7.2e9 * factor}
        given, expected = Constraint.parse(written), Constraint.parse(plain)
        assert given.excess.value(figures) == expected.excess.value(figures)
        assert given.is_kept(figures) == expected.is_kept(figures)
        assert given.text == written


@pytest.mark.parametrize(("written", "said"), [
    ("power_w.peak <= 10h", "'10h' is not understood; write a power like 3500"),
    ("wait_s < 16kW", "has '16kW'"),
    ("jobs.refused <= 3kW", "no figure beside it is in seconds, watts or joules"),
    ("wait_s <", "wait_s.p95 <= 1h"),
])
def test_a_unit_that_is_none_of_the_figures_is_said(written: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Constraint.parse(written)
