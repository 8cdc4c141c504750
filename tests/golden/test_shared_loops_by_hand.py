"""The loops of a scheduler of shared nodes count from its start, whatever second that was."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.shared import machine, requests
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared


@pytest.mark.parametrize("phase_s", [0.1, 271.3, 296.3, 299.9])
def test_priorities_are_renewed_once_per_period_at_any_phase(phase_s: float) -> None:
    """296.3 + 300 less 296.3 is a little less than 300: the next time must still be a later one."""
    on = machine(1)
    rules = Rules(priority=Priority(kind="multifactor"))
    asked = requests(on, {"tasks": 4, "run_s": 1200.0, "limit_s": 1200.0}, {"tasks": 4})
    found = simulate_shared(on, asked, rules, phase_s=phase_s)
    assert found.start_s[1] >= found.end_s[0] == found.start_s[0] + 1200.0


def test_an_end_is_followed_by_a_pass_at_once_where_nodes_report_it() -> None:
    """Job 0 ends at 10 s; job 2 asked for the pass at 9 s, so the next one comes at 12 s."""
    on = machine(1)
    asked = requests(on, {"tasks": 4, "run_s": 10.0}, {"tasks": 4, "submit_s": 1.0},
                     {"tasks": 4, "submit_s": 9.0})
    found = [simulate_shared(on, asked, Rules(scheduler="builtin", prompt_ends=part)).start_s[1]
             for part in (0.0, 1.0)]
    assert found == [12.0, 10.0]


def test_an_exclusive_job_that_small_nodes_cannot_hold_goes_to_a_larger_one() -> None:
    """Nodes of the lower weight have 4 CPUs, which is too few; they are left out, as for others."""
    on = machine(3, cpus=np.array([4, 4, 8]), weight=np.array([1, 1, 5]),
                 leaf=np.array([0, 0, 1]), switches=2)
    asked = requests(on, {"tasks": 8, "min_nodes": 1, "max_nodes": 1, "exclusive": True})
    found = simulate_shared(on, asked, Rules(topology_tree=True))
    assert list(found.allocation_node) == [2]
