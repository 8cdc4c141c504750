"""Slopes of whole tables: what they determine, and what they leave out."""

import numpy as np
import pytest

from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.learning import slopes_of


def made(nodes, cores, caps, slopes, noise=0.0):
    """A table of all combinations, whose time is a power of each setting."""
    grid = np.array([(n, c, w) for n in nodes for c in cores for w in caps], float)
    rng = np.random.default_rng(1)
    time_s = 1e5 * np.prod(grid ** np.array(slopes), axis=1)
    return ConfigurationTable.build("app", *grid.T, time_s * np.exp(noise * rng.normal(
        size=len(grid))), 100.0 * grid[:, 0])


@pytest.mark.parametrize("slopes", [(-0.9, -0.7, -0.2), (0.1, -1.0, 0.0)])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_slopes_of_a_line_are_found(slopes, noise):
    found = slopes_of(made((2, 4, 8), (4, 8, 16), (51, 65, 95), slopes, noise))
    assert found["time"] == pytest.approx(
        dict(zip(("nodes", "cores", "cap_w"), slopes, strict=True)), abs=1e-9 + 3 * noise)
    assert found["power"] == pytest.approx({"nodes": 1.0, "cores": 0.0, "cap_w": 0.0}, abs=1e-9)


def test_a_setting_of_one_level_has_no_slope():
    found = slopes_of(made((1,), (4, 8, 16), (51, 65, 95), (0.0, -0.7, -0.2)))
    assert set(found["time"]) == set(found["power"]) == {"cores", "cap_w"}


def test_a_slope_that_noise_hides_is_not_known():
    found = slopes_of(made((2, 64), (4, 16), (94, 95), (-0.9, -0.7, -0.2), noise=0.05))
    assert set(found["time"]) == {"nodes", "cores"}


def test_as_many_points_as_figures_determine_nothing():
    whole = made((2, 4), (4, 8), (51, 65), (-0.9, -0.7, -0.2))
    assert slopes_of(whole.take(np.array([0, 1, 2, 4]))) == {"power": {}, "time": {}}
    in_step = whole.take(np.array([0, 0, 7, 7, 0, 7]))
    assert slopes_of(in_step) == {"power": {}, "time": {}}
