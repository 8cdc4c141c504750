"""`sacct --json` says as much as its text does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.twin_sites import site

from wattline.shared_nodes.simulate import simulate_shared

BEGIN = 1_700_000_000
CONF = """\
Licenses=mat:1
NodeName=n[1-3] CPUs=8 RealMemory=8000
NodeName=n4 CPUs=8 RealMemory=8000 Feature=big
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=500
"""


def job(number: int, start: Any = BEGIN + 5, end: Any = BEGIN + 105, **cells: Any,
        ) -> dict[str, Any]:
    tres = [{"type": "cpu", "name": "", "count": 4}, {"type": "node", "name": "", "count": 1}]
    return {"job_id": number, "user": "ada", "account": "phys", "partition": "p", "qos": "normal",
            "state": {"current": ["COMPLETED"]}, "nodes": "n4", "allocation_nodes": 1,
            "time": {"submission": BEGIN, "eligible": BEGIN, "start": start, "end": end,
                     "limit": {"set": True, "infinite": False, "number": 60}},
            "tres": {"requested": tres, "allocated": tres}, "submit_line": "", "constraints": "",
            "licenses": ""} | cells


def dumped(folder: Path, *jobs: Any) -> Any:
    return site(folder, json.dumps({"jobs": jobs}), conf=CONF, accounts=None, kind="sacct")


def test_features_count(tmp_path: Path) -> None:
    found = dumped(tmp_path, job(1, constraints="big"), job(2, constraints=None))
    assert [each.constraint for each in found.log.jobs] == ["big", ""]
    ran = simulate_shared(found.machine, found.made.requests, found.rules)
    given = ran.allocation_node[ran.allocation_job == 0]
    assert [found.machine.nodes.names[at] for at in given] == ["n4"]


def test_licences_count(tmp_path: Path) -> None:
    found = dumped(tmp_path, job(1, licenses="mat:1"), job(2, licenses="mat:1"))
    assert [each.licences for each in found.log.jobs] == [{"mat": 1}] * 2
    ran = simulate_shared(found.machine, found.made.requests, found.rules)
    assert ran.start_s[1] >= ran.end_s[0]


@pytest.mark.parametrize("nodes", ["None assigned", "", None])
@pytest.mark.parametrize("none", [0, None, {"set": False, "infinite": False, "number": 0}])
def test_who_never_started_is_left_out(tmp_path: Path, nodes: str | None, none: Any) -> None:
    waits = {"nodes": nodes, "allocation_nodes": 0}
    found = dumped(tmp_path, job(1),
                   job(2, none, BEGIN + 50, state={"current": ["CANCELLED"]}, **waits),
                   job(3, none, none, state={"current": ["PENDING"]}, **waits),
                   job(4, BEGIN + 5, none, state={"current": ["RUNNING"]}))
    assert [each.job_id for each in found.log.jobs] == ["1", "4"]
    assert found.log.unix_start_s == BEGIN - BEGIN % 60
    assert [line.partition(",")[0] for line in found.log.left_out] == [
        "1 job: CANCELLED", "1 job: PENDING"]


def test_what_is_no_job_is_counted(tmp_path: Path) -> None:
    found = dumped(tmp_path, job(1), {"job_id": 9, "time": None}, "x")
    assert [each.job_id for each in found.log.jobs] == ["1"]
    assert found.log.left_out == ("2 jobs: the record cannot be read (record 2, record 3)",)


UNSET = {"set": False, "infinite": False, "number": 0}


def _set(number: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": number}


@pytest.mark.parametrize(("required", "per_cpu", "per_node"), [
    ({"memory_per_cpu": _set(700), "memory_per_node": UNSET}, 700, -1),
    ({"memory_per_cpu": UNSET, "memory_per_node": _set(3000)}, -1, 3000),
    ({"memory_per_cpu": UNSET, "memory_per_node": _set(0)}, -1, 0),  # --mem=0: all of the node's
    ({"memory_per_cpu": 700, "memory_per_node": 0}, 700, -1),
    ({"memory_per_cpu": 0, "memory_per_node": 3000}, -1, 3000),
    ({"CPUs": 4, "memory_per_cpu": UNSET, "memory_per_node": UNSET}, -1, -1),
    ({"memory_per_cpu": "x", "memory_per_node": {"set": True, "infinite": True}}, -1, -1),
    (None, -1, -1),
])
def test_memory_counts(tmp_path: Path, required: Any, per_cpu: int, per_node: int) -> None:
    found = dumped(tmp_path, job(1, required=required)).log.jobs[0]
    assert (found.memory_per_cpu_mb, found.memory_per_node_mb) == (per_cpu, per_node)


@pytest.mark.parametrize(("cpus", "memory", "total"), [(1, 500, 500), (2, 100, 200), (1, 0, 8000)])
def test_memory_of_the_whole_job_counts_where_nothing_says_per_what(
    tmp_path: Path, cpus: int, memory: int, total: int,
) -> None:
    """Slurm 22.05 has one number, also for --mem-per-cpu (the second), and 0 for --mem=0."""
    asked = [{"type": kind, "name": None, "count": count}
             for kind, count in (("cpu", cpus), ("mem", total), ("node", 1))]
    told = job(1, required={"CPUs": cpus, "memory": memory},
               tres={"requested": asked, "allocated": asked})
    found = dumped(tmp_path, told).log.jobs[0]
    assert (found.memory_per_cpu_mb, found.memory_per_node_mb) == (-1, total)


def test_jobs_without_memory_beside_each_other_wait(tmp_path: Path) -> None:
    """A node has 8000 MB, of which each asks for 5000: one after the other, on the only node."""
    asked = {"memory_per_cpu": UNSET, "memory_per_node": _set(5000)}
    found = dumped(tmp_path, *(job(number, constraints="big", required=asked) for number in (1, 2)))
    ran = simulate_shared(found.machine, found.made.requests, found.rules)
    assert ran.start_s[1] >= ran.end_s[0]
