"""A sweep on a Dask scheduler with worker processes, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import wattline as wl

distributed = pytest.importorskip("distributed")
SWEEP = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 60}, "machine": {"nodes": 64}},
    "axes": {"machine.nodes": list(range(64, 94))}}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[distributed.LocalCluster]:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            host="127.0.0.1", local_directory=str(tmp_path / "dask")) as made:
        yield made


def test_points_run_on_dask_and_a_killed_worker_is_replaced(
    cluster: distributed.LocalCluster, tmp_path: Path
) -> None:
    victim = next(iter(cluster.workers.values())).pid

    def kill() -> None:
        journal = tmp_path / "sweep" / "points.jsonl"
        until_s = time.monotonic() + 60
        while not (journal.is_file() and journal.stat().st_size) and time.monotonic() < until_s:
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    address = cluster.scheduler_address.removeprefix("tcp://")
    found = wl.run_sweep(SWEEP, tmp_path / "sweep", on=f"dask://{address}", workers=2,
                         cache=False, report=False)
    killer.join()
    assert (found.counts.computed, found.counts.failed) == (30, 0)
    assert len({row["number"] for row in found.rows}) == 30


def test_a_scheduler_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import wattline as wl, wattline.sweeps.runners.dask as d;"
         "d.CONNECT_S = 1;"
         f"wl.run_sweep({SWEEP!r}, {str(tmp_path / 's')!r}, on='dask://127.0.0.1:9')"],
        capture_output=True, text=True, check=False, env={**os.environ, "WATTLINE_PLAIN": "1"})
    assert "no Dask scheduler at 127.0.0.1:9" in done.stderr
