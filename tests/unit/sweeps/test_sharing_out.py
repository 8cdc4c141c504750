"""Points are shared out between workers, and what a worker keeps of them."""

from __future__ import annotations

import gc
import time
import tracemalloc
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

import wattline as wl
from wattline.model import worker_pool
from wattline.model.errors import InputError
from wattline.sweeps.runners import Place
from wattline.sweeps.runners.local import Local
from wattline.sweeps.running import MOST_IN_CHUNK, _chunks
from wattline.sweeps.work import run_chunk

SCENARIO = wl.Scenario(name="a", trace={"generate": "lublin", "jobs": 3}, machine={"nodes": 8})


@pytest.mark.parametrize("points", [0, 1, 7, 100, 1008])
def test_every_point_is_in_one_chunk_and_the_last_chunks_are_small(points: int) -> None:
    chunks = _chunks([(number, SCENARIO) for number in range(points)], 2)
    assert [number for chunk in chunks for number, _ in chunk] == list(range(points))
    sizes = [len(chunk) for chunk in chunks]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes, default=1) <= MOST_IN_CHUNK
    assert sizes[-1:] in ([], [1])


def children() -> set[str]:
    """Workers of this process, and what they are forked from."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # threads and processes end meanwhile
            found |= set((task / "children").read_text().split())
    return {pid for pid in found
            if any(word in _command(pid) for word in ("spawn_main", "forkserver"))}


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("forks", [False, worker_pool.FORKS])
def test_workers_that_nobody_needs_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, forks: bool
) -> None:
    monkeypatch.setattr(worker_pool, "FORKS", forks)
    before = children()
    local = Local(Place(2, "."))
    with local.begun():
        end_s = time.monotonic() + 30
        while len(begun := children() - before) < (1 if forks else 2):
            assert time.monotonic() < end_s
            time.sleep(0.001)
    # Asked of the kernel: the pool's own thread collects their status, so `exitcode` of a process
    # that has ended can be None here for a moment.
    end_s = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in begun) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not [pid for pid in begun if Path(f"/proc/{pid}").exists()]


def test_a_sweep_with_a_mistake_leaves_no_workers(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        wl.run_sweep({"scenario": {"trace": {"generate": "lublin"}, "machine": {"nodes": -1}},
                      "axes": {"machine.nodes": [-1, -2]}}, tmp_path / "out", workers=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.long  # 43 points, with every allocation traced: three seconds
def test_a_worker_keeps_nothing_of_the_points_it_has_done(tmp_path: Path) -> None:
    def points(first: int, count: int) -> None:
        chunk = [(number, SCENARIO.model_copy(update={"name": f"n{number}"}))
                 for number in range(first, first + count)]
        rows = run_chunk(str(tmp_path), chunk, False)
        assert not any("error" in row for row in rows), rows

    points(0, 3)  # what is made once
    tracemalloc.start()
    try:
        held = []
        for first in (3, 13, 23, 33):
            points(first, 10)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # Bytes; a row that stayed would be some thousands, each time. What the least of them gained:
    # threads that earlier tests of this process left keep something of their own now and then.
    assert min(after - before for before, after in pairwise(held)) < 10 * 2000
