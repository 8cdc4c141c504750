"""Which configurations to measure: the ones that teach most about all the others."""

from __future__ import annotations

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.regression.base import Grid
from wattline.physics.regression.bayes import condition, one_thread, variance_saved
from wattline.physics.regression.capping import Belief, prior_arrays
from wattline.physics.regression.terms import OVERHEAD, POWER_PRIORS, TIME_PRIORS, Frame

NOISE_SD = 0.03
CORRECTION_SD = 0.02
_SKIPPED = 0.1
"""Part of the candidates that a design does without, so that seeds give different designs."""


def suggest(
    points: FloatArray,
    count: int,
    *,
    measured: FloatArray | None = None,
    sockets: int = 2,
    seed: int | None = None,
) -> list[int]:
    """Rows of `points` to measure next, the most informative first.

    Greedy: each step takes the configuration whose measurement lowers the summed variance of the
    predicted log time and log power of all points most. What has been measured already (a mask)
    counts as known. Only the configurations matter, never their results, so this can be asked
    before the first run. With a seed a tenth of the candidates, drawn with it, is not looked at
    while there are others.
    """
    with one_thread():
        return _greedy(points, count, measured, sockets, seed)


def _greedy(
    points: FloatArray, count: int, measured: FloatArray | None, sockets: int, seed: int | None
) -> list[int]:
    offered = np.ones(len(points), dtype=bool)
    if seed is not None:
        offered = np.random.default_rng(seed).random(len(points)) >= _SKIPPED
    factors = _factors(points, sockets)
    free = np.ones(len(points), dtype=bool)
    for known in [] if measured is None else np.flatnonzero(measured):
        factors = [condition(factor, int(known), NOISE_SD) for factor in factors]
        free[known] = False
    scale = [float(np.einsum("ij,ij->", factor, factor)) for factor in factors]
    chosen: list[int] = []
    for _ in range(min(count, int(free.sum()))):
        looked_at = free & offered
        looked_at = looked_at if looked_at.any() else free
        saved = sum(variance_saved(factor, NOISE_SD) / total
                    for factor, total in zip(factors, scale, strict=True))
        row = int(np.argmax(np.where(looked_at, saved, -1.0)))
        chosen.append(row)
        free[row] = False
        factors = [condition(factor, row, NOISE_SD) for factor in factors]
    return chosen


def _factors(points: FloatArray, sockets: int) -> list[FloatArray]:
    """Square roots of the prior covariance of log time and log power, with wide beliefs."""
    grid = Grid(
        tuple(int(n) for n in np.unique(points[:, 0])),
        tuple(int(c) for c in np.unique(points[:, 1])),
        tuple(float(w) for w in np.unique(points[:, 2])),
    )
    frame = Frame(grid, sockets)
    # Wide beliefs, and the overhead left to the curvatures: it is not linear in its coefficients.
    belief = Belief("wide", bend=3.0, overhead=False)
    mean_power, sd_power = prior_arrays(POWER_PRIORS, belief, width=2.0)
    _, sd_time = prior_arrays(TIME_PRIORS, belief, width=5.0)
    corrections = frame.corrections(points) * CORRECTION_SD
    return [
        np.hstack([frame.time_terms(points, mean_power) * sd_time[:OVERHEAD], corrections]),
        np.hstack([frame.slope(points, mean_power) * sd_power, corrections * 0.5]),
    ]
