"""A sweep on a Dask scheduler with worker processes, one of which is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.scenario.load import validate
from wattline.sweeps.runners import Place
from wattline.sweeps.runners.dask import Dask
from wattline.sweeps.work import run_chunk_apart

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.seldom
SWEEP = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 30}, "machine": {"nodes": 64}},
    "axes": {"machine.nodes": list(range(64, 94))}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dask")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[distributed.LocalCluster]:
    """One for all tests: its processes take longer to start than the points take to run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATTLINE_PLAIN", "1")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                host="127.0.0.1", local_directory=str(folder / "dask")) as made:
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
    with distributed.Client(cluster.scheduler_address) as client:
        client.wait_for_workers(2, timeout=60)


def test_workers_in_another_folder_find_the_files_of_a_sweep(
    cluster: distributed.LocalCluster, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster began elsewhere; what is written here is relative to here."""
    here = tmp_path / "here"
    (here / "sweeps").mkdir(parents=True)
    wl.write(wl.generate("lublin", seed=1, jobs=10, nodes=32), here / "log.csv")
    (here / "cap.csv").write_text("time_s,cap_w\n0,9000\n500,8000\n")
    (here / "week.toml").write_text('trace = {file = "log.csv"}\n[power]\ncap = "cap.csv"\n'
                                    "[machine]\nnodes = 32\n")
    (here / "sweeps" / "sweep.toml").write_text(
        'scenario = "../week.toml"\n[axes]\n"policy.power" = ["block", "dvfs"]\n')
    monkeypatch.chdir(here)
    address = cluster.scheduler_address.removeprefix("tcp://")
    there = wl.run_sweep("sweeps/sweep.toml", "out", on=f"dask://{address}", cache=False,
                         report=False)
    alone = wl.run_sweep("sweeps/sweep.toml", "alone", workers=1, cache=False, report=False)
    assert [row.get("error") for row in there.rows] == [None, None]
    assert [str(row["figures"]) for row in there.rows] == [
        str(row["figures"]) for row in alone.rows]  # as text: some of them are no numbers
    assert not list((folder / "dask").rglob("traces"))


def test_the_workers_of_the_cluster_decide_how_much_is_in_hand(
    cluster: distributed.LocalCluster
) -> None:
    address = cluster.scheduler_address.removeprefix("tcp://")
    for named, expected in ((False, 2), (True, 7)):
        dask = Dask(Place(7, ".", named), address)
        with dask.begun():
            assert dask.workers() == expected


WEEK = Path(__file__).parents[3] / "examples" / "week.toml"
FIRST_LINES = 60
"""Of the week's log: its head, and some jobs."""
AXES = {"power.cap": ["90%", "70%"]}


def _in_folder(folder: Path) -> None:
    os.chdir(folder)


def test_workers_in_another_folder_find_files_that_are_named_relative_to_the_clients(
    cluster: distributed.LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the sweep names its log; nothing is left where the workers stand."""
    for place in ("client", "workers"):
        (tmp_path / place).mkdir()
    shutil.copy(WEEK, tmp_path / "client")
    log = WEEK.with_suffix(".swf").read_text().splitlines(keepends=True)[:FIRST_LINES]
    (tmp_path / "client" / "week.swf").write_text("".join(log))
    (tmp_path / "client" / "sweep.toml").write_text(
        'scenario = "week.toml"\n[axes]\n"power.cap" = ["90%", "70%"]\n')
    table = {"trace": {"file": "week.swf"}, "machine": {"nodes": 64}}
    sweeps: list[Any] = [
        "sweep.toml", {"scenario": "week.toml", "axes": AXES}, {"scenario": table, "axes": AXES},
        {"scenario": {**table, "trace": {"file": Path("week.swf")}}, "axes": AXES}]
    monkeypatch.chdir(tmp_path / "client")
    address = cluster.scheduler_address.removeprefix("tcp://")
    with distributed.Client(cluster.scheduler_address) as client:
        client.run(_in_folder, tmp_path / "workers")
    for number, sweep in enumerate(sweeps):
        far = wl.run_sweep(sweep, f"far-{number}", on=f"dask://{address}", workers=2, cache=False,
                           report=False)
        near = wl.run_sweep(sweep, f"near-{number}", workers=1, cache=False, report=False)
        assert (far.counts.computed, far.counts.failed) == (2, 0)
        kept = [*AXES, "energy_j", "wait_s.mean"]
        assert far.to_pandas()[kept].equals(near.to_pandas()[kept])
        assert list(Path(f"far-{number}", "traces").iterdir())
    assert not list((tmp_path / "workers").iterdir())


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("generated", [True, False])
def test_a_worker_that_does_not_see_the_sweeps_folder_says_so_by_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generated: bool, seen: bool
) -> None:
    """Generated jobs need no files, and run there all the same."""
    monkeypatch.setenv("WATTLINE_PLAIN", "1")
    monkeypatch.setenv("WATTLINE_AT_ONCE", "0")
    trace = {"generate": "lublin", "jobs": 5} if generated else {"file": "not_here.swf"}
    chunk = [(number, validate({"trace": trace, "machine": {"nodes": 64}})) for number in (0, 1)]
    folder = tmp_path / "sweep"
    if seen:
        folder.mkdir()
    rows = run_chunk_apart(str(folder / "traces"), chunk, allow_code=False)
    assert folder.exists() == seen
    for row in rows:
        assert ("error" in row) != generated
        if not generated:
            assert ("does not see the sweep's folder" in row["error"]) != seen
            assert "not_here.swf" in row["error"]


@pytest.mark.parametrize("address", ["", ":", "localhost", "localhost:", "a b:1", "tcp://a:1"])
def test_an_address_that_is_none_is_refused_before_anything_is_written(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(wl.InputError, match=r"names no scheduler; write dask://HOST:PORT"):
        wl.run_sweep(SWEEP, tmp_path / "s", on=f"dask://{address}")
    assert not (tmp_path / "s").exists()


def test_a_scheduler_that_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wattline.sweeps.runners.dask.CONNECT_S", 1)
    with pytest.raises(wl.WattlineError, match=r"no Dask scheduler at 127\.0\.0\.1:9"):
        wl.run_sweep(SWEEP, tmp_path / "s", on="dask://127.0.0.1:9")
    assert not (tmp_path / "s").exists()


def test_a_scheduler_that_is_lost_is_said_with_how_to_go_on(tmp_path: Path) -> None:
    """It is a process of its own, as on a cluster, has no workers yet, and is killed."""
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port",
         "0", "--no-dashboard", "--scheduler-file", str(tmp_path / "where.json")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_s = time.monotonic() + 60
        while not (tmp_path / "where.json").exists() and time.monotonic() < until_s:
            time.sleep(0.05)
        address = json.loads((tmp_path / "where.json").read_text())["address"]
        sweep = {"scenario": SWEEP["scenario"], "axes": {"machine.nodes": [64, 65]}}

        def kill() -> None:
            time.sleep(2.0)
            scheduler.kill()

        said: list[str] = []
        dask = Dask(Place(1, str(tmp_path), say=said.append), address.removeprefix("tcp://"))
        with dask.begun():
            assert dask.workers() == 1
        assert len(said) == 1
        assert "has no workers: the points wait until there are some" in said[0]
        killer = threading.Thread(target=kill)
        killer.start()  # not before: to connect once more takes its time on a busy machine
        with pytest.warns(wl.WattlineWarning, match="has no workers"), pytest.raises(
                wl.WattlineError, match=r"the scheduler is lost.* --resume"):
            wl.run_sweep(sweep, tmp_path / "sweep", on=f"dask://{address.removeprefix('tcp://')}",
                         cache=False, report=False)
        killer.join()
    finally:
        scheduler.kill()
        scheduler.wait()
    here = wl.run_sweep(sweep, tmp_path / "sweep", cache=False, report=False, workers=1,
                        resume=True)
    assert (here.counts.computed, here.counts.failed) == (2, 0)
