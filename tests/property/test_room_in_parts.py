"""A saving of time under limits of parts: jobs that find no watts in any part are not tried."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.examples import costing, seeds
from tests.support.shared import machine, requests
from tests.support.shared_racked import evenly_racked_columns, racked_columns
from tests.support.shared_slowly import QUICK

from wattline.model.kernel import PLAIN
from wattline.model.run import PowerBound
from wattline.shared_nodes import backfill, bounds, simulate, will_run
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.state import NEVER_S

pytestmark = pytest.mark.skipif(not PLAIN, reason="parts of kernels are looked at and replaced")


@costing(300)
@given(seed=st.integers(0, 100_000))
@example(seed=1)  # a cap of the machine
@example(seed=3)  # nodes that the site has reserved
def test_jobs_start_as_if_each_were_tried(seed: int) -> None:
    assert _starts(racked_columns, seed) == _as_if_each_were_tried(racked_columns, seed)


@costing(500)
@given(seed=st.integers(0, 100_000))
@example(seed=1)  # a feed that counts some of its nodes by half: who comes first matters
def test_jobs_that_follow_their_like_start_as_if_each_were_tried(seed: int) -> None:
    assert _starts(evenly_racked_columns, seed) == _as_if_each_were_tried(
        evenly_racked_columns, seed)


def _as_if_each_were_tried(columns: Any, seed: int) -> dict[str, list[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        for place, plain_rule in QUICK.items():
            patch.setattr(f"wattline.shared_nodes.{place}", plain_rule)
        return _starts(columns, seed)


def _starts(columns: Any, seed: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = columns(seed)
    del found["backfill_passes"]  # fewer cycles can start a job
    return found


def test_plans_go_on_from_that_of_the_job_before(monkeypatch: pytest.MonkeyPatch) -> None:
    plan_as_before = will_run.plan_as_before
    found: list[bool] = []

    def plan_and_count(books: Any, entry: int, held: int, until_s: float) -> float:
        start_s = plan_as_before(books, entry, held, until_s)
        found.append(start_s < NEVER_S)
        return float(start_s)

    monkeypatch.setattr(will_run, "plan_as_before", plan_and_count)
    for seed in seeds(4):
        evenly_racked_columns(seed)
    assert sum(found) > 2  # at the same time
    assert len(found) - sum(found) > 2  # behind it


class Seen(NamedTuple):
    compared: list[int]
    """Count how many plans were held where steps were compared with sums of all that runs."""
    over_w: list[float]
    """By how much a job drew more on a node than was said."""


@pytest.fixture(scope="module")
def seen() -> Seen:
    """A few runs show it; where steps and sums differ, they end there."""
    with pytest.MonkeyPatch.context() as patch:
        found = Seen(_compare_steps(patch), _collect_watts(patch))
        for seed in seeds(4):
            racked_columns(seed)
    return found


def _compare_steps(patch: pytest.MonkeyPatch) -> list[int]:
    is_over = bounds._is_over
    compared: list[int] = []

    def is_over_and_compare(
        books: Any, job: int, bound: int, start_s: float, held: int, bank: int
    ) -> bool:
        if bounds.uses_steps(books, start_s, held):
            left_w = bounds.left_for(books, job, bound, start_s, held, bank)
            assert abs(left_w - bounds._least_beside_plans(books, job, bound, start_s, held)) < 1e-9
            compared.append(held)
        return bool(is_over(books, job, bound, start_s, held, bank))

    patch.setattr(bounds, "_is_over", is_over_and_compare)
    return compared


def _collect_watts(patch: pytest.MonkeyPatch) -> list[float]:
    collect = simulate._collect
    over_w: list[float] = []

    def collect_watts(books: Any) -> Any:
        for job in np.flatnonzero(np.asarray(books.live.nodes) > 0):
            first = books.ask.first_row[job]
            rows = books.row_w[first : first + books.live.nodes[job]]
            over_w.extend(rows - books.entry["node_least_w"][books.live.entry[job]])
        return collect(books)

    patch.setattr(simulate, "_collect", collect_watts)
    return over_w


def test_steps_are_what_sums_of_all_that_runs_and_is_planned_say(seen: Seen) -> None:
    assert len(seen.compared) > 200
    assert max(seen.compared) > 4


def test_no_job_draws_less_on_a_node_than_was_said(seen: Seen) -> None:
    assert min(seen.over_w) > -1e-9
    assert sum(each < 1e-9 for each in seen.over_w) > len(seen.over_w) / 4


def test_nobody_is_planned_for_where_no_part_has_room_for_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two racks of two idle nodes of 100 W each; beside a job of 40 W in each there is room for 5
    W, and each CPU takes 10 W more. The others wait, and start when the first two have ended."""
    plan = backfill._plan
    planned: list[float] = []

    def plan_and_count(books: Any, entry: int, held: int) -> int:
        planned.append(float(books.clock[0].now_s))
        return int(plan(books, entry, held))

    monkeypatch.setattr(backfill, "_plan", plan_and_count)
    on = machine(4)
    jobs = [{"tasks": 4, "run_s": 600.0, "limit_s": 3600.0}] * 2
    jobs += [{"tasks": 1, "submit_s": float(10 + row), "limit_s": 60.0 * (row + 1)}
             for row in range(4)]
    racks = [PowerBound(f"rack{row}", 245.0, 200.0, np.array([2 * row, 2 * row + 1]))
             for row in range(2)]
    found = simulate.simulate_shared(on, requests(on, *jobs), Rules(), bounds=racks)
    assert found.start_s[:2].tolist() == [0.0, 0.0]
    assert np.all((found.start_s[2:] >= 600.0) & (found.start_s[2:] < 700.0))
    assert not [time_s for time_s in planned if 1.0 < time_s < 600.0]
