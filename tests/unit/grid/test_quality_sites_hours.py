"""Quality of service, several sites, day-ahead hours, curtailment."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from wattline.grid.bidding.problem import BidOutcome, Problem, Trial, best_of, trial_of
from wattline.grid.curtailment import Curtailment, cap_kept, compliance
from wattline.grid.dayahead import plan_hours
from wattline.grid.market import Bid, Contract, Prices, TrackingError, settle
from wattline.grid.qos import judge, mean_interval, projected_end_s, share_interval, upper_quantile
from wattline.grid.sites import Option, join, options_of, summed
from wattline.grid.workloads import JobType, Workload
from wattline.model.errors import InputError
from wattline.model.signal import Signal


def test_degradation_is_judged_against_the_threshold() -> None:
    submit = np.zeros(10)
    end = np.array([10.0] * 9 + [40.0])  # one of ten has Q = 3
    found = judge("t", submit, end, time_s_min=10.0, threshold=3.0, now_s=100)
    assert found.violation_share == pytest.approx(0.1)
    assert found.met
    assert found.quantile < 3.0
    worse = judge("t", submit, np.array([10.0] * 8 + [40.0] * 2), time_s_min=10.0, threshold=3.0,
                  now_s=100)
    assert not worse.met
    assert worse.quantile >= 3.0


def projected(submit: list[float], start: list[float], end: list[float], time_s: float = 10.0,
              left: list[float] | None = None) -> list[float]:
    left_s = np.array(left or [time_s] * len(submit))
    return projected_end_s(np.array(submit), np.array(start), np.array(end), left_s=left_s,
                           time_s_min=time_s, now_s=100.0).tolist()


def test_jobs_that_never_start_are_late_even_if_the_contract_is_shorter_than_the_delay() -> None:
    none = [np.nan] * 4
    # Shortest time and allowed delay are 900 s, the contract 100 s: nobody can be late in it.
    ends = projected([0.0, 25.0, 50.0, 75.0], none, none, time_s=90.0)
    assert ends == [290.0, 390.0, 490.0, 590.0]  # one start for the 100 s in which they waited
    found = judge("t", np.array([0.0, 25.0, 50.0, 75.0]), np.array(ends), time_s_min=90.0,
                  threshold=2.0, now_s=100)
    assert (found.jobs, found.unfinished, found.violation_share) == (4, 4, 1.0)
    assert not found.met


def test_a_job_that_has_just_come_is_not_late() -> None:
    assert projected([98.0], [np.nan], [np.nan]) == [112.0]
    # Four started at once before: only a fifth of the time in which jobs waited is one's turn.
    ends = projected([0.0, 20.0, 40.0, 60.0, 90.0], [0.0, 20.0, 40.0, 60.0, np.nan],
                     [10.0, 30.0, 50.0, 120.0, np.nan])
    assert ends == [10.0, 30.0, 50.0, 120.0, 112.0]


def test_waiting_side_by_side_is_counted_once_and_paused_jobs_go_on() -> None:
    ends = projected([0.0, 10.0, 50.0], [60.0, np.nan, np.nan], [70.0, np.nan, np.nan])
    assert ends == [70.0, 160.0, 210.0]  # jobs waited for 100 s, one started, one is granted
    assert projected([0.0], [np.nan], [np.nan], left=[4.0]) == [104.0]


def test_quantile_decides_like_the_share() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 5, 10, 37):
        values = rng.exponential(1, size)
        for threshold in (0.5, 1.0, 2.0):
            share = float((values >= threshold).mean())
            assert (upper_quantile(values, 0.1) < threshold) == (share <= 0.1)


def test_intervals() -> None:
    low, high = share_interval(0, 20)
    assert low == 0
    assert 0.1 < high < 0.2
    mean, low, high = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (mean, low, high) == pytest.approx((3.0, 3 - 1.9632, 3 + 1.9632), rel=2e-3)


def test_joint_bid_is_the_cheapest_of_all_combinations() -> None:
    rng = np.random.default_rng(4)
    sites = {
        name: [Option(1000, 0.0, 1.0), *(Option(1000, float(r), float(c)) for r, c in
               zip(rng.uniform(10, 200, 6), rng.uniform(0.4, 1.1, 6), strict=True))]
        for name in ("north", "south", "east")
    }
    for least in (0.0, 150.0, 400.0):
        every = [c for c in product(*sites.values()) if sum(o.reserve_w for o in c) >= least]
        joint = join(sites, least)
        if every:
            best = min(sum(o.cost for o in c) for c in every)
            assert joint.cost == pytest.approx(min(best, 3.0))
        assert set(joint.parts) == set(sites)


def test_sites_together_reach_a_least_reserve_that_none_reaches_alone() -> None:
    one = options_of([Trial(1000, 60.0, 0.05, True), Trial(1000, 99.0, 0.01, False)], 1000, 0.1)
    assert join({"a": one}, 100).reason.startswith("do not participate")
    joint = join({"a": one, "b": one}, 100)
    assert joint.reserve_w == pytest.approx(120)
    assert joint.parts["a"].reserve_w == 60
    with pytest.raises(InputError):
        join({})


def test_errors_of_sites_cancel_in_the_sum() -> None:
    actual_w = summed([Signal.constant(1050), Signal.constant(950)], 0, 60)
    bill = settle(actual_w, Contract.fixed(Bid(2000, 200)), Signal.constant(0), Prices.flat(),
                  start_s=0, end_s=60)
    assert bill.tracking.mean == pytest.approx(0)


KILOWATT = Workload("flat", (JobType("a", 1, 10.0, 300.0, 20.0, 200.0, 3.0),), 5, 100.0, 0.5)
"""Half of five servers at 300 W, the others idle: 1,000 W in the mean."""


def outcome(share: float = 0.0) -> BidOutcome:
    return BidOutcome(0.0, 0.0, TrackingError(0.1, share), ())


def test_hours_are_chosen_by_price() -> None:
    # Reserve is worth something only in the second hour.
    prices = Prices(Signal.constant(0.1), Signal.from_steps([(0, 0.0), (3600, 0.2), (7200, 0.0)]),
                    Signal.constant(0.1))
    bid = Bid(1100, 400)
    plan = plan_hours([trial_of(bid, outcome()), trial_of(Bid(1100, 500), outcome(0.5))], prices,
                      KILOWATT, hours=3)
    assert [h.bid for h in plan] == [None, bid, None]  # the bid that breaks a constraint is out
    assert plan[1].cost == pytest.approx(0.11 - 0.08 + 0.004)
    assert plan[0].cost == plan[0].cost_without


def test_hours_of_a_block_have_one_bid() -> None:
    """Reserve is dear in the second hour of the first block and in none of the second."""
    steps = [(0, 0.0), (3600, 0.4), (7200, 0.05), (10800, 0.06)]
    prices = Prices(Signal.constant(0.1), Signal.from_steps(steps), Signal.constant(0.1))
    bid = Bid(1100, 400)
    options = [trial_of(bid, outcome())]
    blocks = {n: plan_hours(options, prices, KILOWATT, hours=4, block_hours=n) for n in (1, 2, 3)}
    assert [h.bid for h in blocks[1]] == [None, bid, bid, bid]
    assert [h.bid for h in blocks[2]] == [bid, bid, bid, bid]
    assert [h.bid for h in blocks[3]] == [bid, bid, bid, bid]
    # Each hour is billed at its own prices.
    assert blocks[2][0].cost > blocks[2][0].cost_without
    assert blocks[2][1].cost == blocks[1][1].cost
    few = plan_hours(options, prices, KILOWATT, hours=4, block_hours=2, hours_max=3)
    assert [h.bid for h in few] == [bid, bid, None, None]


def test_energy_put_off_is_no_gain() -> None:
    # Where errors are free, an average below the usual power is billed less, reserve or not.
    free = Signal.constant(0.0)
    paid = Signal.from_steps([(0, 0.0), (3600, 0.1)])
    low = trial_of(Bid(800, 300), outcome())
    plan = plan_hours([low], Prices(Signal.constant(0.1), paid, free), KILOWATT, hours=2)
    assert [h.bid is not None for h in plan] == [False, True]
    problem = Problem(KILOWATT, reserve_price=0.0, error_price=0.0)
    decision = best_of(problem, [(low.bid, BidOutcome(0.08, 0.0, TrackingError(0, 0), ()))], "x")
    assert not decision.participates
    assert "puts energy off" in decision.reason


def test_staying_out_is_compared_with_the_uncontrolled_run() -> None:
    # A saving against the energy of its own large P, and still dearer than no contract.
    tried = [(Bid(2000, 500), BidOutcome(0.15, 0.25, TrackingError(0, 0), ()))]
    assert "0.05 more than staying out (0.1)" in best_of(Problem(KILOWATT), tried, "x").reason
    assert best_of(Problem(KILOWATT, power_w_alone=1600.0), tried, "x").participates
    assert not best_of(Problem(KILOWATT, power_w_alone=1600.0, hours=0.5), tried, "x").participates


def test_only_the_best_hours_are_kept() -> None:
    prices = Prices(Signal.constant(0.1), Signal.from_steps([(0, 0.1), (3600, 0.3), (7200, 0.2)]),
                    Signal.constant(0.1))
    plan = plan_hours([trial_of(Bid(1000, 400), outcome())], prices, KILOWATT, hours=3,
                      hours_max=1)
    assert [h.bid is not None for h in plan] == [False, True, False]


def test_curtailment_limit_comes_down_during_the_notice() -> None:
    event = Curtailment(start_s=3600)
    limit = event.limit_w(1000.0, 5000.0)
    assert limit.at(0) == 5000
    assert 750 < limit.at(3300) < 1000
    assert limit.at(3600) == limit.at(3600 + 3 * 3600 - 1) == 750
    assert limit.at(3600 + 3 * 3600) == 5000


def test_compliance_counts_what_is_above_the_limit() -> None:
    event = Curtailment(start_s=600)
    kept = compliance(Signal.constant(750), event, 1000)
    assert kept.met
    assert kept.exceed_energy_j == 0
    late = compliance(Signal.from_steps([(0, 1000.0), (600 + 1080, 700.0)]), event, 1000)
    assert late.exceed_share == pytest.approx(0.1)
    assert late.exceed_energy_j == pytest.approx(250 * 1080)
    assert not late.met
    assert compliance(Signal.from_steps([(0, 1000.0), (600 + 1080, 700.0)]), event, 1000, 0.8).met
    assert kept.violations(500.0) == []
    assert "above the limit of 750 W for 10.0% of the event, by up to 250 W" in (
        late.violations(500.0)[0]
    )
    assert "50 W below the idle machine" in late.violations(800.0)[0]


def test_a_limit_of_many_steps_is_judged_where_it_is_within_bounds() -> None:
    """For 10 s each 100, 130 and 90 W are drawn under 120 W, and then 300 W under 500 W."""
    drawn = Signal.from_steps([(0, 100.0), (10, 130.0), (20, 90.0), (30, 300.0)])
    limit = Signal.from_steps([(0, 120.0), (30, 500.0)])
    low = cap_kept(drawn, limit, 0.0, 40.0, below_w=500.0)
    assert (low.limited_s, low.limit_w_lowest, low.over_w_most) == (30.0, 120.0, 10.0)
    assert low.exceed_share == pytest.approx(1 / 3)
    assert not low.met
    usual = cap_kept(drawn, limit, 0.0, 40.0, from_w=500.0, below_w=501.0)
    assert (usual.limited_s, usual.over_w_most, usual.exceed_share) == (10.0, 0.0, 0.0)
    assert usual.met
    none = cap_kept(drawn, limit, 0.0, 40.0, below_w=120.0)
    assert (none.limited_s, none.limit_w_lowest, none.met) == (0.0, None, True)


@pytest.mark.parametrize("bad", [{"share": 1.5}, {"duration_s": 0}, {"notice_s": 1e6}])
def test_bad_events_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Curtailment(**{"start_s": 3600.0, **bad})
