"""Tasks of an array that backfill holds nodes for: at most 20, and no more than may run at once.

Every node has 4 CPUs, of which 2 are in use until 3,600 s. Tasks of the array take whole nodes for
10 minutes; the job behind them takes 2 CPUs for 4 hours, so that a node that is held has no room
for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from tests.support.thinned import crossed
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

NODES = 25


def _start_of_the_last_s(tasks: int, limit: int, **changed: Any) -> float:
    on = machine(NODES)
    jobs = [{"tasks": 2, "min_nodes": 1, "run_s": 3500.0, "limit_s": 3600.0, "required": row}
            for row in range(NODES)]
    jobs += [{"tasks": 4, "min_nodes": 1, "submit_s": 1.0, "array": 0, "array_limit": limit}
             for _ in range(tasks)]
    jobs.append({"tasks": 2, "min_nodes": 1, "submit_s": 2.0, "run_s": 600.0, "limit_s": 14400.0})
    asked = requests(on, *jobs, node_masks=np.eye(NODES, dtype=bool))
    rules = Rules(**changed)
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    array = slice(NODES, NODES + tasks)
    if limit > 0:
        starts, ends = found.start_s[array], found.end_s[array]
        assert all(((starts <= at) & (ends > at)).sum() <= limit for at in starts)
    return float(found.start_s[-1])


@pytest.mark.parametrize(("tasks", "most", "limit"), crossed(
    [1, 19, 20, 24, 25, 40], [0, 1, 20, 24, 25, 1000], [-1, 2, 24, 30], later=pytest.mark.long))
def test_nodes_that_are_held_for_an_array(tasks: int, most: int, limit: int) -> None:
    held = min(tasks, max(most, 1), limit if limit > 0 else tasks)
    start_s = _start_of_the_last_s(tasks, limit, bf_max_job_array_resv=most)
    assert (start_s < 60.0) == (held < NODES)


def test_by_default_twenty_tasks_have_nodes_held_for_them() -> None:
    assert _start_of_the_last_s(40, -1) < 60.0
    assert _start_of_the_last_s(40, -1, bf_max_job_array_resv=25) > 3400.0
