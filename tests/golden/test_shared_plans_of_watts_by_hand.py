"""Watts of plans and of jobs that boot or are over, beside a cap on shared nodes, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.shared import machine, requests
from wattline.model.signal import Signal
from wattline.shared_nodes.cap import _allowed_beside, _freed_by_others, _held_at, hold_watts
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import Rules


def books() -> Any:
    """Two nodes under a cap of 300 W, and two jobs of a task."""
    on = machine(2)
    return make_books(on, requests(on, {}, {}), Rules(), Signal.constant(300.0, "W"), None, 0.0)


@pytest.mark.parametrize(("watts", "held_w", "allowed"), [
    (60.0, 0.0, True), (61.0, 0.0, False), (40.0, 20.0, True), (40.0, 21.0, False)])
def test_jobs_whose_nodes_boot_count_beside_plans(
    watts: float, held_w: float, allowed: bool
) -> None:
    """200 W are drawn, and 40 W will be once nodes are up."""
    st = books()
    st.clock[0].power_w, st.clock[0].booting_w = 200.0, 40.0
    assert _allowed_beside(st, watts, 500.0, held_w) == allowed


@pytest.mark.parametrize(("time_s", "held_w"), [
    (599.0, 0.0), (600.0, 20.0), (900.0, 50.0), (1199.0, 50.0), (1200.0, 30.0), (1500.0, 0.0)])
def test_a_planned_job_has_its_watts_from_its_begin_to_before_its_end(
    time_s: float, held_w: float
) -> None:
    """20 W from 600 to 1,200 s and 30 W from 900 to 1,500 s."""
    st = books()
    hold_watts(st, 0, 600.0, 1200.0, 20.0)
    hold_watts(st, 1, 900.0, 1500.0, 30.0)
    assert _held_at(st, time_s, 2) == held_w


@pytest.mark.parametrize(("time_s", "freed_w"), [
    (629.0, 0.0), (630.0, 20.0), (930.0, 50.0), (2000.0, 50.0)])
def test_watts_of_a_job_are_free_when_it_is_over_at_the_latest(
    time_s: float, freed_w: float
) -> None:
    """Limits of 600 and 900 s, each looked at 30 s later."""
    st = books()
    st.clock[0].running = 2
    for job, (limit_s, watts) in enumerate(((600.0, 20.0), (900.0, 30.0))):
        st.running[st.clock[0].first_running + job] = job
        live = st.live[job]
        live.limit_end_s, live.latest_s, live.watts, live.leaves = limit_s, limit_s + 30, watts, 0
    assert _freed_by_others(st, time_s) == freed_w
