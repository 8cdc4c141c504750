"""A saving of time under a cap: jobs that find no room for their watts are not tried."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.examples import costing, seeds
from tests.support.shared import machine, requests
from tests.support.shared_capped import capped_columns, evenly_capped_columns
from tests.support.shared_slowly import QUICK

from wattline.model.kernel import PLAIN
from wattline.model.signal import Signal
from wattline.shared_nodes import alike, backfill, cap, placing, simulate, will_run
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.state import NEVER_S

pytestmark = pytest.mark.skipif(not PLAIN, reason="parts of kernels are looked at and replaced")


@costing(300)
@given(seed=st.integers(0, 100_000))
@example(seed=3)  # nodes that the site has reserved
@example(seed=7)  # a try whose plan is found for a time before it, at which there was room
def test_jobs_start_as_if_each_were_tried(seed: int) -> None:
    assert _without_passes(capped_columns, seed) == _as_if_each_were_tried(capped_columns, seed)


@costing(400)
@given(seed=st.integers(0, 100_000))
@example(seed=29)  # plans that go on, and groups that end earlier
def test_jobs_that_follow_their_like_start_as_if_each_were_tried(seed: int) -> None:
    assert _without_passes(evenly_capped_columns, seed) == _as_if_each_were_tried(
        evenly_capped_columns, seed)


def test_plans_go_on_from_that_of_the_job_before(monkeypatch: pytest.MonkeyPatch) -> None:
    plan_as_before = will_run.plan_as_before
    found: list[bool] = []

    def plan_and_count(books: Any, entry: int, held: int, until_s: float) -> float:
        start_s = plan_as_before(books, entry, held, until_s)
        found.append(start_s < NEVER_S)
        return float(start_s)

    monkeypatch.setattr(will_run, "plan_as_before", plan_and_count)
    for seed in seeds(4):
        evenly_capped_columns(seed)
    assert sum(found) > 2  # at the same time
    assert len(found) - sum(found) > 5  # behind it


def test_lists_of_nodes_that_are_kept_are_those_of_a_look_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = alike.place_from_list
    went_on: list[int] = []

    def place_and_compare(
        books: Any, entry: int, ended: int, start_s: float, held: int
    ) -> bool:
        clock = books.clock[0]
        if clock.kept_ended > 0:
            went_on.append(int(ended - clock.kept_ended))
        found = place(books, entry, ended, start_s, held)
        kept = books.near[: clock.near].copy()
        kept_cpus = books.avail[kept].copy()
        has_enough = placing.list_near_after(books, entry, ended)
        assert books.near[: clock.near].tolist() == kept.tolist()
        assert books.avail[kept].tolist() == kept_cpus.tolist()
        assert has_enough == found
        return bool(found)

    for module in (alike, will_run):
        monkeypatch.setattr(module, "place_from_list", place_and_compare)
    # Few of the others have groups that end earlier.
    for seed in (*seeds(4), 18, 29, 43):
        evenly_capped_columns(seed)
    assert sum(more > 0 for more in went_on) > 20
    assert sum(more == 0 for more in went_on) > 2
    assert sum(more < 0 for more in went_on) > 4  # groups that end earlier: the list is made anew


def test_nobody_asks_when_jobs_are_killed_under_a_cap_without_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed: list[int] = []

    def list_and_count(books: Any) -> None:
        listed.append(int(books.clock[0].running))
        list_ends(books)

    list_ends = cap.list_ends
    monkeypatch.setattr(cap, "list_ends", list_and_count)
    on = machine(4)
    jobs = [{"tasks": 3, "submit_s": float(row), "run_s": 300.0} for row in range(6)]
    found = simulate.simulate_shared(
        on, requests(on, *jobs), Rules(), cap=Signal.constant(465.0, "W"))
    assert len(set(found.start_s.tolist())) > 2
    assert not listed
    steps = Signal(np.array([0.0, 1000.0]), np.array([465.0, 470.0]), "W")
    simulate.simulate_shared(on, requests(on, *jobs), Rules(), cap=steps)
    assert max(listed) > 0


def _as_if_each_were_tried(columns: Any, seed: int) -> dict[str, list[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        for place, plain_rule in QUICK.items():
            patch.setattr(f"wattline.shared_nodes.{place}", plain_rule)
        return _without_passes(columns, seed)


def _without_passes(columns: Any, seed: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = columns(seed)
    del found["backfill_passes"]  # fewer cycles can start a job
    return found


class Seen(NamedTuple):
    compared: list[int]
    """Count how many plans were held where the room was compared with what the cap leaves."""
    over_w: list[float]
    """By how much a job drew more than was said."""


@pytest.fixture(scope="module")
def seen() -> Seen:
    """A few runs show it; where rooms differ, they end there."""
    with pytest.MonkeyPatch.context() as patch:
        found = Seen(_compare_rooms(patch), _collect_watts(patch))
        for seed in seeds(4):
            capped_columns(seed)
    return found


def _compare_rooms(patch: pytest.MonkeyPatch) -> list[int]:
    plan = backfill._plan
    compared: list[int] = []

    def plan_and_compare(books: Any, entry: int, held: int) -> int:
        clock = books.clock[0]
        cap.list_limits(books)
        now_w = cap.cap_at(books, clock.now_s) - clock.power_w - clock.booting_w
        assert books.room_s[0] == clock.now_s
        assert abs(books.room_w[0] - now_w) < 1e-6
        for place in range(1, clock.rooms):
            time_s, room_w = books.room_s[place], books.room_w[place]
            if time_s < clock.room_until_s:
                held_w = cap._held_at(books, time_s, held)
                assert cap._allowed_beside(books, room_w, time_s, held_w)
                assert not cap._allowed_beside(books, room_w + 1e-3, time_s, held_w)
                compared.append(held)
        return int(plan(books, entry, held))

    patch.setattr(backfill, "_plan", plan_and_compare)
    return compared


def _collect_watts(patch: pytest.MonkeyPatch) -> list[float]:
    collect = simulate._collect
    over_w: list[float] = []

    def collect_watts(books: Any) -> Any:
        ran = np.asarray(books.live.nodes) > 0
        entry = np.asarray(books.live.entry)[ran]
        over_w.extend(np.asarray(books.live.watts)[ran] - books.entry["least_w"][entry])
        return collect(books)

    patch.setattr(simulate, "_collect", collect_watts)
    return over_w


def test_the_room_is_what_the_cap_leaves_beside_all_that_runs_and_is_planned(seen: Seen) -> None:
    assert len(seen.compared) > 1000
    assert max(seen.compared) > 4


def test_no_job_draws_less_than_was_said(seen: Seen) -> None:
    assert min(seen.over_w) > -1e-9
    assert sum(each < 1e-9 for each in seen.over_w) > len(seen.over_w) / 4


def test_nobody_is_planned_for_where_the_cap_has_no_room_for_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four idle nodes of 100 W; beside a job of 40 W there is room for 5 W, and each CPU takes 10 W
    more. The others wait, and all start when it has ended."""
    plan = backfill._plan
    planned: list[float] = []

    def plan_and_count(books: Any, entry: int, held: int) -> int:
        planned.append(float(books.clock[0].now_s))
        return int(plan(books, entry, held))

    monkeypatch.setattr(backfill, "_plan", plan_and_count)
    on = machine(4)
    jobs = [{"tasks": 4, "run_s": 600.0, "limit_s": 3600.0}]
    jobs += [{"tasks": 1, "submit_s": float(10 + row), "limit_s": 60.0 * (row + 1)}
             for row in range(4)]
    found = simulate.simulate_shared(
        on, requests(on, *jobs), Rules(), cap=Signal.constant(445.0, "W"))
    assert found.start_s[0] == 0.0
    assert np.all((found.start_s[1:] >= 600.0) & (found.start_s[1:] < 700.0))
    assert not [time_s for time_s in planned if 1.0 < time_s < 600.0]
