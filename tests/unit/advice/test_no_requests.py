"""A look ahead at jobs without a requested time, which must not know how long they will run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wattline as wl
from wattline.advice.futures.policy import planned
from wattline.advice.futures.run_times import OVERDUE, RunTimes, asks_nothing
from wattline.advice.futures.running import stand_at
from wattline.model.jobs import JobTable

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CHANCES = np.linspace(0, 0.999, 101)


def table(requested_s: list[float], run_s: list[float], user: list[int]) -> JobTable:
    return JobTable.build(submit_s=np.arange(float(len(run_s))), run_s=run_s,
                          requested_s=requested_s, procs=[1] * len(run_s), user=user)


def swf(path: Path, *, requests: int, rounds: int = 1) -> Path:
    """60 jobs on four nodes, of which the first ask for twice their time, the others for none; in
    each further round the same again, eight days later."""
    lines = []
    for number in range(60 * rounds):
        job, submit_s = number % 60, number // 60 * 8 * 86400 + number % 60 * 100
        run_s = 100 + 37 * (job * 7 % 20)
        asked_s = 2 * run_s if job < requests else -1
        lines.append(f"{number + 1} {submit_s} -1 {run_s} 2 -1 -1 2 {asked_s} -1 1 1 1 1 "
                     "-1 -1 -1 -1")
    path.write_text("\n".join([*lines, ""]))
    return path


def test_jobs_without_a_request_are_drawn_from_the_run_times_of_others() -> None:
    history = table([100.0] * 20 + [7.0] * 20, [50.0] * 20 + [7.0] * 20, [1] * 20 + [2] * 20)
    times = RunTimes(history, np.arange(40) >= 20)
    assert times.count == 20
    jobs = table([1000.0, 1000.0, 1000.0, 1000.0], [0.0] * 4, [1, 1, 2, 2])
    unasked = np.array([False, True, True, True])
    drawing = times.of(jobs, np.array([0.0, 0.0, 0.0, 500.0]), unasked)
    drawn = np.array([drawing.draw(np.full(4, chance)) for chance in CHANCES])
    assert [set(column) for column in drawn.T] == [
        {500.0}, {50.0}, {7.0}, {500.0 * (1 + OVERDUE)}]


def test_one_that_runs_is_drawn_from_those_that_ran_longer() -> None:
    history = table([1.0] * 20, [float(each) for each in range(5, 105, 5)], [1] * 20)
    times = RunTimes(history, np.ones(20, dtype=bool))
    drawing = times.of(table([9.0], [9.0], [1]), np.array([52.0]), np.ones(1, dtype=bool))
    drawn = [float(drawing.draw(np.array([chance]))[0]) for chance in CHANCES]
    assert (min(drawn), max(drawn)) == (55.0, 100.0)


@pytest.mark.parametrize("requests", [0, 10])
def test_the_start_is_no_longer_known_where_a_log_has_no_requests(
    tmp_path: Path, requests: int
) -> None:
    log = swf(tmp_path / "log.swf", requests=requests)
    found = wl.advise_start(30, str(log), at="60%", samples=20, machine=wl.Machine(nodes=4))
    assert found.start_s["p10"] < found.start_s["p90"]
    assert any("have no requested time" in line for line in found.assumed)
    assert any("are few to draw from" in line for line in found.assumed)


def test_requests_are_told_from_run_times_by_the_reader_or_by_all_of_them(tmp_path: Path) -> None:
    read = wl.read(swf(tmp_path / "log.swf", requests=10))
    assert asks_nothing(read.jobs, read.logged).tolist() == [False] * 10 + [True] * 50
    drawn = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    assert asks_nothing(drawn.jobs, drawn.logged).all()
    # Who is killed at the limit asked for just what it ran, among others who did not.
    asked_s = drawn.jobs.run_s + (np.arange(20) == 0)
    some = replace(drawn, jobs=drawn.jobs.with_columns(requested_s=asked_s))
    assert not asks_nothing(some.jobs, some.logged).any()


def test_jobs_that_were_killed_at_their_limit_have_a_request(tmp_path: Path) -> None:
    """They ran for just what they asked for, in a log in which others asked for nothing."""
    log = swf(tmp_path / "log.swf", requests=10)
    killed = [f"{job} {job * 100} -1 500 2 -1 -1 2 500 -1 1 1 1 1 -1 -1 -1 -1"
              for job in range(61, 64)]
    log.write_text(log.read_text() + "\n".join([*killed, ""]))
    ready = planned(str(log), {"machine": wl.Machine(nodes=4)}, False)
    expected = [False] * 10 + [True] * 50 + [False] * 3
    assert asks_nothing(ready.jobs, ready.rules.logged).tolist() == expected
    now = stand_at(ready, 1e6, 86400.0, "none")
    assert now.run_times.count == 13


@pytest.mark.parametrize("requests", [0, 10, 60])
def test_marks_go_with_jobs_that_come_again(tmp_path: Path, requests: int) -> None:
    """Jobs of last week stand for those to come, and are as unsure as those were."""
    log = swf(tmp_path / "log.swf", requests=requests, rounds=2)
    ready = planned(str(log), {"machine": wl.Machine(nodes=4)}, False)
    last_s = float(ready.jobs.submit_s[-1])
    now = stand_at(ready, last_s, 86400.0 * 7, "last-week")
    assert now.unasked is not None
    came = now.moment.jobs.job_id
    assert now.unasked.tolist() == [(number - 1) % 60 >= requests for number in came]


def test_draws_are_of_others_at_an_instant_of_a_generated_log() -> None:
    trace = wl.generate("lublin", seed=3, jobs=150, nodes=64)
    ready = planned(trace, {"machine": wl.Machine(nodes=64)}, False)
    now = stand_at(ready, float(trace.jobs.submit_s[100]), 86400.0, "none")
    drawn_s = now.draws(1, 1)[0]
    assert not np.isclose(drawn_s, now.moment.jobs.run_s).all()
    assert now.run_times.count == 0
