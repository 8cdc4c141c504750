"""Watts of the parts of nodes come from the log where it measured some and nobody gave them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """ClusterName=mixed
GresTypes=gpu
NodeName=c[1-4] CPUs=16 RealMemory=8000
{}PartitionName=all Nodes=ALL Default=YES
"""
GPUS = "NodeName=g[1-2] CPUs=8 RealMemory=8000 Gres=gpu:a100:2\n"
HEADER = ("JobID|User|Submit|Start|End|Timelimit|ReqTRES|AllocTRES|NNodes|NodeList|State|"
          "ConsumedEnergyRaw\n")


def _row(number: int, node: str, cpus: int, watts: float, seconds: int = 600, gpus: int = 0) -> str:
    begin = np.datetime64("2026-01-05T00:00:00") + np.timedelta64(4000 * number, "s")
    end = begin + np.timedelta64(seconds, "s")
    tres = f"cpu={cpus},node=1" + (f",gres/gpu={gpus}" if gpus else "")
    return (f"{number}|ada|{begin}|{begin}|{end}|02:00:00|{tres}|{tres}|1|{node}|COMPLETED|"
            f"{watts * seconds:.0f}\n")


def _twin(folder: Path, rows: list[str], gpus: bool = False, **watts: float) -> wl.Twin:
    (folder / "slurm.conf").write_text(CONF.format(GPUS if gpus else ""))
    (folder / "sacct.txt").write_text(HEADER + "".join(rows))
    return wl.make_twin(folder / "slurm.conf", sacct=folder / "sacct.txt",
                        out=folder / "twin.toml", **watts)


@pytest.mark.parametrize("idle_w", [None, 60.0, 120.0])
def test_a_job_without_a_meter_draws_the_mean_of_the_others(
    tmp_path: Path, idle_w: float | None
) -> None:
    """Ten jobs of 250 W for 600 s, ten of 400 W for 1,800 s: 362.5 W in the mean of node hours."""
    rows = [_row(number, "c1", 16, *((250.0, 600) if number % 2 else (400.0, 1800)))
            for number in range(1, 21)]
    rows.append(_row(30, "c2", 16, 0.0))
    given = {} if idle_w is None else {"idle_w": idle_w}
    twin = _twin(tmp_path, rows, **given)
    run = wl.simulate(str(tmp_path / "twin.toml"))
    assert run.schedule.energy_j[20] == pytest.approx(362.5 * 600, rel=0.001)
    assert run.schedule.energy_j[0] == pytest.approx(250.0 * 600, rel=0.001)
    line, = (each for each in twin.assumed if each.startswith("cpu_w = "))
    assert "20 measured jobs" in line
    assert "362 W per node" in line


def test_what_somebody_gave_stays(tmp_path: Path) -> None:
    rows = [_row(number, "c1", 16, 400.0) for number in range(1, 21)]
    twin = _twin(tmp_path, rows, cpu_w=3.0)
    assert not [line for line in twin.assumed if "by the log" in line]
    assert tomllib.loads(twin.text)["twin"]["cpu_w"] == 3.0


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_log_that_measured_too_little_says_nothing(tmp_path: Path, count: int) -> None:
    twin = _twin(tmp_path, [_row(number, "c1", 16, 400.0 if number <= count else 0.0)
                            for number in range(1, 21)])
    assert any(line.startswith("cpu_w = 6.5 W") for line in twin.assumed)


def test_each_shape_of_node_has_its_own(tmp_path: Path) -> None:
    """490 W of a node of GPUs with both in use: 90 idle and 400, in the proportion 52 to 500."""
    rows = [_row(number, "c3", 16, 282.0) for number in range(1, 13)]
    rows += [_row(number, "g1", 8, 490.0, gpus=2) for number in range(21, 33)]
    rows += [_row(40, "g2", 8, 0.0, gpus=2), _row(41, "c1", 16, 0.0)]
    twin = _twin(tmp_path, rows, gpus=True)
    first, second = tomllib.loads(twin.text)["twin"]["power"]
    assert (first["nodes"], first["cpu_w"]) == ("c[1-4]", 12.0)
    assert second["nodes"] == "g[1-2]"
    assert 8 * second["cpu_w"] + 2 * second["gres_w"]["gpu:a100"] == pytest.approx(400, rel=0.001)
    assert second["gres_w"]["gpu:a100"] / second["cpu_w"] == pytest.approx(250 / 6.5, rel=0.001)
    run = wl.simulate(str(tmp_path / "twin.toml"))
    assert run.schedule.energy_j[24] == pytest.approx(490.0 * 600, rel=0.001)
    assert run.schedule.energy_j[25] == pytest.approx(282.0 * 600, rel=0.001)


def test_watts_below_idle_are_not_taken_for_those_of_parts(tmp_path: Path) -> None:
    twin = _twin(tmp_path, [_row(number, "c1", 16, 40.0) for number in range(1, 21)])
    assert any("measured 40 W per node" in line and "stay as assumed" in line
               for line in twin.assumed)
    assert "cpu_w" not in tomllib.loads(twin.text)["twin"]


def test_the_later_half_is_said_to_be_off_where_it_is(tmp_path: Path) -> None:
    rows = [_row(number, "c1", 16, 290.0 if number <= 10 else 580.0) for number in range(1, 21)]
    line, = (each for each in _twin(tmp_path, rows).assumed if each.startswith("cpu_w = "))
    assert "the later half is -50.0% off" in line
