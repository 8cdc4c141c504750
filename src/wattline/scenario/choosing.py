"""Choosing the bid of a scenario: which method, planned on which hours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from wattline.grid.bidding import (
    Decision,
    Problem,
    capping_heuristic,
    closed_form_bid,
    descend,
    exhaustive_bid,
    range_heuristic,
)
from wattline.grid.bidding.descent import Settings
from wattline.grid.market import Bid
from wattline.grid.signals import Statistics, generate, statistics
from wattline.grid.workloads import poisson_jobs
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.scenario.regulated import Case, simulator

METHOD_OF = {
    "aqa": "descent",
    "qosg": "closed_form",
    "energyqare": "exhaustive",
    "tracking": "exhaustive",
    "qoscap": "exhaustive",
}
"""The bidding that was published with each policy."""


def problem_of(case: Case) -> Problem:
    """Workload, mean prices and the signal's statistics."""
    energy, reserve, error = case.prices.mean(case.judged_s, case.end_s)
    found = _statistics(case)
    return Problem(case.workload, energy, reserve, error, found.std, found.mean)


def _statistics(case: Case) -> Statistics:
    """Of the signal in the contract itself, without the warm-up."""
    inside = (case.signal.time_s >= case.judged_s) & (case.signal.time_s < case.end_s)
    if not np.any(inside):
        return statistics(case.signal)
    return statistics(Signal(case.signal.time_s[inside], case.signal.value[inside]))


def forecast_cases(case: Case, count: int, seed: int) -> list[Case]:
    """Hours that might come: other arrivals, other signals of the same statistics."""
    found = _statistics(case)
    made = []
    for number in range(count):
        rng = np.random.default_rng((seed, 7919, number))
        signal = generate(
            rng, case.duration_s, std=min(found.std, 0.95), mean=found.mean,
            correlation_s=found.correlation_s, step_s=max(found.step_s, case.cycle_s),
        )  # fmt: skip
        jobs = poisson_jobs(case.workload, case.duration_s, rng)
        made.append(replace(case, jobs=jobs, signal=signal, truth=None, choose_nodes=False))
    return made


def choose(
    case: Case,
    method: str = "auto",
    *,
    rounds: int = 200,
    forecast: int = 0,
    seed: int = 0,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Decision:
    """Choose a bid by a method; planned on the case's own hour, or on forecast ones."""
    if case.duration_s > 3600.0 + case.warmup_s + 1e-9 and method not in ("heuristic", "range"):
        case = replace(case, duration_s=3600.0 + case.warmup_s)
    case = replace(case, choose_nodes=False)
    problem = problem_of(case)
    planned = forecast_cases(case, forecast, seed) if forecast else [case]
    simulate = simulator(planned)
    name = METHOD_OF[case.policy] if method == "auto" else method
    if name == "descent":
        return descend(problem, simulate, settings=Settings(rounds=rounds), progress=progress)
    if name == "closed_form":
        return closed_form_bid(
            problem, simulate, reserve_scales=(1.0, 0.8, 0.6, 0.4, 0.2), step=0.02,
            progress=progress,
        )  # fmt: skip
    if name == "exhaustive":
        return exhaustive_bid(problem, simulate, progress=progress)
    if name in ("heuristic", "range"):
        return _heuristic(case, capping_heuristic if name == "heuristic" else range_heuristic)
    raise InputError(f"bidding '{name}' is unknown")


def _heuristic(case: Case, rule: Callable[..., Bid]) -> Decision:
    bid = rule(case.workload)
    if bid.reserve_w <= 0:
        return Decision(None, "do not participate: the heuristic leaves no reserve", nearest=bid)
    return Decision(bid, "from averages alone; nothing was simulated")
