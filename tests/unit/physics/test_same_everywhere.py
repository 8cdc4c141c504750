"""Predictions are the same on every machine, in whatever order its libraries make sums."""

import numpy as np
import pytest
from tests.unit.physics.test_regression import machine_like_table

from wattline.physics.regression import design, fit, shipped_models, suggest


@pytest.mark.parametrize(("place", "time_s", "power_w"), [
    ((30, 14, 51.0), 6.136558090163088, 3410.8464166822378),
    ((16, 16, 115.0), 7.2903505872302885, 3221.9464290324077),
])
def test_the_shipped_models_predict_the_same_figures_everywhere(place, time_s, power_w):
    found = shipped_models()["BT-MZ"].predict(*([value] for value in place))
    assert found.time_s[0] == pytest.approx(time_s, rel=1e-11)
    assert found.power_w[0] == pytest.approx(power_w, rel=1e-11)


def test_a_fit_does_not_depend_on_the_order_of_its_sums():
    table = machine_like_table(noise=0.02)
    rows = np.arange(0, len(table), 5)
    ahead, back = fit(table.take(rows)), fit(table.take(rows[::-1]))
    points = table.points()
    one, other = ahead.predict_points(points), back.predict_points(points)
    for name in ("time_s", "power_w", "time_sd", "power_sd"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6), name


def test_a_design_does_not_depend_on_the_order_of_its_sums(monkeypatch):
    points = machine_like_table().points()
    factors = design._factors

    def shuffled(*given):
        random = np.random.default_rng(1)
        return [each[:, random.permutation(each.shape[1])] for each in factors(*given)]

    usual = suggest(points, 8)
    monkeypatch.setattr(design, "_factors", shuffled)
    assert suggest(points, 8) == usual
