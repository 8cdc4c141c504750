"""Watts that a log measured, on a machine whose nodes are shared."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """ClusterName=tiny
NodeName=n[1-2] CPUs=8 RealMemory=8000
SelectTypeParameters=CR_Core
PartitionName=all Nodes=ALL Default=YES
"""
HEAD = ("JobID|User|Account|Partition|Submit|Start|End|Timelimit|AllocCPUS|NNodes|{}State|"
        "ConsumedEnergyRaw")


def log(folder: Path, rows: list[tuple[int, str, int]], named: bool) -> Path:
    """(CPUs, node, joules) of jobs of 100 s that begin together."""
    lines = [HEAD.format("NodeList|" if named else "")]
    for number, (cpus, node, joules) in enumerate(rows, 1):
        lines.append(f"{number}|ada|phys|all|2025-03-04T08:00:00|2025-03-04T08:00:01|"
                     f"2025-03-04T08:01:41|00:10:00|{cpus}|1|{node + '|' if named else ''}"
                     f"COMPLETED|{joules}")
    (folder / "slurm.conf").write_text(CONF)
    (folder / "sacct.txt").write_text("\n".join(lines) + "\n")
    return folder / "sacct.txt"


def run_of(folder: Path, rows: list[tuple[int, str, int]], *, named: bool) -> wl.Run:
    twin = wl.make_twin(folder / "slurm.conf", sacct=log(folder, rows, named), idle_w=100, cpu_w=10)
    return wl.simulate(twin.scenario)


@pytest.mark.parametrize("named", [True, False])
def test_a_job_with_whole_nodes_draws_what_was_measured(tmp_path: Path, named: bool) -> None:
    run = run_of(tmp_path, [(8, "n1", 43_000)], named=named)
    assert run.power_w_peak == pytest.approx(430.0 + 100.0)  # and the other node
    assert run.schedule.energy_j[0] == pytest.approx(43_000.0, rel=0.01)


@pytest.mark.parametrize("named", [True, False])
def test_two_jobs_that_shared_a_node_do_not_each_draw_all_of_it(
    tmp_path: Path, named: bool
) -> None:
    """A meter of 260 W counted twice would be 520 W: it is of both, so their parts count."""
    run = run_of(tmp_path, [(4, "n1", 26_000), (4, "n1", 26_000)], named=named)
    assert run.power_w_peak == pytest.approx(2 * 100.0 + 8 * 10.0)
    assert any("may have shared" in line for line in run.remarks)


def test_a_job_that_was_measured_below_idle_counts_as_idle_and_that_is_said(
    tmp_path: Path
) -> None:
    run = run_of(tmp_path, [(8, "n1", 6_000)], named=True)
    assert run.power_w_peak == 200.0
    assert any("below the idle power" in line for line in run.remarks)
