"""Jobs are judged by their true type, and those of the warm-up are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wattline.demand_response.building import case_of
from wattline.demand_response.judging import judge_types
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid

TYPES = [{"name": name, "nodes": 1, "time_s_min": time_s, "time_s_max": 1.5 * time_s,
          "power_w_max": 250, "power_w_min": 200, "threshold": 5}
         for name, time_s in (("short", 40), ("long", 90))]
SHORT = {"types": TYPES, "servers": 10, "power_w_idle": 100, "duration": "5m", "warmup": "3m",
         "check": 0, "cycle_s": 5, "utilisation": 0.9, "preempt": True, "standby": True}


@pytest.mark.parametrize("more", [{}, {"mislabelled": 0.4}, {"warmup": "0s"}])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_job_of_the_contract_is_judged_once_by_its_true_type(
    more: dict[str, object], seed: int
) -> None:
    case = case_of(read_contract(None, SHORT | {"seed": seed} | more))
    run = run_contract(case, Bid(1700.0, 300.0))
    kinds = case.jobs.application if case.truth is None else case.truth
    for number, (quality, delays_s) in enumerate(zip(run.quality, run.delays_s, strict=True)):
        mine = (kinds == number) & (case.jobs.submit_s >= case.judged_s)
        assert quality.jobs == delays_s.size == np.count_nonzero(mine) > 0
        done = mine & ~np.isnan(run.run.schedule.end_s)
        sojourn_s = (run.run.schedule.end_s - case.jobs.submit_s)[done]
        seen = np.maximum(0.0, sojourn_s - case.jobs.run_s[done])
        assert np.all(np.isin(seen, delays_s))
        assert quality.mean == pytest.approx(run.degradations[number].mean(), abs=1e-9)


def test_a_job_that_ends_before_its_shortest_time_has_no_delay_and_makes_up_for_none() -> None:
    """All jobs are said to have ended after half of it, at once after their submission."""
    case = case_of(read_contract(None, SHORT | {"seed": 1}))
    run = run_contract(case, Bid(1700.0, 300.0)).run
    early_s = case.jobs.submit_s + 0.5 * case.jobs.run_s
    quality, delays_s, worse = judge_types(case, replace(
        run, schedule=replace(run.schedule, end_s=early_s)))
    assert [each.mean for each in quality] == pytest.approx([-0.5, -0.5])
    assert all(each.size and not each.any() for each in (*delays_s, *worse))


def test_a_case_with_another_truth_is_judged_by_that() -> None:
    case = case_of(read_contract(None, SHORT | {"seed": 1}))
    found = run_contract(case, Bid(1700.0, 300.0))
    before = [each.jobs for each in found.quality]
    turned = replace(case, truth=1 - np.minimum(np.array(case.jobs.application), 1))
    quality, _, _ = judge_types(turned, found.run)
    standby = np.count_nonzero((case.jobs.application == 2)
                               & (case.jobs.submit_s >= case.judged_s))
    assert [each.jobs for each in quality] == [before[1] + standby, before[0]]


def test_what_is_shown_of_a_run_is_found_when_it_is_asked_for() -> None:
    case = case_of(read_contract(None, SHORT | {"seed": 1}))
    run = run_contract(case, Bid(1700.0, 300.0))
    level = case.signal.sample(run.target_w.time_s)
    late = run.target_w.time_s >= case.judged_s
    assert run.target_w.value[late] == pytest.approx(1700.0 + 300.0 * level[late])
    assert run.waiting.time_s[1] - run.waiting.time_s[0] == case.cycle_s
    assert 0 < run.standby_share < 1
