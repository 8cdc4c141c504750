"""The index must answer as a search through the whole table does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wattline.physics.configurations import ConfigurationTable
from wattline.physics.pareto import build_index, fastest_within, join


def random_table(seed: int, rows: int, name: str = "a") -> ConfigurationTable:
    generator = np.random.default_rng(seed)
    return ConfigurationTable.build(
        name, generator.integers(1, 12, rows), generator.integers(1, 16, rows),
        generator.integers(50, 116, rows), generator.integers(1, 40, rows),
        generator.integers(1, 60, rows),
    )


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 14), st.integers(0, 70))
def test_the_index_finds_what_a_full_search_finds(seed, rows, nodes, power_w):
    tables = [random_table(seed, rows), random_table(seed + 1, rows + 3, "b")]
    index, joined = build_index(tables), join(tables)
    for application in range(2):
        own = slice(joined.first_row[application], joined.first_row[application + 1])
        fits = (joined.nodes[own] <= nodes) & (joined.power_w[own] <= power_w)
        found = fastest_within(index, application, nodes, float(power_w))
        if not fits.any():
            assert found == -1
            continue
        assert own.start <= found < own.stop
        assert joined.nodes[found] <= nodes
        assert joined.power_w[found] <= power_w
        assert joined.time_s[found] == joined.time_s[own][fits].min()


def test_fronts_get_faster_with_power():
    index = build_index([random_table(1, 300)])
    assert np.diff(index.first_point).max() > 3
    for start, end in zip(index.first_point[:-1], index.first_point[1:], strict=True):
        assert np.all(np.diff(index.power_w[start:end]) > 0)
        assert np.all(np.diff(index.time_s[start:end]) < 0)
