"""A hard limit is not a target: no policy adds to the power above it, for whatever reason."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.thinned import crossed

from wattline.demand_response.case import Case
from wattline.demand_response.run import run_contract
from wattline.grid.market import Bid
from wattline.grid.signals import generate
from wattline.grid.workloads import JobType, Workload, poisson_jobs
from wattline.model.run import EventKind
from wattline.model.signal import Signal
from wattline.policies.registry import built_in

SERVERS, IDLE_W, END_S = 20, 100.0, 300.0


def kind(name, servers, time_s, low_w, threshold):
    return JobType(name=name, servers=servers, time_s_min=time_s, time_s_max=1.5 * time_s,
                   power_w_max=250.0, power_w_min=low_w, threshold=threshold)


# Some that caps can hardly move, and thresholds that a waiting job soon comes near to.
TYPES = (kind("stiff", 1, 30, 245.0, 1.0), kind("wide", 4, 60, 180.0, 0.5),
         kind("lithe", 2, 20, 130.0, 2.0))


def contract(policy, seed, standby, preempt, bid):
    rng = np.random.default_rng(seed)
    load = Workload("own", TYPES, SERVERS, IDLE_W, 1.0)
    if standby:
        load = load.with_standby()
    limit = Signal.from_steps([(0, 4000.0), (100, 3000.0), (200, 2700.0)], "W")
    case = Case(load, poisson_jobs(load, END_S, rng), generate(rng, END_S, correlation_s=40.0),
                policy=policy, duration_s=END_S, cycle_s=4.0, limit_w=limit,
                preempt=preempt)
    return run_contract(case, bid)


def least_w(found):
    """After each event: idle servers, and the running jobs at their lowest caps."""
    log, kinds = found.run.events, found.case.types
    rise_w = np.array([t.servers * (t.power_w_min - IDLE_W) for t in kinds])
    of_job = rise_w[found.case.jobs.application[np.maximum(log.job, 0)]]
    takes = np.isin(log.kind, (EventKind.START, EventKind.RESUME)).astype(float)
    gives = np.isin(log.kind, (EventKind.END, EventKind.PAUSE))
    return SERVERS * IDLE_W + np.cumsum((takes - gives) * of_job)


def judged(found):
    log = found.run.events
    inside = (np.diff(log.time_s, append=np.inf) > 0) & (log.time_s < END_S)
    limit_w = found.case.limit_w.sample(log.time_s)
    over_w = log.power_w - np.maximum(limit_w, least_w(found))
    begun = np.unique(log.time_s[np.isin(log.kind, (EventKind.START, EventKind.RESUME))])
    above = log.power_w - limit_w > 1e-6
    started_above = np.isin(log.time_s, begun) & above & inside
    return [float(over_w[inside].max()), int(started_above.sum()), int(begun.size),
            float((limit_w - log.power_w)[inside].min())]


BID = Bid(3200.0, 700.0)


@pytest.mark.parametrize(("policy", "case", "bid"), crossed(
    list(built_in()["regulation"]),
    [(1, False, False), (2, True, False), (3, False, True), (4, True, True)], [BID, None],
    later=pytest.mark.long, together=2))
def test_no_policy_adds_to_the_power_above_a_hard_limit(
    policy: str, case: tuple[int, bool, bool], bid: Bid | None
) -> None:
    """With and without a signal to follow, standby jobs and pauses, on several seeds."""
    over_w, started_above, begun, left_w = judged(contract(policy, *case, bid))
    assert over_w <= 1e-6
    assert started_above == 0
    assert begun > 5
    assert left_w < 700  # the limit is felt: it comes near, or holds


def test_an_urgent_job_waits_for_a_limit_and_not_for_a_target() -> None:
    """Forty jobs of 150 W above idle wait at a machine of 2,000 W idle, all urgent at once."""
    result = []
    for limit_w in (np.inf, 2900.0):
        load = Workload("own", (kind("stiff", 1, 60, 245.0, 0.1),), SERVERS, IDLE_W, 0.9)
        jobs = poisson_jobs(load, END_S, np.random.default_rng(1)).take(np.arange(40))
        jobs = jobs.with_columns(submit_s=np.zeros(40))
        case = Case(load, jobs, Signal.constant(-1.0), policy="qoscap", duration_s=END_S,
                    limit_w=Signal.constant(limit_w, "W"))
        result.append(run_contract(case, Bid(3000.0, 400.0)).run.events.power_w.max())
    free_w, limited_w = result
    assert free_w == 20 * 250
    assert 2750 < limited_w <= 2900


@pytest.mark.parametrize("policy", built_in()["regulation"])
def test_a_limit_without_a_bid_asks_no_standby_job_to_draw_power(policy: str) -> None:
    """A limit far above what is drawn changes nothing; the target of a bid is filled."""
    load = Workload("own", TYPES, SERVERS, IDLE_W, 0.3).with_standby()
    jobs = poisson_jobs(load, END_S, np.random.default_rng(1))
    result = []
    for limit_w, bid in ((None, None), (4900.0, None), (4900.0, Bid(4000.0, 400.0))):
        limit = limit_w and Signal.constant(limit_w, "W")
        case = Case(load, jobs, Signal.constant(0.0), policy=policy, duration_s=END_S,
                    cycle_s=4.0, limit_w=limit)
        result.append(run_contract(case, bid).actual_w.integral(0.0, END_S) / END_S)
    alone_w, limited_w, with_bid_w = result
    assert limited_w == pytest.approx(alone_w)
    assert with_bid_w > limited_w + 200
