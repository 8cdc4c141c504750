"""Which configurations to measure: the ones that teach most about all the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wattline.model.signal import FloatArray
from wattline.physics.dimensions import CLASSIC
from wattline.physics.regression.base import Grid
from wattline.physics.regression.bayes import condition, one_thread, variance_saved
from wattline.physics.regression.capping import Belief, prior_arrays
from wattline.physics.regression.smooth import smooth_factor
from wattline.physics.regression.terms import OVERHEAD, SHIPPED, Frame, Priors

NOISE_SD = 0.03
CORRECTION_SD = 0.02
_SKIPPED = 0.1
"""Part of the candidates that a design does without, so that seeds give different designs."""
_FEW = 12
"""Up to so many points the greedy choice is gone over again."""
_SWEEPS = 10

Factors = list[FloatArray]
BoolArray = NDArray[np.bool_]


def suggest(
    points: FloatArray,
    count: int,
    *,
    measured: BoolArray | None = None,
    names: Sequence[str] = ("nodes", *CLASSIC),
    sockets: int = 2,
    seed: int | None = None,
    priors: Priors = SHIPPED,
) -> list[int]:
    """Rows of `points` (columns of these names) to measure next, the most informative first.

    Greedy: each step takes the configuration whose measurement lowers the summed variance of the
    predicted log time and log power of all points most; few points are gone over again. What has
    been measured already (a mask) counts as known. Only the configurations matter, never their
    results, so this can be asked before the first run. With a seed a tenth of the candidates, drawn
    with it, is not looked at while there are others.
    """
    with one_thread():
        return _design(points, _factors(Grid.around(names, points), points, sockets, priors), count,
                       measured, seed)


def _design(
    points: FloatArray, factors: Factors, count: int, measured: BoolArray | None, seed: int | None
) -> list[int]:
    offered = np.ones(len(points), dtype=bool)
    if seed is not None:
        offered = np.random.default_rng(seed).random(len(points)) >= _SKIPPED
    free = np.ones(len(points), dtype=bool)
    for row in [] if measured is None else np.flatnonzero(measured):
        factors = _conditioned(factors, int(row))
        free[row] = False
    count = min(count, int(free.sum()))
    offered &= free
    if offered.sum() < count:
        offered = free
    scale = [float(np.einsum("ij,ij->", factor, factor)) for factor in factors]
    chosen = _greedy(factors, scale, offered, count)
    if count > _FEW:
        return chosen
    better = np.zeros(len(points), dtype=bool)
    better[_exchanged(factors, scale, chosen, offered)] = True
    return _greedy(factors, scale, better, count)


def _greedy(factors: Factors, scale: list[float], offered: BoolArray, count: int) -> list[int]:
    """The best of those offered, then the best beside it, and so on."""
    offered = offered.copy()
    chosen: list[int] = []
    for _ in range(count):
        chosen.append(_best(factors, scale, offered))
        offered[chosen[-1]] = False
        factors = _conditioned(factors, chosen[-1])
    return chosen


def _exchanged(
    factors: Factors, scale: list[float], chosen: list[int], offered: BoolArray
) -> list[int]:
    """A better configuration in each place, given all the others, until none is found.

    Greed never looks back at its first choices, which matter most where there are few.
    """
    chosen = list(chosen)
    for _ in range(_SWEEPS):
        before = list(chosen)
        for place in range(len(chosen)):
            others = chosen[:place] + chosen[place + 1:]
            known, rest = factors, offered.copy()
            rest[others] = False
            for other in others:
                known = _conditioned(known, other)
            chosen[place] = _best(known, scale, rest)
        if chosen == before:
            break
    return chosen


def _best(factors: Factors, scale: list[float], looked_at: BoolArray) -> int:
    saved = sum(variance_saved(factor, NOISE_SD) / total
                for factor, total in zip(factors, scale, strict=True))
    return int(np.argmax(np.where(looked_at, saved, -1.0)))


def _conditioned(factors: Factors, row: int) -> Factors:
    return [condition(factor, row, NOISE_SD) for factor in factors]


def _factors(grid: Grid, points: FloatArray, sockets: int, priors: Priors) -> Factors:
    """Square roots of the prior covariance of log time and log power, with wide beliefs."""
    if not grid.is_classic:
        return [smooth_factor(grid, points)]  # time and power are believed to bend alike
    frame = Frame(grid, sockets)
    # Wide beliefs, and the overhead left to the curvatures: it is not linear in its coefficients.
    belief = Belief("wide", bend=3.0, overhead=False)
    mean_power, sd_power = prior_arrays(priors.power, belief, width=2.0)
    _, sd_time = prior_arrays(priors.time, belief, width=5.0)
    small = frame.corrections(points) * CORRECTION_SD
    terms = frame.at(points)
    _, slope = terms.socket_power(mean_power)
    return [
        np.hstack([terms.of_time(mean_power) * sd_time[:OVERHEAD], small]),
        np.hstack([slope * sd_power, small * 0.5]),
    ]
