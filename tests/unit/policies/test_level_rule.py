"""The choice of a frequency, worked out by hand on the published table."""

import numpy as np
import pytest

from wattline.physics.core_power import SANDY_BRIDGE
from wattline.policies.admission.level_rule import WAIT, choose_level, optimal_level

RISE_W = SANDY_BRIDGE.node_power(16) - 16 * SANDY_BRIDGE.idle_w  # 80, 96, ..., 240 W per node
DYNAMIC = SANDY_BRIDGE.dynamic()
FULL_W = 240.0


def test_the_rises():
    assert list(RISE_W) == [80, 96, 128, 144, 160, 176, 208, 240]
    assert pytest.approx(RISE_W / FULL_W) == DYNAMIC


@pytest.mark.parametrize(
    ("room_w", "nodes", "idle", "level"),
    [
        (2400.0, 10, 100, 7),  # ten nodes at full speed just fit
        (2399.0, 10, 10, 6),  # they do not; all ten idle nodes fit at 2.4 GHz (2,080 W)
        (1300.0, 10, 10, 2),  # 1.6 GHz: 1,280 W
        (1300.0, 10, 20, 0),  # no level lets all twenty run; the lowest takes this job: 800 W
        (799.0, 10, 20, WAIT),
        (0.0, 1, 1, WAIT),
    ],
)
def test_full_then_optimal_then_lowest_then_wait(room_w, nodes, idle, level):
    assert choose_level(room_w, nodes * FULL_W, idle * FULL_W, DYNAMIC, 0, 7) == level


def test_a_job_that_draws_more_than_idle_nodes_do_busy_has_its_own_watts_counted():
    """2,000 W of one job where ten idle nodes at full speed would be 1,000 W: those fit into the
    room of 1,500 W at every level, and the job at the lowest, with 5 of 15 W, alone."""
    levels = np.array([5 / 15, 12 / 15, 1.0])
    assert choose_level(1500.0, 2000.0, 1000.0, levels, 0, 2) == 0
    assert choose_level(600.0, 2000.0, 1000.0, levels, 0, 2) == WAIT


def test_the_range_of_the_job_is_kept():
    assert choose_level(1300.0, 2400.0, 2400.0, DYNAMIC, 3, 7) == WAIT
    assert choose_level(1500.0, 2400.0, 2400.0, DYNAMIC, 3, 3) == 3


def test_what_is_optimal_lets_all_idle_nodes_run():
    rng = np.random.default_rng(1)
    for _ in range(500):
        idle, room = int(rng.integers(1, 5000)), float(rng.uniform(0, 1.2e6))
        level = optimal_level(room, idle * FULL_W, DYNAMIC, 0, 7)
        if level != WAIT:
            assert idle * RISE_W[level] <= room * (1 + 1e-6)
            assert level == 7 or idle * RISE_W[level + 1] > room
        else:
            assert idle * RISE_W[0] > room
