"""Power and what was asked for are compared at the moments that telemetry tells."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.thinned import crossed

from wattline.grid.market import Contract
from wattline.grid.programme import OtherTerms, Programme, programme
from wattline.model.signal import Signal

END_S = 7200.0


def level(step_s: float, seed: int) -> Signal:
    """A signal that has moved far by the time of the next sample."""
    times_s = np.arange(0.0, END_S, step_s)
    return Signal(times_s, np.random.default_rng(seed).uniform(-1.0, 1.0, times_s.size))


def by_hour(turn_s: float) -> Contract:
    """Another bid after some time, which need not be one of telemetry's."""
    times_s = np.array([0.0, turn_s])
    return Contract(Signal(times_s, np.array([1000.0, 1400.0]), "W"),
                    Signal(times_s, np.array([100.0, 250.0]), "W"))


def with_telemetry(name: str, telemetry_s: float) -> Programme:
    given = programme(name)
    terms = OtherTerms(settlement_s=given.terms.settlement_s, telemetry_s=telemetry_s)
    return given.model_copy(update={"terms": terms})


@pytest.mark.parametrize(("name", "telemetry_s", "step_s", "turn_s"), crossed(
    ["pjm-regd", "fcr", "afrr-up", "afrr-down"], [1.0, 2.0, 4.0, 7.0, 10.0, 60.0],
    [1.0, 2.0, 3.0, 4.0, 20.0], [3600.0, 3605.0], later=pytest.mark.long, together=2))
def test_who_follows_exactly_scores_one(name, telemetry_s, step_s, turn_s) -> None:
    judge = with_telemetry(name, telemetry_s)
    asked, contract = judge.drawn(level(step_s, seed=3)), by_hour(turn_s)
    exact = contract.target_w(asked, 0.0, END_S)
    periods = judge.periods(exact, contract, asked, 0.0, END_S)
    assert periods
    assert [period.score for period in periods] == pytest.approx([1.0] * len(periods))


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_counts_as_long_as_it_holds(seed) -> None:
    """Of ten samples of 10 s the power misses what was asked for at one."""
    judge = with_telemetry("fcr", 10.0)
    asked, contract = level(4.0, seed), by_hour(END_S)
    exact = contract.target_w(asked, 0.0, END_S)
    misses = (exact.time_s % 100.0 == 0.0)
    missed = Signal(exact.time_s, exact.value + np.where(misses, 50.0, 0.0), "W")
    scores = [period.score for period in judge.periods(missed, contract, asked, 0.0, END_S)]
    assert scores == pytest.approx([0.9] * len(scores))


def test_between_two_samples_nobody_looks() -> None:
    judge = with_telemetry("fcr", 10.0)
    asked, contract = level(1.0, seed=5), by_hour(END_S)
    exact = contract.target_w(asked, 0.0, END_S)
    unseen = exact.time_s % 10.0 == 5.0
    careless = Signal(exact.time_s, np.where(unseen, 0.0, exact.value), "W")
    periods = judge.periods(careless, contract, asked, 0.0, END_S)
    assert {period.score for period in periods} == {1.0}
