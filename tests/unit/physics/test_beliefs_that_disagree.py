"""Predictions over beliefs that disagree: their spread is part of the interval, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.physics.regression.capping import FittedHalf, FittedPart


def belief(weight: float, coefficient: float) -> FittedPart:
    return FittedPart(weight, np.array([coefficient]), np.array([[0.04]]), np.zeros(1), 0.1)


HALF = FittedHalf((belief(0.25, 1.0), belief(0.75, 3.0)))
"""A quarter says 1, three quarters 3: 2.5 in the mean. Between them the variance is
0.25 x 1.5^2 + 0.75 x 0.5^2 = 0.75; each of them is unsure by 0.2 and leaves 0.1 unexplained."""


def test_the_spread_between_beliefs_is_part_of_a_predictions_deviation() -> None:
    """0.04 + 0.01 + 0.75 at a slope of one, and 4 x 0.04 + 0.01 + 4 x 0.75 at a slope of two."""
    slope = np.array([[1.0], [2.0]])
    mean, sd = HALF.predict(lambda at: (slope @ at, slope), np.zeros((2, 1)))
    assert mean == pytest.approx([2.5, 5.0])
    assert sd**2 == pytest.approx([0.80, 3.17])


def test_the_spread_between_beliefs_is_part_of_the_coefficients_covariance() -> None:
    assert HALF.coefficients == pytest.approx([2.5])
    assert HALF.covariance == pytest.approx(np.array([[0.79]]))
