"""The default model: a processor has a demand for power, a cap limits it, and that costs time.

The published polynomial must bend to follow what is really a corner: below its demand a cap is
felt, above it nothing changes, and without a cap the clock rises (turbo). Here the corner, the
uncapped mode and the fully used node are terms of their own, so that a dozen measurements are
enough. Time has a second part, an overhead that neither cores nor watts make shorter and that may
grow with the nodes. Priors keep every coefficient near what processors do unless the measurements
object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction
from wattline.physics.regression.bayes import Problem
from wattline.physics.regression.terms import (
    NO_OVERHEAD,
    OVERHEAD,
    POWER_PRIORS,
    SHIPPED,
    SPREAD,
    TIME_PRIORS,
    Frame,
    Layout,
    Prior,
    Priors,
    log_time,
)

_BY_SHARE = ("its power seems to be that of its nodes times the part of their cores in use; partly "
             "used nodes draw more")
_UNUSUAL = 3.0
"""By how much the measurements must speak for what is rare (in logarithms of the odds)."""
_UNUSUAL_OF_RANKS = 1.0
"""The same for ranks that fill one socket before the next: some libraries of MPI do it unasked."""
_STEPS = 60
_FITTED_NOISE = 0.03
_NEGLIGIBLE = 0.01
"""A belief this much less likely than the best one is left out of the average."""

Curve = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From coefficients to the predicted logarithms and how they change with each coefficient."""


class Belief(NamedTuple):
    """One choice of prior; the evidence weighs them."""

    top: str
    """`none`: the highest cap is a cap like the others; `usual`: turbo as processors have it;
    `wide`: the uncapped mode may behave in any way."""
    bend: float
    """By which factor the priors of curvatures are widened."""
    overhead: bool
    """Whether time has a part that neither cores nor watts make shorter."""
    correction_sd: float = 0.0
    noise_sd: float = 0.0

    def log_prior(self) -> float:
        """Simple choices are a little likelier than elaborate ones."""
        odds = {"usual": 0.0, "none": -1.0, "wide": -1.0}[self.top] - (self.bend > 1.0)
        odds -= self.overhead
        noise = np.log(self.noise_sd / 0.02)
        correction = np.log(max(self.correction_sd, 0.003) / 0.015) / 2.0
        return float(odds - 0.5 * (noise**2 + correction**2))


@dataclass(frozen=True, eq=False)
class FittedHalf:
    """The fitted half of a model: that of power, or that of time."""

    coefficients: FloatArray
    covariance: FloatArray
    corrections: FloatArray
    spread: float
    """Standard deviation of what the coefficients do not explain, from left-out predictions."""

    def as_dict(self, priors: tuple[Prior, ...]) -> dict[str, Any]:
        names = [prior.name for prior in priors]
        return {
            "coefficients": dict(zip(names, self.coefficients.tolist(), strict=True)),
            "covariance": self.covariance.tolist(),
            "corrections": self.corrections.tolist(),
            "spread": self.spread,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], priors: tuple[Prior, ...]) -> FittedHalf:
        return cls(
            np.array([float(stored["coefficients"][prior.name]) for prior in priors]),
            np.asarray(stored["covariance"], dtype=np.float64),
            np.asarray(stored["corrections"], dtype=np.float64),
            float(stored["spread"]),
        )


@dataclass(frozen=True, eq=False)
class CappingModel(Model):
    """Time and power from the demand, the limit of the cap, and small corrections."""

    application: str
    grid: Grid
    trained_on: int
    sockets: int
    power: FittedHalf
    time: FittedHalf
    layout: Layout = SPREAD
    kind: str = "capping"
    note: str = ""

    def predict_points(self, points: FloatArray) -> Prediction:
        frame = Frame(self.grid, self.sockets, self.layout)
        corrections = frame.corrections(points)
        at = frame.at(points)
        log_power, slope = at.socket_power(self.power.coefficients)
        log_power = log_power + corrections @ self.power.corrections
        log_s, terms = log_time(at.of_time(self.power.coefficients), self.time.coefficients)
        log_s = log_s + corrections @ self.time.corrections
        return Prediction(
            np.exp(log_s),
            np.exp(log_power) * frame.counted(points),
            _deviation(terms, self.time),
            _deviation(slope, self.power),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "grid": self.grid.as_dict(), "trained_on": self.trained_on,
            "sockets": self.sockets, "layout": self.layout._asdict(),
            "power": self.power.as_dict(POWER_PRIORS), "time": self.time.as_dict(TIME_PRIORS),
        }

    @classmethod
    def from_dict(cls, application: str, grid: Grid, stored: Mapping[str, Any]) -> CappingModel:
        return cls(application, grid, int(stored["trained_on"]), int(stored["sockets"]),
                   FittedHalf.from_dict(stored["power"], POWER_PRIORS),
                   FittedHalf.from_dict(stored["time"], TIME_PRIORS),
                   Layout(**stored["layout"]),
                   note=str(stored.get("note", "")))


def fit_capping(
    table: ConfigurationTable, grid: Grid, sockets: int = 2, priors: Priors = SHIPPED
) -> CappingModel:
    """Fit the capping model to every row of a table; `grid` is what it may be asked about."""
    if not grid.is_classic:
        raise InputError(f"the capping model knows nodes, cores and a cap for each socket; "
                         f"'{table.application}' is set by {', '.join(grid.names)}: use smooth")
    fits = [_fit_packing(table, grid, sockets, packed, priors) for packed in (False, True)]
    _, layout, power, time = max(fits, key=lambda one: one[0])
    note = "; ".join(filter(None, (table.note, _BY_SHARE if layout.by_share else "")))
    return CappingModel(table.application, grid, len(table), sockets, power, time, layout,
                        note=note)


def _fit_packing(
    table: ConfigurationTable, grid: Grid, sockets: int, packed: bool, priors: Priors
) -> tuple[float, Layout, FittedHalf, FittedHalf]:
    """Fit power, counted in the likelier way, then time; with the evidence for both."""
    points = table.points()
    found = []
    for by_share in (False, True):
        frame = Frame(grid, sockets, Layout(packed, by_share))
        target = np.log(table.power_w / frame.counted(points))
        evidence, power = _fit_power(frame, points, frame.corrections(points), target,
                                     priors.power)
        found.append((evidence - _UNUSUAL * by_share, frame, power))
    evidence, frame, power = max(found, key=lambda one: one[0])
    time_evidence, time = _fit_time(frame, points, frame.corrections(points),
                                    np.log(table.time_s), power.coefficients, priors.time)
    surprise = packed * (_UNUSUAL_OF_RANKS if table.of_ranks else _UNUSUAL)
    return evidence + time_evidence - surprise, frame.layout, power, time


def prior_arrays(
    priors: tuple[Prior, ...], belief: Belief, width: float
) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations under a belief; `width` widens the uncapped mode."""
    mean = np.array([prior.mean for prior in priors])
    sd = np.array([prior.sd for prior in priors])
    for place, prior in enumerate(priors):
        if prior.group == "bend":
            sd[place] *= belief.bend
        elif prior.group == "top" and belief.top == "wide":
            sd[place] *= width
        elif prior.group == "top" and belief.top == "none":
            mean[place], sd[place] = 0.0, 1e-6
        elif prior.name == "overhead" and not belief.overhead:
            mean[place], sd[place] = NO_OVERHEAD, 1e-6
    return mean, sd


class Weighed(NamedTuple):
    """A belief with what it needs to be turned into a fit."""

    log_probability: float
    problem: Problem
    mean: FloatArray
    sd: FloatArray
    noise_sd: float


def _fit_time(
    frame: Frame, points: FloatArray, corrections: FloatArray, target: FloatArray,
    power: FloatArray, priors: tuple[Prior, ...],
) -> tuple[float, FittedHalf]:
    terms = frame.at(points).of_time(power)
    found: dict[bool, list[Weighed]] = {False: [], True: []}
    for belief in (*_shapes(overhead=False), *_shapes(overhead=True)):
        mean, sd = prior_arrays(priors, belief, width=5.0)
        # The scale of the times is the application's own, so the level starts at their middle.
        mean[0] = np.median(target - terms[:, 1:] @ mean[1:OVERHEAD])
        found[belief.overhead] += _weigh(
            lambda at: log_time(terms, at), corrections, target, mean, sd, belief)
    # With and without an overhead the other coefficients mean different things: no average of both.
    likelier = max(found.values(), key=_total)
    return _total(likelier), _average(likelier, len(TIME_PRIORS))


def _fit_power(
    frame: Frame, points: FloatArray, corrections: FloatArray, target: FloatArray,
    priors: tuple[Prior, ...],
) -> tuple[float, FittedHalf]:
    found: list[Weighed] = []
    curve = frame.at(points).socket_power
    for belief in _shapes(overhead=False):
        mean, sd = prior_arrays(priors, belief, width=4.0)
        found += _weigh(curve, corrections, target, mean, sd, belief)
    return _total(found), _average(found, len(POWER_PRIORS))


def _shapes(overhead: bool) -> Iterator[Belief]:
    for top, bend in product(("usual", "none", "wide"), (1.0, 3.0)):
        yield Belief(top, bend, overhead)


def _weigh(
    curve: Curve, corrections: FloatArray, target: FloatArray, mean: FloatArray, sd: FloatArray,
    belief: Belief,
) -> list[Weighed]:
    """The probability of each size of corrections and noise.

    The limit and the overhead bend the curve: find the likeliest point, then linearise there.
    """
    at = _search(curve, target, mean, sd)
    value, slope = curve(at)
    problem = Problem.of(np.hstack([slope, corrections]), target - value + slope @ at)
    extra = corrections.shape[1]
    mean = np.concatenate([mean, np.zeros(extra)])
    found = []
    for correction_sd, noise_sd in product((1e-6, 0.01, 0.03, 0.1), (0.01, 0.02, 0.04, 0.08)):
        all_sd = np.concatenate([sd, np.full(extra, correction_sd)])
        sized = belief._replace(correction_sd=correction_sd, noise_sd=noise_sd)
        evidence = problem.log_evidence(mean, all_sd, noise_sd)
        found.append(Weighed(evidence + sized.log_prior(), problem, mean, all_sd, noise_sd))
    return found


def _total(found: list[Weighed]) -> float:
    return float(np.logaddexp.reduce([one.log_probability for one in found]))


def _average(found: list[Weighed], split: int) -> FittedHalf:
    """The fits of all beliefs, each with its probability as its weight."""
    best = max(one.log_probability for one in found)
    chance = np.exp([one.log_probability - best for one in found])
    kept = np.flatnonzero(chance > _NEGLIGIBLE)
    weight = chance[kept] / chance[kept].sum()
    parts = [_part(found[place], split) for place in kept]
    mean = np.einsum("i,ij->j", weight, np.array([part.coefficients for part in parts]))
    apart = np.array([part.coefficients for part in parts]) - mean
    covariance = np.einsum("i,ijk->jk", weight, np.array([part.covariance for part in parts]))
    return FittedHalf(
        mean,
        covariance + np.einsum("i,ij,ik->jk", weight, apart, apart),
        np.einsum("i,ij->j", weight, np.array([part.corrections for part in parts])),
        float(np.sqrt(weight @ np.array([part.spread for part in parts]) ** 2)),
    )


def _part(one: Weighed, split: int) -> FittedHalf:
    posterior = one.problem.posterior(one.mean, one.sd, one.noise_sd)
    terms = one.problem.features[:, :split]
    covariance = posterior.covariance[:split, :split]
    explained = np.einsum("ij,ij->i", terms @ covariance, terms)
    # Errors of left-out predictions are the honest size of what is still unknown.
    unexplained = float(np.mean(posterior.left_out**2) - np.mean(explained))
    return FittedHalf(posterior.mean[:split].copy(), covariance.copy(),
                      posterior.mean[split:].copy(), float(np.sqrt(max(unexplained, 1e-4))))


def _search(curve: Curve, target: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Levenberg-Marquardt for the likeliest coefficients."""
    at, damping = mean.copy(), 1e-3
    value, slope = curve(at)

    def cost(value: FloatArray, trial: FloatArray) -> float:
        misfit = (value - target) / _FITTED_NOISE
        surprise = (trial - mean) / sd
        return float(misfit @ misfit + surprise @ surprise)

    reached, stiffness = cost(value, at), np.diag(1.0 / sd**2)
    for _ in range(_STEPS):
        scaled = slope / _FITTED_NOISE
        curvature = scaled.T @ scaled + stiffness
        pull = scaled.T @ (target - value) / _FITTED_NOISE - (at - mean) / sd**2
        step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), pull)
        tried_value, tried_slope = curve(at + step)
        if (tried := cost(tried_value, at + step)) < reached:
            at, value, slope = at + step, tried_value, tried_slope
            reached, damping = tried, max(damping / 5.0, 1e-9)
        else:
            damping *= 10.0
        if float(np.abs(step).max()) < 1e-7:
            break
    return at


def _deviation(terms: FloatArray, part: FittedHalf) -> FloatArray:
    variance = np.einsum("ij,ij->i", terms @ part.covariance, terms)
    deviation: FloatArray = np.sqrt(np.maximum(variance, 0.0) + part.spread**2)
    return deviation
