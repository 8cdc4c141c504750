"""Jobs that had all CPUs of their nodes: exclusive ones, and those that asked for as many."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site

from wattline.scenario.twin.site import Site
from wattline.scenario.twin.whole_nodes import EXCLUSIVE
from wattline.shared_nodes.simulate import simulate_shared

CONF = """\
NodeName=n[1-2] CPUs=4 RealMemory=16000 Weight=5
NodeName=b[1-2] CPUs=16 Gres=gpu:2 RealMemory=64000 Weight=1
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=1000 MaxTime=1:00:00
"""
HEADER = "JobID|User|Submit|Start|End|Timelimit|ReqTRES|AllocTRES|NNodes|NodeList|State|SubmitLine"


def _site(folder: Path, line: str, asked: str, given: str = "cpu=8,mem=8000M,node=2",
          nodes: str = "n[1-2]") -> Site:
    cells = ("1", "u", "2024-03-01T10:00:00", "2024-03-01T10:00:01", "2024-03-01T10:10:01",
             "00:20:00", asked, given, "2", nodes, "COMPLETED", line)
    return site(folder, f"{HEADER}\n{'|'.join(cells)}\n", CONF, None, "sacct")


def _cpus(found: Site) -> int:
    done = simulate_shared(found.machine, found.made.requests, found.rules)
    return int(done.allocation_cpus.sum())


@pytest.mark.parametrize("line", [
    "sbatch -N2 --ntasks-per-node=4 x", "sbatch -N2 --cpus-per-task=4 x", "sbatch -N2 -n8 x",
    "sbatch -n8 --ntasks-per-node=4 x", "sbatch --ntasks-per-node=2 -c 2 -N2 x", "",
    # The rest stands in the script.
    "sbatch -N2 --ntasks-per-node=2 x", "sbatch -c 2 x", "sbatch --ntasks-per-node=4 x"])
def test_who_had_what_it_asked_for_shares_its_nodes(tmp_path: Path, line: str) -> None:
    found = _site(tmp_path, line, "cpu=8,mem=8000M,node=2")
    assert not found.made.requests.exclusive.any()
    assert not any(EXCLUSIVE in said for said in found.made.filled)
    assert _cpus(found) == 8


@pytest.mark.parametrize("line", [
    "sbatch -N2 --ntasks-per-node=1 x", "sbatch -N2 -c 1 x", "sbatch -N2 -n2 x", "sbatch -N2 x"])
def test_who_asked_for_fewer_was_exclusive(tmp_path: Path, line: str) -> None:
    found = _site(tmp_path, line, "cpu=2,mem=8000M,node=2")
    assert found.made.requests.exclusive.all()
    assert any(EXCLUSIVE in said for said in found.made.filled)


def test_cpus_by_gpu_are_asked_for(tmp_path: Path) -> None:
    line = "sbatch -N2 --ntasks-per-node=1 --gpus-per-node=2 --cpus-per-gpu=8 x"
    asked = "cpu=32,mem=8000M,node=2,gres/gpu=4"
    found = _site(tmp_path, line, asked, asked, "b[1-2]")
    assert not found.made.requests.exclusive.any()
    assert _cpus(found) == 32


@pytest.mark.parametrize(("line", "tasks", "cpus_per_task", "word"), [
    ("sbatch -N2 --ntasks-per-node=2 x", 4, 2, "as many more for each task"),
    ("sbatch -c 2 x", 4, 2, "it gets more tasks"),
    ("sbatch -N2 --ntasks-per-node=4 x", 8, 1, "")])
def test_what_the_line_leaves_to_the_script_is_said(
    tmp_path: Path, line: str, tasks: int, cpus_per_task: int, word: str
) -> None:
    found = _site(tmp_path, line, "cpu=8,mem=8000M,node=2")
    job, = found.log.jobs
    assert (job.tasks if job.tasks > 0 else job.min_nodes * job.tasks_per_node) == tasks
    assert max(job.cpus_per_task, 1) == cpus_per_task
    more = [said for said in found.log.filled if "more CPUs than its SubmitLine" in said]
    assert [word in said for said in more] == ([True] if word else [])
