"""`ReqTRES node=` of accounting is the fewest nodes that a job asked for, and not the most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared
from tests.support.twin_sites import site

import wattline as wl
from wattline.scenario.twin.as_it_ran import AS_IT_RAN, AS_ITS_CPUS
from wattline.scenario.twin.from_sacct import ANY_NODES, BY_CPUS, FEWEST_NODES, MORE_NODES
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.simulate import simulate_shared

CONF = """ClusterName=four
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-4] CPUs=8 RealMemory=8000 Gres=gpu:4
PartitionName=all Nodes=n[1-4] Default=YES MaxTime=60
"""
HEADER = ("JobID|User|Account|Partition|Submit|Start|End|Timelimit|ReqTRES|AllocTRES|NNodes|"
          "NodeList|State|SubmitLine\n")
TIMES = "2026-01-05T10:00:00|2026-01-05T10:00:00|2026-01-05T10:05:00|00:10:00"


def _row(job: int, asked: str, given: str, nodes: int, line: str = "") -> str:
    listed = "n1" if nodes == 1 else f"n[1-{nodes}]"
    return (f"{job}|ada|lab|all|{TIMES}|{asked}|{given},node={nodes}|{nodes}|{listed}|COMPLETED|"
            f"{line}\n")


def _log_of(**cells: str) -> str:
    """A log of one job that says this of it and its times, and has no further columns."""
    usual = dict(zip(HEADER.split("|")[:8], f"1|ada|lab|all|{TIMES}".split("|"), strict=True))
    row = usual | {"State": "COMPLETED"} | cells
    return f"{'|'.join(row)}\n{'|'.join(row.values())}\n"


def _nodes_had(folder: Path, *rows: str) -> list[int]:
    return _nodes_of(site(folder, HEADER + "".join(rows), CONF, None, "sacct"), len(rows))


def _nodes_of(found: Site, jobs: int = 1) -> list[int]:
    assert not found.made.unfit
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert np.isfinite(run.start_s).all()
    return np.bincount(run.allocation_job, minlength=jobs).tolist()


@pytest.mark.parametrize("cpus", [9, 16, 31])
@pytest.mark.parametrize("line", ["", "sbatch job.sh", "sbatch -n {} job.sh"])
def test_tasks_alone_get_as_many_nodes_as_they_need(tmp_path: Path, cpus: int, line: str) -> None:
    nodes = -(-cpus // 8)
    assert _nodes_had(tmp_path, _row(1, f"cpu={cpus},mem=4000M,node=1", f"cpu={cpus},mem=4000M",
                                     nodes, line.format(cpus))) == [nodes]


def test_a_line_with_a_number_of_nodes_keeps_it(tmp_path: Path) -> None:
    row = _row(1, "cpu=8,mem=4000M,node=2", "cpu=8,mem=4000M", 2, "sbatch -N 2 -n 8 job.sh")
    found = site(tmp_path, HEADER + row, CONF, None, "sacct")
    job, = found.log.jobs
    assert (job.min_nodes, job.max_nodes, job.memory_per_node_mb) == (2, 2, 2000)


@pytest.mark.parametrize(("given_mb", "per_node", "per_cpu"), [(8000, 4000, -1), (4000, -1, 250)])
def test_memory_that_grew_with_the_nodes_is_that_of_a_node(
    tmp_path: Path, given_mb: int, per_node: int, per_cpu: int
) -> None:
    """ReqTRES has that of the fewest nodes: with --mem it grows with nodes, by CPU it does not."""
    row = _row(1, "cpu=16,mem=4000M,node=1", f"cpu=16,mem={given_mb}M", 2, "sbatch -n 16 job.sh")
    found = site(tmp_path, HEADER + row, CONF, None, "sacct")
    job, = found.log.jobs
    assert (job.memory_per_node_mb, job.memory_per_cpu_mb) == (per_node, per_cpu)
    assert (BY_CPUS in found.log.counted) is (per_cpu > 0)


@pytest.mark.parametrize(("given", "per_node", "in_all"), [(8, 4, 0), (4, 0, 4)])
def test_devices_that_grew_with_the_nodes_are_those_of_a_node(
    tmp_path: Path, given: int, per_node: int, in_all: int
) -> None:
    row = _row(1, "cpu=16,node=1,gres/gpu=4", f"cpu=16,gres/gpu={given}", 2, "sbatch -n 16 job.sh")
    found = site(tmp_path, HEADER + row, CONF, None, "sacct")
    job, = found.log.jobs
    assert job.gres_per_node.get(("gpu", ""), 0) == per_node
    assert job.gres_per_job.get(("gpu", ""), 0) == in_all
    assert _nodes_had(tmp_path, row) == [2]


def test_what_the_log_leaves_open_is_said(tmp_path: Path) -> None:
    found = site(tmp_path, HEADER + _row(1, "cpu=16,node=1", "cpu=16", 2), CONF, None, "sacct")
    assert found.log.counted[MORE_NODES] == 1


@pytest.mark.parametrize("asked", [
    "cpu=16,mem=60000M,node=1", "cpu=16,node=2,gres/gpu=18", "cpu=64,mem=9000M,node=1"])
def test_who_ran_on_these_nodes_is_never_too_large_for_them(tmp_path: Path, asked: str) -> None:
    row = _row(1, asked, "cpu=16", 2, "sbatch --ntasks-per-node=16 job.sh")
    assert _nodes_had(tmp_path, row) == [2]
    found = site(tmp_path, HEADER + row, CONF, None, "sacct")
    assert AS_IT_RAN in found.made.counted


def test_who_had_more_cpus_than_slurm_conf_gives_its_nodes_was_elsewhere(tmp_path: Path) -> None:
    row = _row(1, "cpu=99,node=1", "cpu=99", 1)
    found = site(tmp_path, HEADER + row, CONF, None, "sacct")
    assert found.made.unfit
    assert AS_IT_RAN not in found.made.counted


@pytest.mark.parametrize(("asked", "nodes"), [
    ("cpu=8,mem=4000M,node=1", 1), ("cpu=10,mem=8000M,node=1", 2), ("cpu=4,mem=12000M,node=1", 2),
    ("cpu=31,node=1", 4), ("cpu=8,node=3", 3), ("cpu=24,mem=16000M,node=2", 3),
    ("cpu=16,node=1,gres/gpu=8", 2), ("cpu=16,node=2,gres/gpu=8", 2)])
def test_where_nothing_says_the_most_nodes_the_most_is_open(
    tmp_path: Path, asked: str, nodes: int
) -> None:
    """Without AllocTRES, NNodes, NodeList and SubmitLine; held to the fewest, five do not fit."""
    found = site(tmp_path, _log_of(ReqTRES=asked), CONF, None, "sacct")
    assert _nodes_of(found) == [nodes]
    assert found.log.counted[ANY_NODES if "node=1" in asked else FEWEST_NODES] == 1
    assert (AS_ITS_CPUS in found.made.counted) is ("cpu=24" in asked)


def test_a_list_of_nodes_says_how_many_a_job_had(tmp_path: Path) -> None:
    text = _log_of(ReqTRES="cpu=4,mem=4000M,node=2", NodeList="n[1-2]")
    found = site(tmp_path, text, CONF, None, "sacct")
    job, = found.log.jobs
    assert (job.nodes, job.min_nodes, job.max_nodes, job.memory_per_node_mb) == (2, 2, 2, 2000)
    assert ANY_NODES not in found.log.counted


@pytest.mark.parametrize("had", [{"NNodes": "1"}, {"AllocTRES": "cpu=4,node=1"}])
def test_who_ran_on_so_many_nodes_of_no_name_is_not_too_large(
    tmp_path: Path, had: dict[str, str]
) -> None:
    found = site(tmp_path, _log_of(ReqCPUS="4", ReqMem="9000M", **had), CONF, None, "sacct")
    assert _nodes_of(found) == [1]
    assert AS_IT_RAN in found.made.counted
    assert found.made.requests.memory_per_node_mb.tolist() == [8000]


@pytest.mark.parametrize(("constraint", "memory_mb"), [("", 16000), ("slow", 4000)])
def test_nodes_of_no_name_are_the_largest_with_the_features_of_the_job(
    tmp_path: Path, constraint: str, memory_mb: int
) -> None:
    conf = CONF.replace("NodeName=n[1-4] CPUs=8 RealMemory=8000 Gres=gpu:4", (
        "NodeName=n[1-2] CPUs=8 RealMemory=4000 Feature=slow\n"
        "NodeName=n[3-4] CPUs=8 RealMemory=16000"))
    text = _log_of(ReqCPUS="8", ReqMem="40000M", NNodes="2", Constraints=constraint)
    found = site(tmp_path, text, conf, None, "sacct")
    assert _nodes_of(found) == [2]
    assert found.made.requests.memory_per_node_mb.tolist() == [memory_mb]


@pytest.mark.parametrize("had", [
    {"NNodes": "5"}, {"NNodes": "1", "AllocCPUS": "9"}, {"NNodes": "1", "NodeList": "other1"}])
def test_who_had_more_than_this_machine_was_elsewhere(
    tmp_path: Path, had: dict[str, str]
) -> None:
    text = _log_of(ReqCPUS="4", ReqMem="90000M", **had)
    found = site(tmp_path, text, CONF, None, "sacct")
    assert found.made.unfit
    assert AS_IT_RAN not in found.made.counted


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize(("name", "run", "within"), [
    ("qosfs", "t1", 0.1), ("qosfs", "t2", 0.1), ("susp", "t1", 0.12), ("rules", "t1", 0.4),
    ("rules", "t2", 0.4)])
def test_a_twin_from_real_accounting_runs_every_job(
    tmp_path: Path, name: str, run: str, within: float
) -> None:
    """As sites ask, by tasks. Before, `qosfs` was 34 % and `susp` 84 % too early.

    `rules` has one partition for every rule that the twin leaves out.
    """
    folder = shared(f"slurm_truth/{name}")
    topology = folder / "topology.conf"
    twin = wl.make_twin(folder / "slurm.conf", sacct=folder / f"{run}.D.txt.xz",
                        assoc=folder / "sacctmgr.script", out=tmp_path / "twin.toml",
                        topology=topology if topology.exists() else None)
    found = wl.check_twin(twin)
    assert not twin.unfit
    assert found.never_ran == 0
    assert found.error == pytest.approx(0.0, abs=within)
