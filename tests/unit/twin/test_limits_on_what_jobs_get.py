"""Limits per job and on nodes of a partition hold for what jobs get, not for what they ask."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.shared import RESOURCES, limits, machine, requests
from tests.support.shared_judged import findings
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outcome import NEVER, RAN, REASONS, REFUSED, Schedule
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

CONF = """ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageEnforce=limits,qos
NodeName=n[1-4] {node} RealMemory=4000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100 {partition}
"""
CORES = "CPUs=4"
THREADS = "Sockets=1 CoresPerSocket=2 ThreadsPerCore=2"


def _run(folder: Path, options: str, *, partition: str = "", qos: str = "", account: str = "",
         node: str = CORES) -> tuple[Schedule, list[str]]:
    accounts = (f"add qos Name=q1 {qos}\nadd cluster Name=small QOS=normal,q1\n"
                f"add account name=phys {account}\nadd user name=ada account=phys\n")
    found = site(folder, submit(f"-q q1 -t 5 {options}"),
                 CONF.format(node=node, partition=partition), accounts)
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    return run, findings(found.machine, found.made.requests, found.rules, run)


NODES = [
    ("-n 8", "MaxNodes=2", 2), ("-N 1-4 -n 14", "MaxNodes=2", 0),
    ("-n 5", "MaxNodes=2", 2), ("-n 4", "MinNodes=2", 2), ("-n 1", "MinNodes=2", 2),
    ("-N 1-4 -n 4", "MinNodes=2 MaxNodes=3", 0), ("-N 1-3 -n 4", "MinNodes=2 MaxNodes=3", 3),
    ("-n 8", "MinNodes=3", 3),
    ("-N 1 -n 1", "MinNodes=2", 0), ("-N 3 -n 3", "MaxNodes=2", 0), ("-n 4", "", 1),
    ("-N 2 -n 2", "MinNodes=2 MaxNodes=2", 2),
]


@pytest.mark.parametrize(("options", "partition", "nodes"), NODES)
def test_nodes_of_a_partition(
    tmp_path: Path, options: str, partition: str, nodes: int
) -> None:
    run, broken = _run(tmp_path, options, partition=partition)
    assert broken == []
    if nodes == 0:
        assert run.state[0] == NEVER
        assert REASONS[run.reason[0]] == "over the partition's nodes"
    else:
        assert run.state[0] == RAN
        assert len(run.allocation_node) == nodes


@pytest.mark.parametrize("limit", [
    {"partition": "MaxNodes=2"}, {"qos": "MaxTRES=node=2"}, {"account": "MaxTRES=node=2"},
    {"qos": "GrpTRES=node=2"}, {"account": "GrpTRES=node=2"}, {"qos": "MaxTRESPerUser=node=2"}])
def test_tasks_that_need_more_nodes_than_a_job_may_have(
    tmp_path: Path, limit: dict[str, str]
) -> None:
    """Slurm 22.05.8 refuses such a job at its submission: with two nodes it fits nowhere."""
    run, _ = _run(tmp_path, "-n 12", **limit)
    assert run.state[0] == REFUSED
    assert REASONS[run.reason[0]].startswith("over ")
    run, broken = _run(tmp_path, "-n 8", **limit)
    assert (run.state[0], len(run.allocation_node), broken) == (RAN, 2, [])


@pytest.mark.parametrize("where", ["qos", "account"])
@pytest.mark.parametrize(("options", "limit", "node", "runs"), [
    ("-N 3", "node=2", CORES, False), ("-n 8", "node=2", CORES, True),
    ("-n 3 -N 3 --exclusive", "cpu=8", CORES, False),
    ("-n 2 -N 2 --exclusive", "cpu=8", CORES, True),
    ("-n 1 --mem=0", "mem=500M", CORES, False), ("-n 5", "mem=500M", CORES, True),
    ("-n 1", "cpu=1", THREADS, False), ("-n 1", "cpu=2", THREADS, True),
    ("-n 9", "cpu=8", CORES, False),
])
def test_maxtres_holds_for_what_a_job_gets(
    tmp_path: Path, where: str, options: str, limit: str, node: str, runs: bool
) -> None:
    given: dict[str, Any] = {where: f"MaxTRES={limit}"}
    run, broken = _run(tmp_path, options, node=node, **given)
    assert broken == []
    assert run.state[0] == (RAN if runs else NEVER)
    if not runs:
        assert REASONS[run.reason[0]] == "over a limit per job"


def test_a_job_over_its_limit_with_these_nodes_takes_others(tmp_path: Path) -> None:
    """With whole nodes it may have 4 CPUs; the large node is free first, the small one later."""
    on = machine(2, cpus=np.array([8, 4]))
    on = replace(on, qos=replace(on.qos, limits=limits(1, RESOURCES, job_tres=(0, 0, 4))))
    asked = requests(on, {"tasks": 4, "required": 0}, {"tasks": 2, "exclusive": True},
                     node_masks=[[False, True]])
    rules = Rules(enforce_limits=True)
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    assert found.start_s.tolist()[0] == 0.0
    assert found.start_s[1] >= 600.0
    assert found.allocation_node.tolist() == [1, 1]


def test_a_job_keeps_to_the_nodes_of_each_of_its_partitions() -> None:
    """The first partition allows one node, of which none has enough; the second allows three."""
    on = machine(4, partitions=[[0, 1, 2, 3]] * 2)
    on = replace(on, partitions=replace(on.partitions, max_nodes=np.array([1, 3])))
    asked = requests(on, {"tasks": 12, "partition": [0, 1]}, {"tasks": 4, "partition": [0, 1]})
    found = simulate_shared(on, asked, Rules())
    assert found.partition.tolist()[0] == 1
    assert np.bincount(found.allocation_job).tolist() == [3, 1]
    assert findings(on, asked, Rules(), found) == []


@pytest.mark.parametrize("change", ["max_nodes", "min_nodes", "job_tres"])
def test_the_checker_sees_a_broken_limit(change: str) -> None:
    on = machine(3)
    asked = requests(on, {"tasks": 8})
    rules = Rules(enforce_limits=True)
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    assert findings(_with(on, change), asked, rules, found) != []


def _with(on: SharedMachine, change: str) -> SharedMachine:
    if change == "job_tres":
        return replace(on, qos=replace(on.qos, limits=limits(1, RESOURCES, job_tres=(0, 2, 1))))
    value = {"max_nodes": 1, "min_nodes": 3}[change]
    return replace(on, partitions=replace(on.partitions, **{change: np.array([value])}))


def test_a_job_that_fits_nowhere_is_refused_as_before() -> None:
    on = machine(2)
    found = simulate_shared(on, requests(on, {"tasks": 1, "memory_per_cpu_mb": 5000}), Rules())
    assert found.state.tolist() == [REFUSED]
