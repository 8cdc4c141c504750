"""Jobs that ask for a range of nodes: as many as there are, without waiting for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.rules import LINEAR, Rules
from wattline.shared_nodes.simulate import simulate_shared

CONF = """ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
NodeName=n[1-4] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""


def _cpus(folder: Path, options: str, conf: str = CONF) -> list[int]:
    """On each node that the only job of a site gets."""
    found = site(folder, submit(f"-t 5 {options}"), conf, None)
    assert not any("use-min-nodes" in line for line in found.lists.not_modelled)
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert findings(found.machine, found.made.requests, found.rules, run) == []
    return [int(cpus) for cpus in run.allocation_cpus]


@pytest.mark.parametrize(("options", "cpus"), [
    ("-N 1-3 -n 3", [1, 1, 1]), ("-N 2-4 -n 4", [1, 1, 1, 1]), ("-N 1-4 -n 4", [1, 1, 1, 1]),
    ("-N 1-2", [1, 1]), ("-N 2-3", [1, 1, 1]), ("-N 1-9 -n 16", [4, 4, 4, 4]),
    ("-N 1-3 -n 3 --use-min-nodes", [3]), ("--use-min-nodes -N 1-3 -n 3", [3]),
    ("-N 2 -n 4", [3, 1]), ("-n 3", [3]), ("-N 1-4 -n 2", [1, 1]),
    ("-N 1-3 --ntasks-per-node=2", [2, 2, 2]), ("-N 1-3 -c 2", [2, 2, 2]),
    ("-N 1-3 --exclusive", [4, 4, 4]), ("-N 1-3 -n 3 --exclusive --use-min-nodes", [4]),
])
def test_an_empty_machine_gives_as_many_as_it_may(
    tmp_path: Path, options: str, cpus: list[int]
) -> None:
    assert _cpus(tmp_path, options) == cpus


def test_linear_gives_as_many_as_it_may(tmp_path: Path) -> None:
    conf = CONF.replace("cons_tres", "linear").replace("CR_CPU_Memory", "CR_Memory")
    assert _cpus(tmp_path, "-N 1-3 -n 3", conf) == [4, 4, 4]


@pytest.mark.parametrize("busy", range(5))
@pytest.mark.parametrize("rules", [Rules(), Rules(least_loaded=True), Rules(select=LINEAR)])
@pytest.mark.parametrize("fewest", [1, 2])
def test_it_does_not_wait_for_more(busy: int, rules: Rules, fewest: int) -> None:
    """`busy` of the four nodes are taken until 600 s."""
    on = machine(4)
    jobs: list[dict[str, Any]] = [{"tasks": 4, "min_nodes": 1, "required": row}
                                  for row in range(busy)]
    jobs.append({"submit_s": 1.0, "tasks": 4, "min_nodes": fewest, "max_nodes": 3,
                 "limit_s": 300.0, "run_s": 200.0})
    asked = requests(on, *jobs, node_masks=np.eye(4, dtype=bool))
    widens = np.array([False] * busy + [True])
    found = simulate_shared(on, replace(asked, as_many_nodes=widens), rules)
    assert findings(on, asked, rules, found) == []
    free = 4 - busy
    had = int((found.allocation_job == busy).sum())
    assert (found.start_s[-1] < 600.0) == (free >= fewest)
    assert had == (min(free, 3) if free >= fewest else 3)
    as_few = simulate_shared(on, asked, rules)
    assert as_few.start_s.tolist() == found.start_s.tolist()


@pytest.mark.parametrize(("line", "had", "nodes"), [
    ("sbatch -N1-3 --exclusive x.sh", 3, 3), ("sbatch -N 1-3 -n 3 x.sh", 2, 2),
    ("sbatch -N 2 -n 2 x.sh", 2, 2), ("sbatch -N 1-2 -n 3 x.sh", 1, 1),
])
def test_a_job_of_a_log_has_as_many_as_it_had(
    tmp_path: Path, line: str, had: int, nodes: int
) -> None:
    columns = ("JobID|User|Account|Partition|QOS|Submit|Start|End|Timelimit|ReqCPUS|AllocCPUS|"
               "ReqMem|NNodes|NodeList|State|SubmitLine")
    day = "2025-03-04T08:0"
    row = (f"1|ada|phys|p|normal|{day}0:00|{day}1:00|{day}3:00|00:10:00|3|{4 * had}|400M|{had}|"
           f"n[1-{had}]|COMPLETED|{line}")
    found = site(tmp_path, f"{columns}\n{row}\n", CONF, None, "sacct")
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert len(run.allocation_node) == nodes
    said = any("range of nodes: as many as it had" in text for text in found.log.filled)
    assert said == ("-3" in line or "1-2" in line)
