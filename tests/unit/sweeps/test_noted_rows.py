"""Workers that have much in hand and do not come back: what they had done is not lost."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.model.errors import WattlineError
from wattline.sweeps import api
from wattline.sweeps.running import MOST_TRIES
from wattline.sweeps.work import run_chunk, run_chunk_noting

SWEEP: dict[str, Any] = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 20},
                 "machine": {"node_idle_w": 90, "node_active_w": 300}},
    "axes": {"machine.nodes": [64, 65, 66, 67, 68, 69, 70, 71, 72, 73]}}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


class Tasks(Executor):
    """Two tasks with half of the points each; a task ends early where it is told to."""

    in_one_go = True

    def __init__(self, ends: dict[int, BaseException]) -> None:
        self.ends, self.asked = ends, list[list[int]]()
        """By how many points a task has done: what ends it, once."""

    def executor(self) -> Any:
        return nullcontext(self)

    def begun(self) -> Any:
        return nullcontext()

    def workers(self) -> int:
        return 2

    def submit(self, fn: Any, /, place: Any, chunk: Any, allow: Any, file: Any, keys: Any,
               ) -> Future[Any]:  # type: ignore[override]
        assert fn is run_chunk_noting
        self.asked.append([number for number, _ in chunk])
        done, cause = self.ends.popitem() if self.ends else (len(chunk), None)
        future: Future[Any] = Future()
        rows = fn(place, chunk[:done], allow, file, keys[:done])
        if isinstance(cause, KeyboardInterrupt):
            raise cause
        if cause is None:
            future.set_result(rows)
        else:
            future.set_exception(cause)
        return future


@pytest.fixture
def on_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WATTLINE_PLAIN", "1")

    def swept(tasks: Tasks, **more: Any) -> wl.SweepResult:
        monkeypatch.setattr(api, "runner", lambda on, place: tasks)
        return wl.run_sweep(SWEEP, tmp_path / "a", on="slurm", workers=2, cache=False,
                            report=False, **more)

    return swept


@pytest.mark.parametrize("done", range(6))
def test_a_task_that_is_ended_gives_what_it_had_done(on_tasks: Any, done: int) -> None:
    tasks = Tasks({done: RuntimeError("its time was over")})
    found = on_tasks(tasks)
    assert (found.counts.computed, found.counts.failed) == (10, 0)
    assert [row["number"] for row in found.rows] == list(range(10))
    again = [number for asked in tasks.asked[2:] for number in asked]
    assert sorted(again) == tasks.asked[0][done:], "only these were still to do"
    assert not list(found.folder.glob("rows/*"))


@pytest.mark.parametrize("done", [1, 4])
def test_a_sweep_that_is_ended_goes_on_behind_what_its_tasks_had_done(
    on_tasks: Any, tmp_path: Path, done: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        on_tasks(Tasks({done: KeyboardInterrupt()}))
    # The line in which a machine was lost is no row.
    noted, = (tmp_path / "a" / "rows").iterdir()
    noted.write_text(noted.read_text() + '{"key": "a", "number"')
    rest = Tasks({})
    found = on_tasks(rest, resume=True)
    assert (found.counts.cached, found.counts.computed) == (done, 10 - done)
    assert sum(map(len, rest.asked)) == 10 - done
    whole = wl.run_sweep(SWEEP, tmp_path / "b", workers=1, cache=False, report=False)
    kept = ["energy_j", "wait_s.mean", "makespan_s"]
    assert found.to_pandas()[kept].equals(whole.to_pandas()[kept])


def test_a_point_that_ends_each_task_fails_alone(on_tasks: Any) -> None:
    class Guilty(Tasks):
        def submit(self, fn: Any, /, *given: Any) -> Future[Any]:
            numbers = [number for number, _ in given[1]]
            self.ends = {numbers.index(3): RuntimeError("it was too large")} if 3 in numbers else {}
            return super().submit(fn, *given)

    tasks = Guilty({})
    found = on_tasks(tasks)
    assert [row["number"] for row in found.rows if "error" in row] == [3]
    assert tasks.asked.count([3]) == MOST_TRIES
    assert found.counts.computed == 10


def test_where_there_is_no_worker_the_sweep_ends_at_once(on_tasks: Any) -> None:
    tasks = Tasks({2: WattlineError("nobody takes the tasks")})
    with pytest.raises(WattlineError, match="nobody takes the tasks"):
        on_tasks(tasks)
    assert len(tasks.asked) == 2
    assert on_tasks(Tasks({}), resume=True).counts.cached >= 2


@pytest.mark.parametrize("breaks_at", [0, 1, 3, 9])
def test_a_pool_that_broke_while_nobody_looked_is_replaced(
    on_tasks: Any, breaks_at: int
) -> None:
    """It says so when it is given more, not by what it was given before."""
    class Breaking(Tasks):
        in_one_go = False
        given = 0

        def submit(self, fn: Any, /, place: Any, chunk: Any, allow: Any) -> Future[Any]:
            self.given += 1
            if self.given == breaks_at + 1:
                raise BrokenExecutor("a worker died")
            future: Future[Any] = Future()
            future.set_result(run_chunk(place, chunk, allow))
            return future

    found = on_tasks(Breaking({}))
    assert (found.counts.computed, found.counts.failed) == (10, 0)
    assert [row["number"] for row in found.rows] == list(range(10))
