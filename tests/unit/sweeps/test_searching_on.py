"""Searches that go on, points that a search comes back to, and chunks with a guilty point."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps import optimise
from wattline.sweeps.axes import Axis, Interval, read_axis
from wattline.sweeps.running import MOST_TRIES, Tries
from wattline.sweeps.space import space_of

SCENARIO: dict[str, Any] = {"trace": {"generate": "lublin", "jobs": 10},
                            "machine": {"nodes": 64, "node_idle_w": 90, "node_active_w": 300}}
AXES: dict[str, Any] = {"machine.nodes": {"from": 32, "to": 4000}}
pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def search(folder: Path, axes: dict[str, Any] = AXES, objectives: tuple[str, ...] = ("energy_j",),
           *, seeds: int | None = None, scenario: dict[str, Any] = SCENARIO, **more: Any
           ) -> wl.SweepResult:
    given = {"scenario": scenario, "axes": axes} | ({} if seeds is None else {"seeds": seeds})
    return wl.optimise_sweep(given, folder, objectives, report=False, **more)


def test_a_search_that_goes_on_tries_other_points(tmp_path: Path) -> None:
    search(tmp_path / "a", trials=3)
    for trials in (6, 9):
        found = search(tmp_path / "a", trials=trials, resume=True)
    tried = [row["setting"]["machine.nodes"] for row in found.rows]
    assert len(tried) == 9
    assert len(set(tried)) >= 8


@pytest.mark.parametrize(("other", "named"), [
    ({"objectives": ("wait_s",)}, "objectives"),
    ({"objectives": ("energy_j", "wait_s")}, "objectives"),
    ({"axes": {"machine.nodes": {"from": 32, "to": 5000}}}, "axes"),
    ({"axes": {"machine.nodes": [64, 96]}}, "axes"),
    ({"seeds": 2}, "seeds"),
    ({"subject_to": ["wait_s.p95 <= 3600"]}, "constraints"),
    ({"scenario": SCENARIO | {"policy": {"order": "sjf"}}}, "scenario"),
])
def test_another_search_does_not_go_on_in_the_same_folder(
    tmp_path: Path, other: dict[str, Any], named: str
) -> None:
    search(tmp_path / "a", trials=2)
    with pytest.raises(wl.InputError, match=rf"{named}.* other than now; name another folder"):
        search(tmp_path / "a", trials=4, resume=True, **other)


@pytest.mark.parametrize("trials", [2, 8])
def test_a_setting_is_not_tried_again(tmp_path: Path, trials: int) -> None:
    found = search(tmp_path / "a", {"machine.nodes": [64, 96]}, seeds=3, trials=trials)
    assert len(found) == found.counts.computed == 6
    assert f"2 settings, {trials} trials: each setting was tried once" in found.sentences
    assert {each.runs for each in found.settings} == {3}
    told = found.to_dict()["pareto"][0]["energy_j"]
    assert told["half"] == found.pareto()[0].halves["energy_j"] > 0


@pytest.mark.parametrize("text", ["turnaround_s", "energy_j + 0.1*wait_s"])
def test_intervals_are_also_of_short_names_and_expressions(tmp_path: Path, text: str) -> None:
    found = search(tmp_path / "a", {"machine.nodes": [32]}, (text,), seeds=3, trials=1)
    assert found.to_dict()["pareto"][0][text]["half"] > 0


def test_a_trial_in_which_the_search_was_killed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    true = optimise.run_point

    def dies(shelf: Any, number: int, *more: Any) -> Any:
        if number == 2:
            raise Killed  # as by SIGKILL: nothing more is written
        return true(shelf, number, *more)

    with monkeypatch.context() as patch:
        patch.setattr(optimise, "run_point", dies)
        with pytest.raises(Killed):
            search(tmp_path / "a", trials=4)
    found = search(tmp_path / "a", trials=4, resume=True)
    assert len(found) == 4
    assert "2 trials are from before" in found.sentences


def test_a_setting_that_is_refused_takes_no_trial_and_is_asked_once(tmp_path: Path) -> None:
    axes = {"policy.order": ["fcfs", "no such order"], "machine.nodes": {"from": 32, "to": 4000}}
    found = search(tmp_path / "a", axes, trials=8)
    tried = [row for row in found.rows if "error" not in row]
    assert len(tried) == 8
    refused = [str(row["setting"]) for row in found.rows if "error" in row]
    assert 1 <= len(refused) == len(set(refused)) == found.counts.failed
    again = search(tmp_path / "a", axes, trials=8, resume=True)
    assert (len(again), again.counts.failed, again.counts.computed) == (8, 0, 0)


def test_a_search_of_which_all_is_refused_ends(tmp_path: Path) -> None:
    orders = [f"no such order {number}" for number in range(8)]
    found = search(tmp_path / "a", {"policy.order": orders}, trials=5)
    assert found.counts.failed == 5
    assert any("given up after as many that failed" in line for line in found.sentences)


LISTS = {"policy.order": ["fcfs", "sjf", "largest"], "machine.nodes": [32, 64, 96, 128]}


@pytest.mark.parametrize("objectives", [("energy_j",), ("energy_j", "wait_s")])
@pytest.mark.parametrize("trials", [3, 11, 12, 30])
def test_a_search_over_lists_never_repeats_a_setting(
    tmp_path: Path, trials: int, objectives: tuple[str, ...]
) -> None:
    found = search(tmp_path / "a", LISTS, objectives, trials=trials, cache=False)
    tried = [str(row["setting"]) for row in found.rows]
    assert len(tried) == len(set(tried)) == found.counts.computed == min(trials, 12)
    assert any("each setting was tried once" in line for line in found.sentences) == (trials >= 12)


@pytest.mark.parametrize("trials", [11, 12])
def test_a_search_over_lists_goes_on_with_what_is_left(tmp_path: Path, trials: int) -> None:
    search(tmp_path / "a", LISTS, trials=5, cache=False)
    found = search(tmp_path / "a", LISTS, trials=trials, cache=False, resume=True)
    tried = [str(row["setting"]) for row in found.rows]
    assert len(tried) == len(set(tried)) == trials
    assert (found.counts.cached, found.counts.computed) == (5, trials - 5)


def test_a_search_along_few_whole_numbers_ends(tmp_path: Path) -> None:
    found = search(tmp_path / "a", {"machine.nodes": {"from": 32, "to": 34}}, trials=20)
    tried = [row["setting"]["machine.nodes"] for row in found.rows]
    assert len(tried) == len(set(tried)) <= 3
    assert any("came back to settings that it had tried" in line for line in found.sentences)


class Killing:
    """An executor whose workers do not survive one point, and say so of its chunk."""

    def __init__(self, guilty: int) -> None:
        self.guilty, self.asked = guilty, deque[list[int]]()

    def executor(self) -> Any:
        return nullcontext(self)

    def submit(self, function: Any, place: str, chunk: Any, allow_code: bool) -> Future[Any]:
        numbers = [number for number, _ in chunk]
        self.asked.append(numbers)
        future: Future[Any] = Future()
        if self.guilty in numbers:
            future.set_exception(RuntimeError("KilledWorker"))
        else:
            future.set_result([{"number": number} for number in numbers])
        return future



def test_the_others_of_a_chunk_do_not_fail_with_the_one_whose_worker_did() -> None:
    killing = Killing(guilty=11)
    chunks: Any = [[(number, None) for number in range(40)]]
    rows = [row for part in Tries(killing, "", False).rows(chunks, 4)  # type: ignore[arg-type]
            for row in part]
    assert sorted(row["number"] for row in rows) == list(range(40))
    assert [row["number"] for row in rows if "error" in row] == [11]
    assert list(killing.asked).count([11]) == MOST_TRIES
    assert len(killing.asked) < 20


def test_ranges_are_also_of_per_cent() -> None:
    found = read_axis("power.cap", {"from": "70%", "to": "80%", "step": "5%"})
    assert found == Axis("power.cap", ("70%", "75%", "80%"))
    assert read_axis("power.cap", {"from": "70%", "to": "90%"}) == Interval(
        "power.cap", 70.0, 90.0, whole=False, unit="%")
    with pytest.raises(wl.InputError, match="all per cent"):
        read_axis("power.cap", {"from": "70%", "to": 90})


def test_a_count_on_a_field_of_whole_numbers_makes_whole_numbers() -> None:
    assert read_axis("machine.nodes", {"from": 60, "to": 70, "count": 4}) == Axis(
        "machine.nodes", (60, 63, 67, 70))
    assert read_axis("machine.node_idle_w", {"from": 60, "to": 70, "count": 3}) == Axis(
        "machine.node_idle_w", (60.0, 65.0, 70.0))
    with pytest.raises(wl.InputError, match=r"machine\.nodes takes whole numbers"):
        read_axis("machine.nodes", {"from": 60, "to": 62, "count": 4})
    with pytest.raises(wl.InputError, match=r"there is none from 16\.2 to 16\.8"):
        read_axis("machine.nodes", {"from": 16.2, "to": 16.8})


@pytest.mark.parametrize(("field", "low", "whole"), [
    ("machine.nodes", 32.0, True), ("machine.node_idle_w", 90, False),
    ("policy.order.exponent", 1, True), ("policy.order.exponent", 1.5, False)])
def test_a_search_tries_what_its_field_takes(field: str, low: float, whole: bool) -> None:
    assert read_axis(field, {"from": low, "to": 200}) == Interval(field, float(low), 200.0, whole)


@pytest.mark.parametrize("wrong", [
    {"objectives": ("joules",)}, {"subject_to": ["wait_s.p96 <= 3600"]}])
def test_a_search_for_what_there_is_not_leaves_no_folder(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(wl.InputError, match="no figure"):
        search(tmp_path / "a", trials=2, **wrong)
    assert not (tmp_path / "a").exists()
    assert len(search(tmp_path / "a", trials=1)) == 1


@pytest.mark.parametrize(("more", "said"), [
    ({"axes": {"power.cap": ["90%"], "power__cap": ["70%"]}}, "power.cap is an axis twice"),
    ({"axes": {"power.cap": ["90%"], "power": {"cap": ["70%"]}}}, "power.cap is an axis twice"),
    ({"axes": {"trace.seed": [1, 2]}, "scenario": {"trace": {"file": "a.swf"}}}, "a log is what"),
    ({"axes": {"machine.nodes": [1]}, "seeds": [True, 2]}, "seeds are a number"),
    ({"axes": {"machine.nodes": {"from": 1, "to": 2}, "power.cap": ["90%"]}, "zip": True},
     "a range needs a step"),
])
def test_what_would_be_lost_or_mean_nothing_is_said(more: dict[str, Any], said: str) -> None:
    with pytest.raises(wl.InputError, match=said):
        space_of({"scenario": SCENARIO, **more}, "s", Path())
