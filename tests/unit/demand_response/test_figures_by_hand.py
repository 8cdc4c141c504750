"""What a contract offered, its scores and its limits, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from wattline.demand_response import figures, limit_figures
from wattline.demand_response.building import case_of
from wattline.demand_response.reading import contract_of, read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid, Period
from wattline.grid.programme import Programme, programme
from wattline.model.signal import Signal

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "5m", "warmup": "0s",
         "check": 0, "cycle_s": 10, "programme": "fcr"}
PERIODS = (Period(600.0, 1500.0, 1.0, 1.0, 2.0), Period(1500.0, 2400.0, 3.0, 0.5, 4.0))
"""After 600 s of warm-up; of 1 and 3 MWh of reserve, with scores of 1 and 1/2."""


@pytest.mark.parametrize(("judged_s", "offered"), [
    (0.0, [(1000.0, 50.0, 100.0), (1200.0, 70.0, 100.0)]),
    (40.0, [(1000.0, 50.0, 60.0), (1200.0, 70.0, 100.0)]), (100.0, [(1200.0, 70.0, 100.0)]),
    (250.0, [(1200.0, 70.0, 50.0)])])
def test_hours_count_as_offered_from_the_end_of_the_warm_up_on(
    judged_s: float, offered: list[tuple[float, float, float]]
) -> None:
    """Of three hours of 100 s nothing is bid for the second."""
    times = (0.0, 100.0, 200.0)
    found = SimpleNamespace(
        case=SimpleNamespace(judged_s=judged_s, end_s=300.0), contract=SimpleNamespace(
            average_w=Signal.from_steps([*zip(times, (1000.0, 1100.0, 1200.0), strict=True)], "W"),
            reserve_w=Signal.from_steps([*zip(times, (50.0, 0.0, 70.0), strict=True)], "W")))
    assert [*zip(*(each.tolist() for each in figures._offered(found)), strict=True)] == offered


@pytest.mark.parametrize(("kept", "reserve_w", "score", "told"), [
    ({"exceed_share": 0.1}, 0.0, None, 0.9), (None, 0.0, 0.7, None), (None, 50.0, 0.7, 0.7),
    (None, 50.0, None, 0.8)])
def test_a_score_is_the_programmes_or_the_time_without_a_large_error(
    kept: dict[str, float] | None, reserve_w: float, score: float | None, told: float | None
) -> None:
    """Of a curtailment the time below its limit; errors are large for a fifth of the time."""
    found = SimpleNamespace(contract=SimpleNamespace(reserve_w=Signal.constant(reserve_w, "W")),
                            tracking=SimpleNamespace(exceed_share=0.2, score=score))
    assert figures._score(found, kept) == (None if told is None else pytest.approx(told))


def test_periods_of_settlement_count_from_the_end_of_the_warm_up() -> None:
    case = SimpleNamespace(programme=programme("fcr"), credited=True, reduction_paid=False,
                           judged_s=600.0, curtailment=None)
    found = SimpleNamespace(case=case, settlement=SimpleNamespace(periods=PERIODS, credit=6.0))
    told = figures._programme(contract_of(read_contract(None, SHORT)), found, 2e6)
    assert told is not None
    assert [(each["start_s"], each["end_s"]) for each in told["periods"]] == [
        (0.0, 900.0), (900.0, 1800.0)]


def test_the_score_of_a_contract_is_that_of_its_periods_by_what_was_offered_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """(1 x 1 + 3 x 1/2) / 4."""
    monkeypatch.setattr(Programme, "periods", lambda *asked: PERIODS)
    found = run_contract(case_of(read_contract(None, SHORT)), Bid(1500.0, 200.0))
    assert found.settlement.tracking.score == pytest.approx(0.625)
    assert found.settlement.credit == 6.0


@pytest.mark.parametrize(("exceed_share", "excess"), [(0.2, 0.1), (0.1, 0.0), (0.95, 0.85)])
def test_a_limit_is_exceeded_by_what_is_above_the_time_that_it_may_be(
    monkeypatch: pytest.MonkeyPatch, exceed_share: float, excess: float
) -> None:
    """It has to be kept for nine tenths of the time."""
    monkeypatch.setattr(limit_figures, "_kept", lambda found: SimpleNamespace(
        exceed_share=exceed_share, least=0.9, met=exceed_share <= 0.1))
    found = SimpleNamespace(case=SimpleNamespace(curtailment=object(), events=None))
    assert limit_figures.limit_excess(SimpleNamespace(), found) == pytest.approx(excess)
