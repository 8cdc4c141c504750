"""Jokanovic's policy as the authors' code has it."""

import numpy as np

from wattline.network.topology import dragonfly
from wattline.studies.dragonfly.allocator import place_by_code

MACHINE = dragonfly(4, 4, 9)


def test_small_jobs_stand_one_job_further_and_straddle_groups():
    small, large, other = place_by_code(MACHINE, [5, 20, 12])
    assert small.tolist() == [5, 6, 7, 8, 9]  # it found 0 to 4, and went on
    assert large.tolist() == list(range(143, 123, -1))
    # Group 0 has 11 nodes left, so it finds 16 to 27, and takes the first free ones beside them.
    assert other.tolist() == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 28]


def test_a_full_machine_is_filled_without_a_node_twice():
    placed = place_by_code(MACHINE, [16] * 9)
    assert sorted(np.concatenate(placed).tolist()) == list(range(144))
