"""Watts that a log measured, on a machine whose nodes are shared."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl
from wattline.model.units import format_energy

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


TABLE = "job_id,submit,start,end,nodes,avg_power_per_node\n"
HOUR = "2025-03-01 10:00:00,2025-03-01 10:00:05,2025-03-01 11:00:05"


def table(folder: Path, cells: list[str]) -> wl.Twin:
    """Jobs of an hour on one node with these measured watts, on nodes of 100 + 8 x 10 W."""
    (folder / "slurm.conf").write_text(CONF)
    (folder / "log.csv").write_text(TABLE + "".join(
        f"{number},{HOUR},1,{cell}\n" for number, cell in enumerate(cells, 1)))
    return wl.make_twin(folder / "slurm.conf", sacct=folder / "log.csv", idle_w=100, cpu_w=10)


def test_jobs_without_measured_watts_are_said_with_the_joules_that_rest_on_that(
    tmp_path: Path
) -> None:
    twin = table(tmp_path, ["0", "", "150", "-50", "1e9", "abc", "1000001", "inf"])
    said = {line.partition(": power from the parts")[0]: line for line in twin.filled
            if "power from the parts" in line}
    assert list(said) == [
        "2 jobs: its measured watts are not above 0",
        "1 job: has no measured watts, as others of the log have",
        "3 jobs: its measured watts are above 1,000,000 W per node",
        "1 job: its measured watts are no number"]
    hour_j = 180.0 * 3600.0
    for line, jobs in zip(said.values(), (2, 1, 3, 1), strict=True):
        assert (f"about {format_energy(jobs * hour_j)} beside {format_energy(150.0 * 3600.0)} "
                "that were measured") in line
    run = wl.simulate(twin.scenario)
    assert run.schedule.energy_j.tolist() == pytest.approx(
        [hour_j if number != 2 else 150.0 * 3600.0 for number in range(8)], rel=0.01)


@pytest.mark.parametrize(("cells", "said"), [(["", ""], 0), (["0", "0"], 1), (["150", "150"], 0)])
def test_a_table_that_measured_nothing_has_nothing_missing(
    tmp_path: Path, cells: list[str], said: int
) -> None:
    assert sum("power from the parts" in line for line in table(tmp_path, cells).filled) == said


@pytest.mark.parametrize(("joules", "said"), [
    ([43_000, 0], ["has no measured watts"]), ([0, 0], []),
    ([43_000, 10**12], ["its measured watts are above 1,000,000 W per node"])])
def test_joules_of_accounting_that_are_missing_or_cannot_be_are_said(
    tmp_path: Path, joules: list[int], said: list[str]
) -> None:
    log(tmp_path, [(8, f"n{at}", each) for at, each in enumerate(joules, 1)], True)
    twin = wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "sacct.txt", idle_w=100, cpu_w=10)
    found = [line for line in twin.filled if "power from the parts" in line]
    assert len(found) == len(said)
    assert all(text in line for text, line in zip(said, found, strict=True))
