"""The racks of `wattline bench twin`."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.benchmarks._shared_jobs import large_machine
from wattline.benchmarks.twin import rack_limits


def test_each_node_is_in_one_rack_that_may_draw_four_fifths_of_its_parts() -> None:
    """Of 20 nodes the last four have GPUs: 150 W idle, 64 CPUs of 4 W, and four GPUs of 300 W."""
    racks = rack_limits(large_machine(20))
    assert [len(rack.nodes) for rack in racks] == [3, 3, 3, 3, 2, 2, 2, 2]
    assert np.concatenate([rack.nodes for rack in racks]).tolist() == list(range(20))
    assert racks[0].idle_w == 450.0
    assert racks[0].limit_w == pytest.approx(0.8 * 3 * (150.0 + 256.0))
    assert racks[-1].limit_w == pytest.approx(0.8 * 2 * (150.0 + 256.0 + 1200.0))
