"""The ways of choosing a bid, by name: each an object that answers one question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from wattline.demand_response.case import Case
from wattline.grid.bidding import (
    Decision,
    Problem,
    Simulate,
    capping_heuristic,
    closed_form_bid,
    descend,
    exhaustive_bid,
    range_heuristic,
)
from wattline.grid.bidding.closed_form import WeightRule
from wattline.grid.bidding.descent import DescentSettings
from wattline.grid.bidding.empirical import empirical_rule, fit_empirical_alpha
from wattline.grid.bidding.problem import best_of
from wattline.grid.market import Bid
from wattline.grid.moments import Empirical, arrivals, signal_levels
from wattline.model.progress import silent
from wattline.model.signal import Signal

WINDOW_S = 300.0
"""Over which observed work and signals are added up: longer than their memory."""
SCALES = (1.0, 0.8, 0.6, 0.4, 0.2)
"""Of the reserve that the closed form allows, what is tried."""


@dataclass(frozen=True, eq=False)
class Question:
    """What a bidder is asked: for which case, planned on which hours, with how much effort."""

    case: Case
    planned: Sequence[Case]
    problem: Problem
    simulate: Simulate
    rounds: int = 200
    whole: bool = True
    """Whether all bids are wanted, for the surface, or only the best."""
    verify: bool = False
    """Whether a bid that no simulation led to is simulated, and refused where it fails."""
    progress: Callable[[float], None] = silent


class Bidder(Protocol):
    """A way of choosing."""

    def choose(self, asked: Question) -> Decision: ...


class Descent:
    """AQA's: gradient descent on the bounds, then a search by simulation."""

    def choose(self, asked: Question) -> Decision:
        problem, settings, known = asked.problem, DescentSettings(rounds=asked.rounds), []
        load = problem.workload.above_idle
        twice = load != problem.workload
        if twice:
            # The smaller space first: the larger must not lose what is found there.
            above = descend(replace(problem, workload=load), asked.simulate, settings=settings,
                            progress=lambda part: asked.progress(part / 2))
            best = above.bid or above.nearest
            if best is not None and above.outcome is not None:
                known.append((best, above.outcome))
        return descend(problem, asked.simulate, known=known, settings=settings,
                       progress=lambda part: asked.progress((1 + part) / 2 if twice else part))


@dataclass(frozen=True)
class ClosedForm:
    """QoSG's; `observed` takes the distributions that were seen instead of Poisson and normal."""

    observed: bool = False

    def choose(self, asked: Question) -> Decision:
        rule = None
        if self.observed:
            rule = observed_rule(asked.problem, asked.planned, asked.simulate)
        return closed_form_bid(asked.problem, asked.simulate, rule=rule, reserve_scales=SCALES,
                               step=0.02, whole=asked.whole, progress=asked.progress)


class Exhaustive:
    """A grid of averages and reserves."""

    def choose(self, asked: Question) -> Decision:
        return exhaustive_bid(asked.problem, asked.simulate, whole=asked.whole,
                              progress=asked.progress)


@dataclass(frozen=True)
class FromAverages:
    """A formula over the workload alone."""

    rule: Callable[..., Bid]

    def choose(self, asked: Question) -> Decision:
        bid = self.rule(asked.case.workload)
        if bid.reserve_w <= 0:
            reason = "do not participate: the heuristic leaves no reserve"
            return Decision(None, reason, nearest=bid)
        if not asked.verify:
            return Decision(bid, "from averages alone; nothing was simulated")
        return best_of(asked.problem, [(bid, asked.simulate(bid))], "from averages alone")


BIDDERS: Mapping[str, Bidder] = {
    "descent": Descent(),
    "closed_form": ClosedForm(),
    "empirical": ClosedForm(observed=True),
    "exhaustive": Exhaustive(),
    "heuristic": FromAverages(capping_heuristic),
    "range": FromAverages(range_heuristic),
}

METHOD_OF = {
    "aqa": "descent",
    "qosg": "closed_form",
    "energyqare": "exhaustive",
    "tracking": "exhaustive",
    "qoscap": "exhaustive",
}
"""The bidding that was published with each policy."""
FROM_AVERAGES = ("heuristic", "range")
"""Bidders that look at nothing but averages."""


def method_of(policy: str, method: str) -> str:
    """The name of the bidder: `auto` and `dayahead` take the one published with the policy.

    A policy of another package has none; its bids are searched over a grid.
    """
    return METHOD_OF.get(policy, "exhaustive") if method in ("auto", "dayahead") else method


def inside(case: Case) -> Signal:
    """The signal in the contract itself, without the warm-up."""
    here = (case.signal.time_s >= case.judged_s) & (case.signal.time_s < case.end_s)
    if not np.any(here):
        return case.signal
    return Signal(case.signal.time_s[here], case.signal.value[here])


def observed_rule(problem: Problem, cases: Sequence[Case], simulate: Simulate) -> WeightRule:
    """Least weights from the arrivals and the signal of these hours, whatever their distribution.

    Work and signal are added up over windows: what is correlated within one stays together.
    """
    work = problem.workload.column("servers") * problem.workload.column("time_s_min")
    arriving = tuple(
        Empirical.mix([
            arrivals(c.jobs, code, float(each), WINDOW_S, c.end_s, c.judged_s) for c in cases
        ])
        for code, each in enumerate(work)
    )
    level = Empirical.mix([signal_levels(inside(c), WINDOW_S) for c in cases])
    log_alpha = fit_empirical_alpha(problem, arriving, level, simulate)
    return empirical_rule(problem, arriving, level, log_alpha)
