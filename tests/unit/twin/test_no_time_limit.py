"""Jobs submitted without a time limit: over the time of a partition that has one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.outcome import NEVER, REASONS, REFUSED
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
EnforcePartLimits={enforce}
NodeName=n1 CPUs=4
PartitionName=p Nodes=ALL Default=YES DefaultTime=2 MaxTime={longest}
"""


@pytest.mark.parametrize(("enforce", "state"), [("NO", NEVER), ("ALL", REFUSED), ("ANY", REFUSED)])
@pytest.mark.parametrize("asked", ["0", "UNLIMITED", "20"])
def test_it_is_over_the_partitions_time(
    tmp_path: Path, asked: str, enforce: str, state: int
) -> None:
    made = site(tmp_path, submit(f"-n 1 -t {asked}", run=-1),
                CONF.format(enforce=enforce, longest=5), None)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert found.state[0] == state
    assert REASONS[found.reason[0]] == "over the partition's time"


@pytest.mark.parametrize(("asked", "runs_s"), [("0", 4000.0), ("UNLIMITED", 4000.0), ("5", 300.0)])
def test_it_runs_to_its_end_where_the_partition_has_no_limit(
    tmp_path: Path, asked: str, runs_s: float
) -> None:
    made = site(tmp_path, submit(f"-n 1 -t {asked}", run=4000),
                CONF.format(enforce="NO", longest="UNLIMITED"), None)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert np.all(np.abs(found.end_s - found.start_s - runs_s) < 31.0)
