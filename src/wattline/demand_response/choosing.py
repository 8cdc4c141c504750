"""Choosing the bid of a scenario: which method, planned on which hours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.demand_response.advising import advice
from wattline.demand_response.bidders import BIDDERS, Question, inside, method_of
from wattline.demand_response.case import Case, after_warmup
from wattline.demand_response.pooling import simulator
from wattline.demand_response.reference import uncontrolled_w
from wattline.grid.bidding import Decision, Problem
from wattline.grid.bidding.problem import Trial
from wattline.grid.dayahead import HOUR_S, Hour, plan_hours
from wattline.grid.market import Prices
from wattline.grid.signals import Statistics, generate, statistics
from wattline.grid.workloads import poisson_jobs
from wattline.model.errors import InputError
from wattline.model.signal import Signal

SHARING = ("aqa", "qosg")
"""Policies that share servers out: the power at which starts are planned belongs to their bids."""

LEAST_ROUNDS = 60
"""That a descent has at least for each set of prices, where so many are allowed at all."""

BIDS_A_ROUND, BIDS_LEAST = 3, 300
"""More bids than a search tries, by its rounds; so what is told within a bid never falls back."""

PLANNING, CHECKING = 7919, 6841
"""Streams of drawn hours: those that a bid is planned on, and those that it is checked on."""

def problem_of(case: Case) -> Problem:
    """Workload, mean prices and the signal's statistics."""
    energy, reserve, error = case.prices.mean(case.judged_s, case.end_s)
    found = _statistics(case)
    return Problem(
        case.workload, energy, reserve, error, found.std, found.mean,
        metered=case.credited, start_shares=case.policy in SHARING,
        power_w_alone=uncontrolled_w(case),
        hours=(case.end_s - case.judged_s) / HOUR_S,
    )


def _statistics(case: Case) -> Statistics:
    """Of the signal in the contract itself, without the warm-up."""
    return statistics(inside(case))


def forecast_cases(
    case: Case, count: int, seed: int, *, stream: int = PLANNING, signals: Sequence[Signal] = ()
) -> list[Case]:
    """Cases that might come, as long as this one: other arrivals, and other signals.

    These are taken in turn where there are some, and drawn with the same statistics otherwise.
    Cases of different streams are independent.
    """
    found = _statistics(case)
    made = []
    for number in range(count):
        rng = np.random.default_rng((seed, stream, number))
        signal = generate(
            rng, case.duration_s - case.warmup_s, std=min(found.std, 0.95), mean=found.mean,
            correlation_s=found.correlation_s, step_s=max(found.step_s, case.cycle_s),
        )
        if case.programme is not None:
            signal = case.programme.drawn(signal)
        if signals:
            signal = signals[number % len(signals)]
        if case.warmup_s > 0:
            signal = after_warmup(signal, case.warmup_s)
        jobs = poisson_jobs(case.workload, case.duration_s, rng)
        made.append(replace(case, jobs=jobs, signal=signal, truth=None, own_powers=False,
                            choose_nodes=False, noise_seed=(seed, stream, number)))
    return made


def first_block(case: Case) -> Case:
    """The case cut to the first block of its market, the length of what is drawn anew."""
    return replace(case, duration_s=case.block_s + case.warmup_s)


def planned_case(case: Case, forecast: int) -> Case:
    """Return the case that a bid is planned on: the whole contract, or blocks that might come."""
    return first_block(case) if forecast else case


def choose(
    case: Case,
    method: str = "auto",
    *,
    rounds: int = 200,
    forecast: int = 0,
    hold: float = 0.0,
    signals: Sequence[Signal] = (),
    seed: int = 0,
    whole: bool = True,
    verify: bool = False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Decision:
    """Choose a bid by a method; planned on the whole contract, or on forecast blocks of it.

    With `hold`, this share of the forecast blocks must meet all constraints, each by itself;
    without it, all of them together. `signals` are for the forecast. Unless the `whole` surface is
    wanted, bids that cannot be the best are left out. Heuristics simulate nothing: with `verify`
    their bid is, and refused where it does not meet all constraints.
    """
    name = method_of(case.policy, method)
    if name not in BIDDERS:
        raise InputError(f"bidding '{name}' is unknown; there are: {', '.join(BIDDERS)}")
    case = replace(planned_case(case, forecast), choose_nodes=False)
    planned = forecast_cases(case, forecast, seed, signals=signals) if forecast else [case]
    far = _HowFar(progress, 1.0 / max(BIDS_A_ROUND * rounds, BIDS_LEAST))
    problem = _planned_problem(case, planned)
    asked = Question(case, planned, problem, simulator(planned, hold, far.within_bid), rounds,
                     whole, verify, far.after_bid)
    found = BIDDERS[name].choose(asked)
    return replace(found, reason=found.reason + advice(planned, found, hold),
                   power_w_alone=problem.power_w_alone)


class _HowFar:
    """Tells how far a search is, also within a bid: on many hours the first one alone takes long.
    """

    def __init__(self, progress: Callable[[float], None], step: float) -> None:
        self._progress = progress
        self._step, self._done = step, 0.0

    def after_bid(self, fraction: float) -> None:
        self._done = fraction
        self._progress(fraction)

    def within_bid(self, part: float) -> None:
        self._progress(min(1.0, self._done + self._step * part))


def _planned_problem(case: Case, planned: Sequence[Case]) -> Problem:
    """The problem of these hours: their mean power without a contract, their signals together."""
    seen = [_statistics(c) for c in planned]
    mean = float(np.mean([s.mean for s in seen]))
    square = float(np.mean([s.std**2 + s.mean**2 for s in seen]))
    return replace(
        problem_of(case), power_w_alone=float(np.mean([uncontrolled_w(c) for c in planned])),
        signal_mean=mean, signal_std=max(0.0, square - mean**2) ** 0.5,
    )


def choose_day(
    case: Case,
    method: str = "auto",
    *,
    hours: int | None = None,
    rounds: int = 200,
    progress: Callable[[float], None] = lambda fraction: None,
    **planning: Any,
) -> Decision:
    """Choose as `choose` does, with the bids tried that other hours' prices ask for as well.

    Only a descent looks at prices: the other methods try the same bids whatever the prices. It
    runs anew for each set of prices, the rounds shared out. The decision is that of the first
    hour's prices, with all bids tried, at those prices; `plan_day` prices them for every hour.
    """
    sets = list(dict.fromkeys(_hourly_prices(case, hours)))
    if method_of(case.policy, method) != "descent":
        sets = sets[:1]
    each = max(rounds // len(sets), min(rounds, LEAST_ROUNDS))
    decisions: list[Decision] = []

    def tell(part: float) -> None:
        progress((len(decisions) + part) / len(sets))

    for prices in sets:
        mine = replace(case, prices=Prices.flat(*prices))
        decisions.append(
            choose(mine, method, rounds=each, progress=tell, **planning)
        )
    length = (planned_case(case, planning.get("forecast", 0)).end_s - case.judged_s) / HOUR_S
    first, *later = decisions
    others = tuple(replace(trial, cost=length * trial.hour_cost(*sets[0]))
                   for decision in later for trial in decision.trials)
    return replace(first, trials=first.trials + others,
                   reason=first.reason + _cheaper(first, others))


def _cheaper(first: Decision, others: Sequence[Trial]) -> str:
    """Say how many of the bids tried at other hours' prices cost less at the first hour's."""
    if first.bid is None or first.outcome is None:
        return ""
    cheaper = [trial for trial in others if trial.cost < first.outcome.cost]
    if not cheaper:
        return ""
    met = sum(trial.feasible for trial in cheaper)
    return (f"; of those tried at the prices of other hours {len(cheaper)} would cost less, of "
            f"which {met or 'none'} would meet all constraints")


def _hourly_prices(case: Case, hours: int | None) -> list[tuple[float, float, float]]:
    starts_s = case.judged_s + HOUR_S * np.arange(_hours(case, hours))
    return [case.prices.mean(float(s), float(s) + HOUR_S) for s in starts_s]


def _hours(case: Case, hours: int | None) -> int:
    return hours or math.ceil((case.end_s - case.judged_s) / HOUR_S - 1e-9)


def plan_day(
    case: Case, decision: Decision, *, hours_max: int | None = None, hours: int | None = None
) -> list[Hour]:
    """Which hours of the case to bid for, and with which of the bids that were tried."""
    return plan_hours(
        decision.trials, case.prices, case.workload, hours=_hours(case, hours),
        hours_max=hours_max, start_s=case.judged_s, power_w_alone=decision.power_w_alone,
        block_hours=max(1, round(case.block_s / HOUR_S)),
    )
