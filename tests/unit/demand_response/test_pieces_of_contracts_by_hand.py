"""Small pieces of what becomes of a contract, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.demand_response import curtailing, pooling
from wattline.demand_response.bid_figures import _hour_entry
from wattline.demand_response.building import case_of
from wattline.demand_response.curtailing import event_of
from wattline.demand_response.fluid import _stream, modes_of
from wattline.demand_response.judging import _left_s
from wattline.demand_response.reading import read_contract
from wattline.grid.dayahead import Hour
from wattline.grid.workloads import JobType
from wattline.model.errors import InputError
from wattline.model.signal import Signal

TYPE = JobType(name="one", servers=2, time_s_min=10.0, time_s_max=20.0, power_w_max=400.0,
               power_w_min=100.0, threshold=1.0)


def test_what_is_left_of_a_job_is_read_off_the_energy_that_it_used() -> None:
    """Jobs of 100 s at 200 W take 20,000 J. One that took more is done, and no more than that."""
    case = SimpleNamespace(jobs=SimpleNamespace(run_s=np.full(4, 100.0), power_w=np.full(4, 200.0)))
    run = SimpleNamespace(schedule=SimpleNamespace(
        energy_j=np.array([0.0, 5000.0, 20_000.0, 30_000.0])))
    assert _left_s(case, run).tolist() == [100.0, 75.0, 0.0, 0.0]


@pytest.mark.parametrize(("start_s", "kept"), [(60.0, True), (61.0, False)])
def test_a_curtailment_may_end_with_the_contract(start_s: float, kept: bool) -> None:
    """A contract of 120 s after 100 s of warm-up; the curtailment lasts 60 s."""
    contract = SimpleNamespace(duration=120.0, warmup_s=100.0, curtailment=SimpleNamespace(
        start=start_s, share=0.1, duration=60.0, notice=0.0))
    if kept:
        assert (event_of(contract).start_s, event_of(contract).end_s) == (160.0, 220.0)
        return
    with pytest.raises(InputError, match="ends 121 s after the contract's start"):
        event_of(contract)


@pytest.mark.parametrize(("missed", "tried"), [((), 10), ((3,), 10), ((3, 6), 7), ((0, 1), 2)])
def test_a_bid_is_given_up_once_more_hours_fail_than_may(
    monkeypatch: pytest.MonkeyPatch, missed: tuple[int, ...], tried: int
) -> None:
    """Of ten hours nine have to hold. A first bid has held on all of them."""
    seen: list[int] = []

    def run_contract(case: int, bid: tuple[int, ...]) -> SimpleNamespace:
        seen.append(case)
        return SimpleNamespace(constraints_met=case not in bid)

    monkeypatch.setattr(pooling, "run_contract", run_contract)
    monkeypatch.setattr(pooling, "pool", lambda runs, hold: SimpleNamespace(met=len(runs) == 10))
    outcome = pooling.simulator(list(range(10)), 0.9)
    outcome(())
    seen.clear()
    outcome(missed)
    assert len(seen) == tried


def test_without_a_usual_cap_none_holds_outside_of_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event lowers the cap to 1,500 W until 50 s; after it stands what the machine can draw."""
    case = case_of(read_contract(None, {
        "types": [{"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90,
                   "power_w_max": 250, "power_w_min": 200, "threshold": 5}],
        "servers": 10, "power_w_idle": 100, "duration": "5m", "warmup": "0s", "check": 0}))
    usual_w = case.workload.range.power_w_max
    steps = Signal.from_steps([(0.0, 1500.0), (50.0, usual_w)], "W")
    monkeypatch.setattr(curtailing, "read_events", lambda *asked: [])
    monkeypatch.setattr(curtailing, "replay", lambda *asked, warmup_s: SimpleNamespace(
        cap_w=steps, price=None))
    for given_w, left_w in ((None, float("inf")), (usual_w, usual_w)):
        contract = SimpleNamespace(
            events="file", events_begin="2026-07-01T12:00:00Z", events_cap=given_w, programme=None,
            prices=SimpleNamespace(currency=""))
        found = curtailing._with_events(contract, case).limit_w
        assert found is not None
        assert found.value.tolist() == [1500.0, left_w]


def test_hours_of_a_plan_count_from_the_start_of_the_contract() -> None:
    assert _hour_entry(Hour(5400.0, None, 1.0, 1.0), 1800.0)["start_s"] == 3600.0


def test_the_third_corner_of_a_type_is_where_the_tangents_at_both_ends_meet() -> None:
    """Half as fast at 100 W as at 400 W: with x the part of the range that is given up the speed is
    1 / (1 + x). The tangents 1 - x and 0.75 - 0.25 x meet at a third of the range."""
    corners = [(mode.power_w, mode.speed) for mode in modes_of(TYPE)]
    assert corners == [(400.0, 1.0), (100.0, 0.5), (pytest.approx(300.0), pytest.approx(2 / 3))]


@pytest.mark.parametrize(("jobs", "late"), [(9, 0), (10, 1), (15, 1), (19, 1), (20, 2)])
def test_the_bound_leaves_out_as_many_jobs_as_may_be_late_and_no_more(jobs: int, late: int) -> None:
    """A tenth, rounded down. The others of 10 s on two servers are all due long before the end."""
    case = SimpleNamespace(jobs=SimpleNamespace(submit_s=np.arange(float(jobs))), end_s=1000.0,
                           judged_s=0.0, preempt=False)
    found = _stream(case, TYPE, np.ones(jobs, bool), np.array([0.0, 1000.0]))
    assert found.least.tolist() == [2 * 10.0 * (jobs - late)]
    assert found.most.tolist() == [2 * 10.0 * jobs]
