"""DefCpuPerGPU and DefMemPerGPU: what jobs with GPUs get without asking for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.twin_sites import site, submit

CONF = """\
ClusterName=small
{cluster}
NodeName=DEFAULT CPUs=32 RealMemory=64000
NodeName=n[1-2] Gres=gpu:4
PartitionName=one Nodes=ALL Default=YES {one}
PartitionName=two Nodes=ALL {two}
"""


def _read(folder: Path, options: str, cluster: str = "", one: str = "", two: str = "") -> Any:
    return site(folder, submit(options), CONF.format(cluster=cluster, one=one, two=two), None)


def _asked(found: Any) -> tuple[int, int, int]:
    asked = found.made.requests
    return (int(asked.cpus_per_task[0]), int(asked.memory_per_node_mb[0]),
            int(asked.memory_per_cpu_mb[0]))


BOTH = "DefCpuPerGPU=6 DefMemPerGPU=8000"
LISTED = "JobDefaults=DefCpuPerGPU=6,DefMemPerGPU=8000"


@pytest.mark.parametrize(("options", "asked"), [
    ("-n 1 --gres=gpu:2", (12, 16000, -1)),
    ("-n 2 -N 2 --gres=gpu:2", (12, 16000, -1)),
    ("-n 1 --gpus=2", (12, 16000, -1)),
    ("-n 1 -c 3 --gres=gpu:2", (3, 16000, -1)),
    ("-n 1 --cpus-per-gpu=2 --gres=gpu:2", (4, 16000, -1)),
    ("-n 1 --gres=gpu:2 --mem=500", (12, 500, -1)),
    ("-n 1 --gres=gpu:2 --mem=0", (12, 0, -1)),
    ("-n 1 --gres=gpu:2 --mem-per-cpu=100", (12, -1, 100)),
    ("-n 1 --gres=gpu:2 --mem-per-gpu=700", (12, 1400, -1)),
    ("-n 4", (-1, -1, -1)),
])
@pytest.mark.parametrize("where", ["cluster", "one"])
@pytest.mark.parametrize("written", [BOTH, LISTED])
def test_jobs_with_gpus_get_what_they_do_not_say(
    tmp_path: Path, options: str, asked: tuple[int, int, int], where: str, written: str
) -> None:
    text = written.replace(" ", "\n") if where == "cluster" else written
    found = _read(tmp_path, options, **{where: text})
    assert _asked(found) == asked
    assert not any("pergpu" in line.lower() for line in
                   (*found.lists.not_modelled, *found.lists.unknown))


@pytest.mark.parametrize(("one", "asked"), [
    ("DefCpuPerGPU=2", (4, 2000, -1)), ("DefMemPerGPU=300", (6, 600, -1)),
    ("DefMemPerCPU=50", (6, -1, -1)), ("DefMemPerNode=50", (6, -1, -1)),
    ("DefCpuPerGPU=0", (-1, 2000, -1))])
def test_a_partition_says_it_before_the_cluster(
    tmp_path: Path, one: str, asked: tuple[int, int, int]
) -> None:
    found = _read(tmp_path, "-n 1 --gres=gpu:2", "DefCpuPerGPU=3\nDefMemPerGPU=1000", one)
    assert _asked(found) == asked


def test_of_several_partitions_the_first_counts_which_is_said(tmp_path: Path) -> None:
    found = _read(tmp_path, "-n 1 --gres=gpu:2 -p two,one", one="DefCpuPerGPU=3",
                  two="DefCpuPerGPU=5")
    assert _asked(found)[0] == 10
    assert any("different defaults per GPU" in line for line in found.made.filled)


@pytest.mark.parametrize("other", ["DefMemPerCPU", "DefMemPerNode"])
def test_defaults_that_exclude_each_other_are_named(tmp_path: Path, other: str) -> None:
    found = _read(tmp_path, "-n 1 --gres=gpu:2", one=f"DefMemPerGPU=1000 {other}=100")
    assert _asked(found)[1] == 2000
    assert any("DefMemPerGPU beside" in line for line in found.lists.contradictions)
