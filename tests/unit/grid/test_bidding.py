"""The mathematics of bidding: rates against their definition, gradients against differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from wattline.grid.bidding import (
    BidOutcome,
    Problem,
    adaptive_bid,
    capping_heuristic,
    closed_form_bid,
    descend,
    exhaustive_bid,
    range_heuristic,
    theory,
)
from wattline.grid.bidding.closed_form import bound_rule, largest_reserve, settled_weights
from wattline.grid.bidding.descent import DescentSettings, soft_cost
from wattline.grid.bidding.empirical import empirical_rule
from wattline.grid.bidding.polish import project_power, project_weights
from wattline.grid.market import Bid, Range, TrackingError
from wattline.grid.moments import Empirical, Normal, Poisson, delay_rate, least_weight
from wattline.grid.qos import judge
from wattline.grid.workloads import workload

W4 = Problem(workload("W4"))


def bid_of(problem: Problem, seed: int = 0, reserve: float = 0.4) -> Bid:
    rng = np.random.default_rng(seed)
    types = len(problem.workload.types)
    weights = rng.dirichlet(np.full(types, 8.0))
    average_w = 1.15 * problem.workload.power_w_mean
    return Bid(average_w, reserve * (average_w - problem.workload.range.power_w_min)).with_weights(
        weights
    )


@pytest.mark.parametrize("std", [0.0, 2.0, 9.0, 40.0])
@pytest.mark.parametrize("weight", [0.13, 0.3, 0.9])
def test_decay_rate_is_the_supremum_it_is_defined_by(std: float, weight: float) -> None:
    arrival, work, mean = 0.02, 60.0, 17.0
    found = theory.decay_rate(arrival, work, mean, std, weight).value
    numeric = delay_rate(Poisson(arrival, work), Normal(mean, std), weight)
    assert found == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize(
    ("arrival", "work", "mean", "std", "weight"),
    [
        (0.02, 60, 17, 4, 0.2),  # work and service balance first
        (0.02, 60, 17, 40, 0.9),  # the parabola peaks first
        (0.02, 60, 17, 4, 0.02),  # less service than work: the continued rate
        (0.02, 60, 17, 0, 0.2),
    ],
)
def test_rate_derivatives_equal_differences(
    arrival: float, work: float, mean: float, std: float, weight: float
) -> None:
    rate = theory.decay_rate(arrival, work, mean, std, weight)

    def value(dm: float = 0, ds: float = 0, dw: float = 0) -> float:
        return theory.decay_rate(arrival, work, mean + dm, std + ds, weight + dw).value

    h = 1e-5
    assert rate.by_mean == pytest.approx((value(dm=h) - value(dm=-h)) / (2 * h), rel=1e-5, abs=1e-9)
    if std > 0:
        slope = (value(ds=h) - value(ds=-h)) / (2 * h)
        assert rate.by_std == pytest.approx(slope, rel=1e-5, abs=1e-9)
    h = 1e-7
    slope = (value(dw=h) - value(dw=-h)) / (2 * h)
    assert rate.by_weight == pytest.approx(slope, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("name", ["W1", "W4", "W6", "W13"])
@pytest.mark.parametrize("reserve", [0.2, 0.7, 0.98])
@pytest.mark.parametrize("signal_mean", [0.0, -0.1])
def test_gradient_of_the_soft_cost_equals_differences(
    name: str, reserve: float, signal_mean: float
) -> None:
    problem = Problem(workload(name), signal_std=0.6, signal_mean=signal_mean)
    bid = bid_of(problem, seed=3, reserve=reserve)
    rates = theory.rates_at(problem, bid)
    # Probabilities near the limit, where the penalty bends most.
    log_alpha = math.log(0.1) + 0.9 * problem.delay_s_max * np.array([r.value for r in rates])
    point = soft_cost(problem, bid, rates, log_alpha, 1.0, 20.0)

    def cost(other: Bid) -> float:
        there = theory.rates_at(problem, other)
        return soft_cost(problem, other, there, log_alpha, 1.0, 20.0).cost

    for field, found in (("average_w", point.by_average), ("reserve_w", point.by_reserve)):
        h = 1e-2
        up = replace(bid, **{field: getattr(bid, field) + h})
        down = replace(bid, **{field: getattr(bid, field) - h})
        assert found == pytest.approx((cost(up) - cost(down)) / (2 * h), rel=1e-4, abs=1e-9)
    assert len(point.by_weights) == len(problem.workload.types)
    for j, found in enumerate(point.by_weights):
        h = 1e-6
        moved = np.array(bid.weights)
        moved[j] += h
        up = bid.with_weights(moved)
        moved[j] -= 2 * h
        slope = (cost(up) - cost(bid.with_weights(moved))) / (2 * h)
        assert found == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_minimal_weights_just_reach_the_needed_rates() -> None:
    at = theory.Service(40.0, 6.0, 170.0)
    rates = np.full(8, 0.004)
    weights = theory.minimal_weights(W4, at, rates)
    load = W4.workload
    work = load.column("servers") * load.column("time_s_min")
    assert len(weights) == 8
    for j, weight in enumerate(weights):
        rate = theory.decay_rate(load.arrivals_per_s[j], work[j], at.mean, at.std, weight)
        assert rate.value == pytest.approx(rates[j], rel=1e-6)


def test_empirical_distributions_agree_with_the_closed_form_where_that_holds() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.02, 2_000_000).astype(np.float64)
    service = Empirical.of(rng.normal(17, 3, 200_000))
    exact = least_weight(Poisson(0.02, 60.0), Normal(17, 3), 0.005)
    found = least_weight(Empirical.of(counts * 60.0), service, 0.005)
    assert found == pytest.approx(exact, rel=0.02)


def test_bursts_need_more_weight_than_poisson_arrivals() -> None:
    burst = np.zeros(10_000)
    burst[::500] = 10 * 60.0  # ten jobs at once, the same mean as 0.02 a second
    service = Normal(17, 3)
    assert Empirical.of(burst).mean == pytest.approx(0.02 * 60)
    assert least_weight(Empirical.of(burst), service, 0.005) > 1.1 * least_weight(
        Poisson(0.02, 60.0), service, 0.005
    )


def test_empirical_rule_needs_one_distribution_a_type() -> None:
    from wattline.model.errors import InputError

    with pytest.raises(InputError, match="1 arrival distributions for 8"):
        empirical_rule(W4, (Poisson(1, 1),), Empirical.of(np.zeros(3)), np.zeros(8))


def test_empirical_rule_matches_bound_rule_for_the_same_distributions() -> None:
    rng = np.random.default_rng(1)
    load = W4.workload
    work = load.column("servers") * load.column("time_s_min")
    arriving = tuple(
        Poisson(float(a), float(b)) for a, b in zip(load.arrivals_per_s, work, strict=True)
    )
    level = Empirical.of(rng.normal(0, 0.4, 100_000))
    log_alpha = np.zeros(8)
    average_w, reserve_w = 1.2 * load.power_w_mean, 1500.0
    uniform = np.full(8, 1 / 8)
    one = bound_rule(W4, log_alpha)(average_w, reserve_w, uniform)
    two = empirical_rule(W4, arriving, level, log_alpha)(average_w, reserve_w, uniform)
    assert two == pytest.approx(one, rel=1e-3)


@pytest.mark.parametrize(("average", "std", "filled"), [(1.25, 0.4, False), (1.095, 1.6, True)])
def test_largest_reserve_fills_the_weights_to_one(
    average: float, std: float, filled: bool
) -> None:
    """Or it is the largest of the machine, where the weights leave room even then."""
    problem = replace(W4, signal_std=std)
    rule = bound_rule(problem, np.zeros(8))
    average_w = average * W4.workload.power_w_mean
    found = largest_reserve(problem, rule, average_w)
    assert found is not None
    reserve_w, weights = found
    assert weights.sum() == pytest.approx(1.0)
    total = settled_weights(rule, average_w, reserve_w, 8)[1]
    assert total <= 1
    most_w = W4.workload.range.largest_reserve_w(average_w)
    if filled:
        assert reserve_w < 0.9 * most_w
        assert settled_weights(rule, average_w, 1.01 * reserve_w, 8)[1] > 1
    else:
        assert reserve_w == pytest.approx(most_w)
    assert largest_reserve(problem, rule, 1.02 * W4.workload.range.power_w_min) is None


def test_heuristics_stay_inside_the_machine() -> None:
    for name in ("W1", "W6", "W12", "W13", "MOC"):
        load = workload(name)
        load.range.check(range_heuristic(load))
        load.range.check(capping_heuristic(load))


def test_weights_are_projected_to_the_simplex() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        projected = project_weights(rng.normal(0.2, 0.5, 6), 0.01)
        assert projected.sum() == pytest.approx(1.0)
        assert projected.min() >= 0.01 - 1e-12
    inside = np.array([0.2, 0.3, 0.5])
    assert project_weights(inside, 0.01) == pytest.approx(inside)


def test_powers_are_projected_into_the_machine() -> None:
    reach = Range(100, 300)
    rng = np.random.default_rng(3)
    for _ in range(50):
        average_w, reserve_w = project_power(reach, *rng.uniform(-400, 800, 2))
        reach.check(Bid(average_w, reserve_w))


def smooth_simulation(problem: Problem, tracking_limit_w: float) -> object:
    """A stand-in for the cluster with a known answer: delays fall with P - R/2 and the weight."""
    load = problem.workload

    def simulate(bid: Bid) -> BidOutcome:
        delays, quality = [], []
        for j, job_type in enumerate(load.types):
            slack = (bid.average_w - 0.5 * bid.reserve_w - load.range.power_w_min) / 1000
            weight = bid.weights[j] if bid.weights else 1 / len(load.types)
            scale = job_type.time_s_min / max(1e-3, slack * weight * len(load.types))
            delays.append(scale * np.linspace(0.0, 6.0, 40))
            quality.append(
                judge(job_type.name, np.zeros(40), delays[-1] + job_type.time_s_min,
                      time_s_min=job_type.time_s_min, threshold=job_type.threshold, now_s=1e9)
            )
        share = 0.0 if bid.reserve_w < tracking_limit_w else 0.5
        cost = 1e-4 * (bid.average_w - bid.reserve_w)
        return BidOutcome(cost, 1 - cost / (1e-4 * bid.average_w), TrackingError(0.05, share),
                       tuple(quality), tuple(delays))

    return simulate


def test_descent_finds_a_cheaper_bid_that_meets_all_constraints() -> None:
    simulate = smooth_simulation(W4, 3000.0)
    decision = descend(W4, simulate, settings=DescentSettings(rounds=120))
    assert decision.bid is not None
    assert decision.outcome is not None
    first = decision.trials[0]
    assert decision.outcome.met
    assert decision.outcome.cost < first.cost
    tightest = min(range(8), key=lambda j: W4.workload.types[j].threshold)
    assert decision.bid.weights[tightest] > 1 / 8  # the strictest type got more than its share
    assert "stops there" in decision.reason


def test_closed_form_and_exhaustive_agree_with_the_simulation_on_feasibility() -> None:
    simulate = smooth_simulation(W4, 2500.0)
    busy = replace(W4, power_w_alone=10_000.0)  # so that staying out is dear enough
    for decide in (closed_form_bid, exhaustive_bid):
        decision = decide(busy, simulate)
        assert decision.bid is not None, decision.reason
        assert simulate(decision.bid).met


def test_bidders_stay_out_when_nothing_is_feasible() -> None:
    simulate = smooth_simulation(W4, 0.0)  # tracking always fails
    for decide in (closed_form_bid, exhaustive_bid, descend):
        decision = decide(W4, simulate)
        assert decision.bid is None
        assert decision.reason.startswith("do not participate")
        assert "above the limit" in decision.reason
        assert decision.nearest is not None


def test_infeasible_quality_is_said_before_any_simulation_of_a_bid() -> None:
    hard = replace(W4.workload, types=tuple(replace(t, threshold=1e-4) for t in W4.workload.types))
    problem = Problem(hard)
    decision = closed_form_bid(problem, smooth_simulation(problem, 1e9), rule=bound_rule(
        problem, np.zeros(8)))
    assert decision.bid is None
    assert "least weights sum to" in decision.reason


def test_adaptive_bid_spans_what_the_present_jobs_can_move() -> None:
    reach = Range(31 * 10, 200 * 10)
    bid = adaptive_bid(
        reach, servers=10, power_w_idle=31.0,
        job_servers=np.array([4, 2, 8]), power_w_min=np.array([100.0, 110, 90]),
        power_w_max=np.array([200.0, 150, 180]), running=np.array([True, False, False]),
        late=np.array([False, True, False]),
    )
    assert bid is not None
    # 4 servers at 100..200 W, 2 servers of a late job at 150 W, 4 idle at 31 W; the third job
    # does not fit.
    assert bid.average_w + bid.reserve_w == pytest.approx(800 + 300 + 124)
    assert bid.average_w - bid.reserve_w == pytest.approx(400 + 300 + 124)


def test_adaptive_bid_stays_out_of_an_empty_machine() -> None:
    none = np.array([], dtype=np.int64)
    empty = np.array([], dtype=np.float64)
    yes = np.array([], dtype=np.bool_)
    bid = adaptive_bid(
        Range(310, 2000), servers=10, power_w_idle=31.0, job_servers=none,
        power_w_min=empty, power_w_max=empty, running=yes, late=yes,
    )
    assert bid is None
