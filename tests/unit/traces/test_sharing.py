"""Shared nodes and GPUs of a log, which a simulation of whole nodes cannot have."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.traces import read

ZERO = datetime(2026, 7, 6)
HEADER = "JobID|Submit|Start|End|ElapsedRaw|State|Timelimit|NNodes|AllocCPUS|NodeList|ReqTRES"


def _stamp(at_s: float) -> str:
    return (ZERO + timedelta(seconds=at_s)).isoformat()


def _row(number: int, start_s: int, end_s: int, nodes: int, cpus: int, where: str,
         gpus: str = "", paused_s: int = 0) -> str:
    tres = f"cpu={cpus},node={nodes}{gpus}"
    return (f"{number}|{_stamp(start_s)}|{_stamp(start_s)}|{_stamp(end_s)}|"
            f"{end_s - start_s - paused_s}|COMPLETED|01:00:00|{nodes}|{cpus}|{where}|{tres}")


def _remarks(tmp_path: Path, rows: list[str], unit: str = "nodes", drop: str = "") -> str:
    lines = [line.split("|") for line in (HEADER, *rows)]
    kept = [at for at, name in enumerate(lines[0]) if name != drop]
    path = tmp_path / "log of ours.txt"
    path.write_text("\n".join("|".join(line[at] for at in kept) for line in lines) + "\n")
    trace = read(path, unit=unit)  # type: ignore[arg-type]
    return " ".join(line for line in trace.remarks if "without an offset" not in line)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("cores", [4, 64, 200])
def test_jobs_that_run_beside_others(tmp_path: Path, seed: int, cores: int) -> None:
    """Counted by an event sweep of its own: nodes are filled job by job."""
    draw = random.Random(seed)
    rows, spans, beside = [], {}, set()
    for number in range(1, 301):
        node, start_s = draw.choice(["a", "b", "c"]), draw.randrange(0, 100_000)
        end_s = start_s + draw.randrange(1, 600)
        for other, (its_node, its_start_s, its_end_s) in spans.items():
            if its_node == node and max(start_s, its_start_s) < min(end_s, its_end_s):
                beside |= {number, other}
        spans[number] = node, start_s, end_s
        rows.append(_row(number, start_s, end_s, 1, cores, node))
    assert beside
    assert f"{len(beside)} jobs had only a part of a node" in _remarks(tmp_path, rows)


def test_whole_nodes_are_left_in_peace(tmp_path: Path) -> None:
    rows = [_row(at, 60 * at, 60 * at + 60, 1, 32 if at % 2 else 64, "small" if at % 2 else "big")
            for at in range(1, 40)]
    assert not _remarks(tmp_path, rows)
    assert "unless nodes are of several sizes" in _remarks(tmp_path, rows, drop="NodeList")
    same = [_row(at, 60 * at, 60 * at + 600, 2, 128, f"n[{at}-{at + 1}]") for at in range(1, 40)]
    assert not _remarks(tmp_path, same)
    assert not _remarks(tmp_path, same, drop="NodeList")


def test_a_suspended_job_gave_its_node_away(tmp_path: Path) -> None:
    rows = [_row(1, 0, 600, 1, 8, "n1", paused_s=100), _row(2, 200, 300, 1, 8, "n1")]
    assert not _remarks(tmp_path, rows)
    rows[0] = _row(1, 0, 600, 1, 8, "n1")
    assert "2 jobs had only a part of a node" in _remarks(tmp_path, rows)


def test_a_record_that_comes_twice_is_one_job(tmp_path: Path) -> None:
    assert not _remarks(tmp_path, [_row(1, 0, 600, 1, 8, "n1")] * 2)


def test_a_part_of_a_node_that_was_alone_there(tmp_path: Path) -> None:
    rows = [_row(1, 0, 600, 1, 16, "n1"), _row(2, 600, 700, 1, 64, "n1")]
    assert "1 job had only a part of a node" in _remarks(tmp_path, rows)
    few = [_row(at, 700 * at, 700 * at + 600, 1, 64, "n1") for at in range(1, 200)]
    assert not _remarks(tmp_path, [rows[0], *few])  # less than 1 %


@pytest.mark.parametrize("gpus", [",gres/gpu=4", ",gres/gpu:a100=1"])
@pytest.mark.parametrize("unit", ["nodes", "cores"])
def test_gpus(tmp_path: Path, gpus: str, unit: str) -> None:
    rows = [_row(1, 0, 600, 1, 64, "n1", gpus), _row(2, 600, 700, 1, 64, "n1", ",gres/gpu=0")]
    said = _remarks(tmp_path, rows, unit)
    assert "1 job used GPUs" in said
    assert "part of a node" not in said
    assert {"nodes": "whole nodes of", "cores": "each job cores of"}[unit] in said
    assert "log of ours.txt'` makes" in said  # quoted for a shell
    assert not _remarks(tmp_path, rows[1:], unit)


def test_simulate_and_trace_info_say_it(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    rows = [_row(at, 10 * at, 10 * at + 600, 1, 8, "n1", ",gres/gpu=1") for at in range(8)]
    path.write_text("\n".join((HEADER, *rows)) + "\n")
    found = CliRunner().invoke(cli, ["simulate", str(path), "--nodes", "8", "--no-folder",
                                      "--json"])
    assert any("wattline twin make" in line for line in json.loads(found.stdout)["remarks"])
    for options in ([], ["--json"]):
        found = CliRunner().invoke(cli, ["trace", "info", str(path), *options])
        assert "wattline twin make" in found.stdout


def test_the_fewest_nodes_are_not_the_nodes(tmp_path: Path) -> None:
    """Accounting has 1 in ReqNodes of a job that asked for tasks alone."""
    path = tmp_path / "sacct.txt"
    path.write_text("JobID|Submit|Start|End|State|Timelimit|ReqNodes|NNodes\n" + "".join(
        f"{at}|{_stamp(0)}|{_stamp(0)}|{_stamp(60)}|COMPLETED|1|{asked}|{had}\n"
        for at, (asked, had) in enumerate([(1, 2), (4, 3), (2, 2)])))
    assert read(path).jobs.procs.tolist() == [2, 4, 2]
    assert read(path, size="allocated").jobs.procs.tolist() == [2, 3, 2]
