"""Manufacturing variability: factors from runs, caps in proportion, thrifty nodes."""

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.physics.variability import (
    MEASURED_SD,
    NodeFactors,
    equal_caps,
    fitted_caps,
    node_slowdown,
    read_node_factors,
)

HEADER = "host,run_id,nodes,pkg0_w,pkg1_w,pkg0_limit_w\n"


def test_factors_are_the_middle_of_the_ratios_at_the_highest_cap(tmp_path):
    rows = []
    for run, level in (("a", 60.0), ("b", 80.0)):
        rows += [f"n{i},{run},9,{level * (1 + 0.01 * (i - 4))},{level * (1 + 0.01 * (i - 4))},95"
                 for i in range(9)]
    rows += [f"n{i},c,9,50,50,51" for i in range(9)]
    path = tmp_path / "nodes.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    found = read_node_factors(path)
    assert found.hosts == tuple(f"n{i}" for i in range(9))
    assert np.allclose(found.factor, 1 + 0.01 * (np.arange(9) - 4))


def factors_of_runs(path, *runs):
    """Of eight nodes: the cap of each run, and what n0 draws where the others draw 100 W."""
    rows = [f"n{node},{run},8,{watts if node == 0 else 100.0},0.0001,{cap_w}"
            for run, (cap_w, watts) in enumerate(runs) for node in range(8)]
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return read_node_factors(path).factor


def test_a_factor_is_the_median_over_the_runs_at_the_highest_cap(tmp_path):
    """A run of 130 W at the highest cap moves the mean of three, and runs under a cap that binds,
    in which all nodes draw the same, would move both."""
    found = factors_of_runs(tmp_path / "nodes.csv", (95, 110.0), (95, 105.0), (95, 130.0),
                            *[(51, 100.0)] * 4)
    assert found == pytest.approx([1.1, *[1.0] * 7], abs=1e-5)


def test_factors_of_the_measured_cluster():
    found = read_node_factors(shared("rapl/rzmerl_per_node_rapl.csv.xz"))
    assert len(found.factor) == 138
    assert found.factor.std() == pytest.approx(MEASURED_SD, abs=0.0002)
    assert found.factor.max() / found.factor.min() < 1.08


def test_bad_tables_are_refused(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("host,run_id\n")
    with pytest.raises(InputError, match="lacks the columns pkg0_w"):
        read_node_factors(path)
    path.write_text(HEADER + "n1,a,9,x,1,95\n")
    with pytest.raises(InputError, match="line 2: pkg0_w"):
        read_node_factors(path)
    path.write_text(HEADER + "n1,a,9,1,1,95\n")
    with pytest.raises(InputError, match="no run has 8 nodes"):
        read_node_factors(path)
    with pytest.raises(InputError, match="greater than 0"):
        NodeFactors(np.array([1.0, -1.0]))


def test_fitted_caps_keep_the_pace_of_all_nodes_within_the_same_watts():
    factor = np.array([0.9, 1.0, 1.1, 1.2])
    caps = fitted_caps(400.0, factor)
    assert caps.sum() == pytest.approx(400.0)
    paced = node_slowdown(150.0, caps, factor)
    assert np.ptp(paced) < 1e-12
    blind = node_slowdown(150.0, equal_caps(400.0, 4), factor)
    assert paced.max() < blind.max()


def test_a_cap_above_the_demand_costs_nothing():
    assert np.all(node_slowdown(80.0, np.array([120.0]), np.array([1.2])) == 1.0)


def test_thrifty_nodes_are_chosen_first():
    factors = NodeFactors(np.array([1.1, 0.9, 1.0, 0.95]))
    assert factors.thriftiest(np.array([0, 2, 3]), 2).tolist() == [3, 2]
    with pytest.raises(InputError, match="4 nodes wanted, 3 are free"):
        factors.thriftiest(np.array([0, 2, 3]), 4)


def test_drawn_factors_follow_the_seed():
    assert np.array_equal(NodeFactors.drawn(5, 1).factor, NodeFactors.drawn(5, 1).factor)
    assert not np.array_equal(NodeFactors.drawn(5, 1).factor, NodeFactors.drawn(5, 2).factor)
