"""The figures that judge a run ahead, held to the same worked out column by column."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.engine.looking_back import Fared, Span, look_back

NOW_S, UNTIL_S, BOUND_S = 1000.0, 5000.0, 10.0


def drawn(seed: int, count: int):
    """Jobs in all states: running, started since, over, waiting, refused."""
    random = np.random.default_rng(seed)
    start_s = random.uniform(0.0, UNTIL_S, count)
    end_s = start_s + random.choice([0.0, 1.0, 50.0, 3000.0], count)
    start_s[random.random(count) < 0.3] = np.nan
    end_s[np.isnan(start_s) | (end_s > UNTIL_S)] = np.nan
    refused = random.random(count) < 0.1
    start_s[refused] = end_s[refused] = np.nan
    submit_s = random.uniform(0.0, UNTIL_S, count)
    run_s = random.choice([1.0, 5.0, 600.0], count)
    units = random.integers(1, 9, count).astype(np.float64)
    waits = np.flatnonzero((random.random(count) < 0.7) & ~(start_s < NOW_S))
    return start_s, end_s, refused, waits, submit_s[waits], run_s, units


def by_columns(start_s, end_s, refused, waits, submit_s, run_s, units):
    taken = ~refused[waits]
    rows = waits[taken]
    used_s = np.maximum(
        np.where(np.isnan(end_s), UNTIL_S, end_s) - np.maximum(start_s, NOW_S), 0.0)
    used_s[np.isnan(start_s)] = 0.0
    idle = np.isnan(start_s[rows])
    wait_s = np.where(idle, UNTIL_S, start_s[rows]) - submit_s[taken]
    held_s = np.maximum(np.where(np.isnan(end_s[rows]), run_s[rows],
                                 end_s[rows] - start_s[rows]), BOUND_S)
    slowdown = np.maximum((wait_s + held_s) / held_s, 1.0)
    return wait_s, slowdown, units * used_s, int(idle.sum())


@pytest.mark.parametrize("count", [0, 1, 2, 300])
@pytest.mark.parametrize("seed", range(5))
def test_one_pass_says_what_columns_say_to_the_last_digit(seed, count):
    jobs = drawn(seed, count)
    fared = Fared(np.full(len(jobs[3]), -1.0), np.full(len(jobs[3]), -1.0), np.full(count, -1.0))
    taken, waiting = look_back(*jobs, Span(NOW_S, UNTIL_S, BOUND_S), fared)
    wait_s, slowdown, unit_s, idle = by_columns(*jobs)
    assert (taken, waiting) == (len(wait_s), idle)
    np.testing.assert_array_equal(fared.wait_s[:taken], wait_s)
    np.testing.assert_array_equal(fared.slowdown[:taken], slowdown)
    np.testing.assert_array_equal(fared.unit_s, unit_s)
    assert (fared.wait_s[taken:] == -1.0).all()  # nothing is written behind them
