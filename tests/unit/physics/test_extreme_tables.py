"""Tables far from any machine: models answer with finite figures, or refuse, and never warn."""

import warnings

import numpy as np
import pytest
from tests.support.thinned import crossed

from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression import Grid, fit

SHAPES = {
    "usual": lambda nodes, cores, cap: (100 / (nodes * cores), nodes * np.minimum(cap, 9 * cores)),
    "tiny watts": lambda nodes, cores, cap: (100 / nodes, 1e-9 * nodes * cores),
    "huge watts": lambda nodes, cores, cap: (100 / nodes, 1e12 * nodes * cores),
    "tiny times": lambda nodes, cores, cap: (1e-12 / nodes, nodes * cores),
    "huge times": lambda nodes, cores, cap: (1e15 / nodes, nodes * cores),
    "wild": lambda nodes, cores, cap: (10.0 ** ((nodes * 7 + cores * 3) % 11 - 5),
                                       10.0 ** ((nodes * 3 + cap) % 13 - 6)),
    "steep": lambda nodes, cores, cap: (nodes ** -30.0, np.exp(3.0 * cores) * nodes),
}
CAPS = {"usual": (50.0, 65.0, 80.0, 110.0), "tiny": (1e-6, 1e-5, 1e-3, 1.0),
        "wide": (1e-3, 1.0, 1e3, 1e9)}


def table(shape, caps):
    grid = Grid({"nodes": (1, 4, 64), "cores": (1, 8, 16), "cap_w": CAPS[caps]})
    nodes, cores, cap = grid.points().T
    time_s, power_w = SHAPES[shape](nodes, cores, cap)
    return ConfigurationTable.build("made", nodes, cores, cap, time_s, power_w)


@pytest.mark.parametrize(("kind", "shape", "caps"), crossed(
    ["capping", "smooth", "quadratic"], list(SHAPES), list(CAPS), later=pytest.mark.long))
def test_extreme_tables_are_fitted_without_a_warning(kind, shape, caps):
    made = table(shape, caps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(made, kind)
        found = model.predict_points(made.points())
    assert np.isfinite(found.time_s).all()
    assert np.isfinite(found.power_w).all()
