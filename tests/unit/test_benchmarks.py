"""Every benchmark runs to its end at its smallest size, and all of its figures are numbers."""

from __future__ import annotations

import gzip
import json
import lzma
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from wattline.benchmarks import _asking
from wattline.benchmarks import core as core_bench
from wattline.benchmarks.ledger import Site

SMALLEST: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "analysis": {"analysis": {"JOBS": 200}},
    "core": {
        "core": {"GENERATED": {"lublin": (60, 64), "leadership": (30, 1024)}, "REPEATS": 1,
                 "WHOLE_NODE_JOBS": 60, "DOUBLED_JOBS": 80, "HUNDREDFOLD_JOBS": 60},
        "_books": {"RUNNING": 120, "PENDING": 30, "AT_ONCE": 100}},
    "energy": {"energy": {"UPDATES": 20, "BATCH": 10, "GENERATED_JOBS": 30}},
    "ledger": {"ledger": {"SITE": Site(nodes=10, days=1, interval_s=600, jobs=40, live_nodes=20,
                                       live_batches=2)}},
    "live": {
        "_live_agents": {"AGENTS": 40, "FEW": 2, "WINDOW_S": 2.0, "AGENT_S": 2.0},
        "_live_cycle": {"RUNNING": 8, "PENDING": 20, "CHANGING": 1, "CYCLES": 3, "CYCLE_S": 0.0}},
    "network": {"network": {"WORKLOADS": 1, "PACKET_WORKLOADS": 1, "STUDY_WORKLOADS": 1,
                            "REPEATS": 1, "MANY_NODES": 4000}},
    "puppet": {"puppet": {"REPEATS": 1, "NET_JOBS": 10}},
    "regulation": {"regulation": {"ROUNDS": 1, "STUDY_PARTS": ("thresholds",),
                                  "SHARED": {"seed": 1, "hours_each": 1, "rounds": 1,
                                             "signal_file": ""}}},
    "rmap": {"rmap": {"CONFIGURATIONS": 60, "DECISIONS": 20, "FEW_JOBS": 3, "MANY_JOBS": 30,
                      "APPLICATIONS": ("BT-MZ", "SPhot"), "TURNS": 2}},
    "sweep": {"sweep": {"CAPS_W": (3.5e6, 4.0e6), "POLICIES": ("block", "wait"),
                        "ORDERS": ("fcfs",), "OVERHEADS": 2, "MANY_POINTS": 10, "CANDIDATES": 2,
                        "SAMPLES": 2, "GENERATED_JOBS": 40, "AHEAD_JOBS": 40, "AHEAD_NODES": 20,
                        "LIVE_RUNNING": 5, "LIVE_PENDING": 5}},
    "traces": {"traces": {"REPEATS": 1, "GENERATED_JOBS": 40}},
    "twin": {"twin": {"LARGE_NODES": 20, "LARGE_JOBS": 40, "CROWDED_JOBS": 20},
             "core": {"WHOLE_NODE_JOBS": 60, "REPEATS": 1}},
    "web": {"web": {"VIEWERS": 3, "SECONDS": 2.0, "NODES": 100},
            "_web_load": {"WARM_CAPS": (0.7,)}, "_web_browser": {"VISITS": 1, "CLICKS": 1}},
}
"""By benchmark and module, what it is made small by."""
MARKS: Mapping[str, tuple[Any, ...]] = {
    "energy": (pytest.mark.compiled,), "live": (pytest.mark.servers,),
    "network": (pytest.mark.compiled,),
    **dict.fromkeys(("puppet", "regulation", "web"), (pytest.mark.long, pytest.mark.compiled)),
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {"core": {"streamed_jobs": 1000}}


def make_small(monkeypatch: pytest.MonkeyPatch, name: str, data: Path) -> None:
    monkeypatch.setenv("WATTLINE_DATA", str(data))
    for module, values in SMALLEST[name].items():
        for constant, value in values.items():
            monkeypatch.setattr(f"wattline.benchmarks.{module}.{constant}", value)


def numbers(found: Any) -> Iterator[float]:
    if isinstance(found, dict | list | tuple):
        for each in found.values() if isinstance(found, dict) else found:
            yield from numbers(each)
    elif isinstance(found, int | float):
        yield float(found)


def test_each_benchmark_has_a_smallest_size() -> None:
    assert set(SMALLEST) == set(_asking.list_benchmarks())


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ()))
                                  for name in SMALLEST])
def test_a_benchmark_runs_to_its_end(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_small(monkeypatch, name, tmp_path)
    parts: list[float] = []
    found = _asking.bench(name, progress=parts.append, **OPTIONS.get(name, {}))
    json.dumps(found)
    figures = list(numbers(found))
    assert len(figures) > 3
    assert all(map(math.isfinite, figures))
    assert all(0.0 <= part <= 1.0 + 1e-9 for part in parts)


@pytest.mark.waits
def test_core_measures_on_logs_that_give_processors_and_nodes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each log of the folder is small here, and of a machine with several processors a node."""
    make_small(monkeypatch, "core", tmp_path)
    for file, processors in core_bench.LOGS.values():
        _write_log(tmp_path / file, processors)
    found = core_bench.measure(lambda part: None, 1000)
    assert found["logs"] == "real"
    assert set(found["easy_jobs_per_s"]) == {*core_bench.LOGS, "geometric_mean"}
    assert found["read_curie_s"] > 0
    assert found["peak_memory_mb"] > 1
    assert found["simulate_kth_s"] > 0


def _write_log(path: Path, processors: int) -> None:
    lines = ["; Version: 2.2", f"; MaxNodes: {max(1, processors // 16)}",
             f"; MaxProcs: {processors}", "; UnixStartTime: 1000000000"]
    lines += [f"{job} {10 * job} -1 60 {job} -1 -1 {job} 120 -1 1 1 1 -1 1 -1 -1 -1"
              for job in range(1, 20)]
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress if path.suffix == ".gz" else lzma.compress
    path.write_bytes(packed("\n".join([*lines, ""]).encode()))


def test_the_command_prints_figures_that_can_be_read(tmp_path: Path) -> None:
    code = ("import wattline.benchmarks.traces as t; t.GENERATED_JOBS, t.REPEATS = 40, 1;"
            "from wattline.cli.main import main; main(['bench', 'traces', '--json'])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=os.environ | {"WATTLINE_DATA": str(tmp_path)})
    assert json.loads(done.stdout)["generated"]["jobs"] > 0
