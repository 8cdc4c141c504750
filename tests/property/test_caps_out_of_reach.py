"""A cap, or a limit of a part, that the machine can never reach changes nothing."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing, seeds
from tests.support.shared_busy import RULES, _machine, _requests
from tests.support.shared_capped import capped_columns

from wattline.model.kernel import PLAIN
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes import backfill
from wattline.shared_nodes.simulate import simulate_shared


@costing(330)
@given(seed=st.integers(0, 100_000), above_w=st.sampled_from([0.0, 0.5, 1e6]))
def test_a_cap_of_all_that_the_machine_can_draw_is_none(seed: int, above_w: float) -> None:
    on, asked, rules = _site(seed)
    cap = Signal.constant(float(_most_w(on).sum()) + above_w, "W")
    assert _columns(simulate_shared(on, asked, rules, cap=cap)) == _columns(
        simulate_shared(on, asked, rules))


@costing(290)
@given(seed=st.integers(0, 100_000))
def test_limits_of_all_that_parts_can_draw_are_none(seed: int) -> None:
    on, asked, rules = _site(seed)
    inside = np.arange(len(on.nodes.names) // 2 + 1)
    share = np.full(len(inside), 0.5)
    most_w, idle_w = _most_w(on)[inside], on.nodes.idle_w[inside]
    bounds = [PowerBound("rack", float(most_w.sum()), float(idle_w.sum()), inside),
              PowerBound("feed", float(most_w @ share), float(idle_w @ share), inside, share)]
    assert _columns(simulate_shared(on, asked, rules, bounds=bounds)) == _columns(
        simulate_shared(on, asked, rules))


@costing(490)
@given(seed=st.integers(0, 100_000))
def test_plans_draw_no_more_than_the_machine_can_where_a_cap_counts(seed: int) -> None:
    """The cap falls long after the last job, so that it is kept all along; a cap far above it is
    kept alike."""
    on, asked, rules = _site(seed)
    most_w = float(_most_w(on).sum())
    starts = [simulate_shared(on, asked, rules, cap=Signal(
        np.array([0.0, 1e9]), np.array([cap_w, most_w - 1.0]), "W")).start_s
        for cap_w in (most_w, 1e6)]
    np.testing.assert_array_equal(*starts)


@pytest.mark.skipif(not PLAIN, reason="parts of kernels are looked at")
def test_plans_have_room_at_the_start_that_they_get(monkeypatch: pytest.MonkeyPatch) -> None:
    hold = backfill._hold_watts
    behind_now = []

    def hold_and_compare(books: Any, entry: int, held: int) -> int:
        rows = int(hold(books, entry, held))
        clock = books.clock[0]
        if rows and books.held_begin[held] < clock.room_until_s:
            steps = books.room_s[: clock.rooms]
            place = int(np.searchsorted(steps, books.held_begin[held], side="right")) - 1
            assert books.room_w[place] > -1e-3
            behind_now.append(clock.open_from_s > clock.now_s)
        return rows

    monkeypatch.setattr(backfill, "_hold_watts", hold_and_compare)
    for seed in seeds(4):
        capped_columns(seed)
    assert sum(behind_now) > 20


def _site(seed: int) -> tuple[Any, Any, Any]:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(2, 9))
    on = _machine(draw, nodes)
    asked = _requests(draw, on, nodes, alike=bool(seed % 2))
    return on, asked, RULES[int(draw.integers(0, len(RULES)))]


def _most_w(on: Any) -> Any:
    nodes = on.nodes
    return nodes.idle_w + nodes.cpus * nodes.cpu_w + (nodes.gres * nodes.gres_w).sum(axis=1)


def _columns(found: Any) -> dict[str, Any]:
    return {field.name: np.nan_to_num(np.asarray(getattr(found, field.name)), nan=-1.0).tolist()
            for field in fields(found) if not field.name.startswith("engine")}
