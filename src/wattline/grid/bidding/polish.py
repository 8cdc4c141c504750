"""Local search around the best bid so far, by simulation alone.

The descent follows a bound that knows nothing of tracking and little of queues that help each
other out. This search asks only the simulation: it draws a bid near the best one, all its parts
moved at once, and keeps it if it fails less or, where nothing fails, costs less. The reach of the
draws grows with success and shrinks with failure (one success in five keeps it).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wattline.grid.bidding.problem import BidOutcome, Problem, Simulate
from wattline.grid.market import Bid, Range
from wattline.model.signal import FloatArray

SPREAD = 0.03, 0.10, 0.25, 0.15
"""Spread of the draws: average above idle, reserve, weights, each relative; share of the power
range at which starts are planned."""
GROW, SHRINK = 1.5, 1.5**-0.25
STARTS = 3
"""Bids to search around, before all effort goes to the best."""
APART = 0.075
"""How far these lie apart at least, in average and reserve together, relative to the range."""


def polish(
    problem: Problem,
    simulate: Simulate,
    tried: list[tuple[Bid, BidOutcome]],
    rounds: int,
    progress: Callable[[float], None] = lambda fraction: None,
) -> None:
    """Add `rounds` further bids to `tried`.

    Half of them around the best bids so far that lie apart from each other, as constraints leave
    several islands; the other half around the best bid that this found.
    """
    if not tried or rounds < 1:
        return
    starts = _apart(problem.workload.range, tried)
    each = rounds // 2 // len(starts)
    done = 0

    def tell(part: float) -> None:
        progress((done + part) / rounds)

    for number, start in enumerate(starts):
        _climb(problem, simulate, tried, start, each, number, tell)
        done += each
    best = min(tried, key=lambda pair: _rank(pair[1]))
    _climb(problem, simulate, tried, best, rounds - done, STARTS, tell)


def _apart(reach: Range, tried: list[tuple[Bid, BidOutcome]]) -> list[tuple[Bid, BidOutcome]]:
    """The best bids of which no two are closer than a share of the machine's range."""
    near_w = APART * (reach.power_w_max - reach.power_w_min)
    found: list[tuple[Bid, BidOutcome]] = []
    for bid, outcome in sorted(tried, key=lambda pair: _rank(pair[1])):
        if all(
            abs(bid.average_w - other.average_w) + abs(bid.reserve_w - other.reserve_w) > near_w
            for other, _ in found
        ):
            found.append((bid, outcome))
        if len(found) == STARTS:
            break
    return found


def _climb(
    problem: Problem,
    simulate: Simulate,
    tried: list[tuple[Bid, BidOutcome]],
    start: tuple[Bid, BidOutcome],
    rounds: int,
    seed: int,
    tell: Callable[[float], None],
) -> None:
    """Draw around the best bid since `start`; the reach grows with success and shrinks without."""
    rng = np.random.default_rng((rounds, seed))
    best, outcome = start
    reach = 1.0
    for number in range(rounds):
        bid = _near(problem, best, reach, rng)
        found = simulate(bid)
        tried.append((bid, found))
        if _rank(found) < _rank(outcome):
            best, outcome = bid, found
            reach = min(reach * GROW, 2.0)
        else:
            reach = max(reach * SHRINK, 0.1)
        tell(number + 1)


def _rank(outcome: BidOutcome) -> tuple[float, float]:
    return (outcome.excess, outcome.cost if outcome.excess == 0 else 0.0)


def _near(problem: Problem, bid: Bid, reach: float, rng: np.random.Generator) -> Bid:
    reachable = problem.workload.range
    above_w = bid.average_w - reachable.power_w_min
    average_w, reserve_w = project_power(
        reachable,
        bid.average_w + reach * SPREAD[0] * above_w * float(rng.standard_normal()),
        bid.reserve_w * float(np.exp(reach * SPREAD[1] * rng.standard_normal())),
    )
    weights = np.array(bid.weights)
    weights *= np.exp(reach * SPREAD[2] * rng.standard_normal(weights.size))
    if weights.size:
        weights /= weights.sum()
    share = bid.start_share
    if problem.start_shares:
        share = min(1.0, max(0.0, share + reach * SPREAD[3] * float(rng.standard_normal())))
    return Bid(average_w, reserve_w, start_share=share).with_weights(weights)


def project_weights(weights: FloatArray, least: float) -> FloatArray:
    """The nearest weights that sum to one with none below `least`."""
    free = 1.0 - least * weights.size
    shifted = np.sort(weights - least)[::-1]
    running = (np.cumsum(shifted) - free) / np.arange(1, weights.size + 1)
    level = running[np.flatnonzero(shifted > running)[-1]]
    projected: FloatArray = np.maximum(weights - least - level, 0.0) + least
    return projected


def project_power(reach: Range, average_w: float, reserve_w: float) -> tuple[float, float]:
    """The nearest average and reserve that the machine can reach (a triangle).

    An edge is the floor or the machine's full power; a product of one direction has one of them.
    """
    high = reach.power_w_max
    # Where servers sleep, the idle machine has room for every highest target.
    low = reach.power_w_min if reach.floor[1] > 0 else reach.floor_w
    least = 1e-3 * (high - reach.power_w_min)
    average_w = min(max(average_w, reach.power_w_min + least), high - least)
    reserve_w = max(reserve_w, least)
    by_average, by_reserve, lowest_w = reach.floor_edge
    over = by_reserve * reserve_w - (by_average * average_w - lowest_w)
    if over > 0 and by_reserve > 0:  # to the edge, which is P - R = floor or so, along its normal
        over /= by_average**2 + by_reserve**2
        average_w, reserve_w = average_w + by_average * over, reserve_w - by_reserve * over
    over = reserve_w - (high - average_w)
    if over > 0 and reach.product != "up":
        average_w, reserve_w = average_w - over / 2, reserve_w - over / 2
    average_w = min(max(average_w, low), high)
    most = reach.largest_reserve_w(average_w)
    return average_w, min(max(reserve_w, min(least, most)), most)
