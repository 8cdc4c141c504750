"""The fourth part of the evaluation: days of a real log with long jobs, three ways of bidding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from wattline.demand_response.case import Case
from wattline.demand_response.choosing import choose, problem_of
from wattline.demand_response.logs import THRESHOLD, log_case
from wattline.demand_response.pooling import simulator
from wattline.demand_response.run import run_contract
from wattline.grid.bidding import exhaustive_bid
from wattline.grid.market import Bid
from wattline.grid.signals import generate, load_signal
from wattline.grid.workloads import poisson_jobs
from wattline.model.signal import Signal
from wattline.model.worker_pool import worker_pool
from wattline.traces.reader import read

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
WARMUP_DAYS = 2
SEARCHED_S = 6 * HOUR_S
"""Of the synthetic day, what a bid of the exhaustive search is judged on."""
SEARCH_CYCLE_S = 10.0
"""Control cycle and step of the signal there: many bids are tried, and jobs take hours."""
POLICIES = ("energyqare", "qoscap")
BIDDING = ("heuristic", "exhaustive", "adaptive")


@dataclass(frozen=True)
class LongResult:
    """A row of the long-job study."""

    day: float
    """The judged day, counted from the log's first job."""
    utilisation: float
    policy: str
    bidding: str
    exceed_share: float
    degradation: float
    """The largest mean degradation among the types."""
    cost: float
    saving: float
    met: bool
    degradation_alone: float
    """The same without any contract, under the policy's own order of starts."""

    @property
    def verdict(self) -> str:
        """A day that breaks the constraint by itself is not held against the contract."""
        if self.met:
            return "met"
        if self.degradation_alone >= THRESHOLD:
            return "broken without a contract"
        return "not met"


def long_jobs(
    path: Path,
    starts_s: Sequence[float],
    *,
    seed: int,
    signal_file: str,
    workers: int,
    progress: Callable[[float], None],
) -> list[LongResult]:
    """Days of a real log, each after two days of warm-up, under two policies and three biddings."""
    for start_s in starts_s:  # what is wrong with the log is said before any work
        day_case(path, start_s, seed, signal_file)
    plan = [(s, p, b) for s in starts_s for p in POLICIES for b in BIDDING]
    if workers <= 1:
        results = []
        for step in plan:
            results.append(_one(path, seed, signal_file, *step))
            progress(len(results) / len(plan))
        return results
    found: dict[int, LongResult] = {}
    with worker_pool(workers) as pool:
        # Searches first, as they take longest.
        ranked = sorted(enumerate(plan), key=lambda pair: pair[1][2] != "exhaustive")
        waiting = {pool.submit(_one, path, seed, signal_file, *step): n for n, step in ranked}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            progress(len(found) / len(plan))
    return [found[number] for number in range(len(plan))]


def _one(
    path: Path, seed: int, signal_file: str, start_s: float, policy: str, bidding: str
) -> LongResult:
    case = day_case(path, start_s, seed, signal_file)
    mine = replace(case, policy=policy, adaptive=bidding == "adaptive")
    return _judge(mine, bidding, start_s / DAY_S + WARMUP_DAYS)


@lru_cache(maxsize=4)
def day_case(path: Path, start_s: float, seed: int, signal_file: str) -> Case:
    """Three days of the log, of which the last is judged."""
    warmup_s = WARMUP_DAYS * DAY_S
    duration_s = warmup_s + DAY_S
    log = log_case(read(path), str(path), servers=None, start_s=start_s, duration_s=duration_s,
                   power_w_idle=None, seed=seed)
    if signal_file:
        signal = _repeated(load_signal(signal_file), duration_s)
    else:
        signal = generate(np.random.default_rng((seed, 31)), duration_s)
    return Case(
        log.workload, log.jobs, signal, duration_s=duration_s, warmup_s=warmup_s,
        own_times=True, mean_quality=True, cycle_s=2.0,
    )


def _repeated(signal: Signal, duration_s: float) -> Signal:
    """The signal again and again until it is long enough."""
    step_s = float(np.median(np.diff(signal.time_s)))
    span_s = float(signal.time_s[-1] - signal.time_s[0]) + step_s
    copies = int(np.ceil(duration_s / span_s))
    time_s = np.concatenate([signal.time_s - signal.time_s[0] + k * span_s for k in range(copies)])
    return Signal(time_s, np.tile(signal.value, copies))


def _judge(case: Case, bidding: str, day: float) -> LongResult:
    bid: Bid | None = None
    if bidding == "heuristic":
        bid = choose(case, "heuristic").bid
    elif bidding == "exhaustive":
        bid = _searched(case)
    found = run_contract(case, bid)
    bill = found.settlement
    return LongResult(
        day, case.workload.utilisation, case.policy, bidding, bill.tracking.exceed_share,
        max(q.mean for q in found.quality), bill.cost, bill.saving, found.constraints_met,
        _alone(case),
    )


def _alone(case: Case) -> float:
    """The largest mean degradation among the types where nothing is offered."""
    alone = run_contract(replace(case, adaptive=False), None)
    return max(q.mean for q in alone.quality)


def _searched(case: Case) -> Bid | None:
    """Exhaustive search on a synthetic day with the log's arrival rates, as published.

    A day before it: jobs of many hours fill the machine slowly, and a search on one that still
    fills would bid too low.
    """
    rng = np.random.default_rng(97)
    day_s = DAY_S + SEARCHED_S
    signal = generate(rng, day_s, step_s=SEARCH_CYCLE_S)
    synthetic = replace(
        case, jobs=poisson_jobs(case.workload, day_s, rng), signal=signal, duration_s=day_s,
        warmup_s=DAY_S, adaptive=False, own_times=False, cycle_s=SEARCH_CYCLE_S,
    )
    decision = exhaustive_bid(
        problem_of(synthetic), simulator(synthetic), averages=6, reserves=5, whole=False
    )
    return decision.bid or decision.nearest
