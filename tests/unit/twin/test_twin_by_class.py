"""Figures by node class of a twin: the parts make up the whole."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import wattline as wl

CONF = """\
GresTypes=gpu
NodeName=c[1-2] CPUs=8 RealMemory=8000
NodeName=g[1-2] CPUs=4 RealMemory=8000 Gres=gpu:2
NodeName=c3 CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""
SLEEPS = "SuspendProgram=/bin/true\nResumeProgram=/bin/true\nSuspendTime=30\n"


def classes(folder: Path, *lines: str, conf: str = CONF) -> tuple[wl.Run, dict[str, Any]]:
    (folder / "slurm.conf").write_text(conf)
    (folder / "gres.conf").write_text("NodeName=g[1-2] Name=gpu Count=2\n")
    (folder / "day.events").write_text("".join(
        f"-dt {at} -e submit_batch_job | -sim-walltime 600 -t 20 {line} x\n"
        for at, line in enumerate(lines)))
    twin = wl.make_twin(folder / "slurm.conf", events=folder / "day.events",
                        gres=folder / "gres.conf", idle_w=50, cpu_w=5, gpu_w=100)
    run = wl.simulate(twin.scenario)
    return run, {row["class"]: row for row in wl.metrics(run)["by_class"]}


def test_joules_jobs_and_busy_parts_of_each_class(tmp_path: Path) -> None:
    """One job on a GPU node, one on a node without, one on a node of each."""
    run, found = classes(tmp_path, "-n 4 --gres=gpu:2 -w g1", "-n 8 -w c1",
                         "-N 2 -n 8 --ntasks-per-node=4 -w c3,g2")
    span_s = run.end_s - run.start_s
    held_s = run.schedule.end_s - run.schedule.start_s
    cpu_j = 3 * 50 * span_s + 40 * held_s[1] + 20 * held_s[2]
    gpu_j = 2 * 50 * span_s + (20 + 200) * held_s[0] + 20 * held_s[2]
    assert {name: row["nodes"] for name, row in found.items()} == {"c1": 3, "g1": 2}
    assert found["c1"]["energy_j"] == pytest.approx(cpu_j, rel=0.001)
    assert found["g1"]["energy_j"] == pytest.approx(gpu_j, rel=0.001)
    assert sum(row["energy_j"] for row in found.values()) == pytest.approx(run.energy_j)
    assert (found["c1"]["jobs"], found["g1"]["jobs"]) == (2, 2)
    assert found["c1"]["busy"] == pytest.approx((8 * held_s[1] + 4 * held_s[2]) / (24 * span_s))
    assert found["g1"]["busy"] == pytest.approx((4 * held_s[0] + 4 * held_s[2]) / (8 * span_s))


def test_joules_by_class_are_not_known_where_nodes_sleep(tmp_path: Path) -> None:
    run, found = classes(tmp_path, "-n 8 -w c1", conf=SLEEPS + CONF)
    assert run.events.power_w.min() < 5 * 50
    assert all(math.isnan(row["energy_j"]) for row in found.values())
    assert found["c1"]["jobs"] == 1


def test_joules_and_busy_parts_are_not_known_where_jobs_were_requeued(tmp_path: Path) -> None:
    conf = CONF.replace("PartitionName=p", "PartitionName=low PreemptMode=REQUEUE Nodes=ALL "
                        "PriorityTier=1 DefMemPerCPU=100\nPartitionName=p PriorityTier=9")
    run, found = classes(tmp_path, "-n 8 -w c1 -p low", "-n 8 -w c1 -p p",
                         conf="PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n" + conf)
    assert run.notes["requeues"] == 1
    assert all(math.isnan(row["energy_j"]) and math.isnan(row["busy"]) for row in found.values())
