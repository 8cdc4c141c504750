"""The default model: a processor has a demand for power, a cap limits it, and that costs time.

The published polynomial must bend to follow what is really a corner: below its demand a cap is
felt, above it nothing changes, and without a cap the clock rises (turbo). Here the corner, the
uncapped mode and the fully used node are terms of their own, so that a dozen measurements are
enough. Priors keep every coefficient near what processors do unless the measurements object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction, points_of
from wattline.physics.regression.bayes import Problem
from wattline.physics.regression.terms import POWER_PRIORS, TIME_PRIORS, Frame, Prior

_STEPS = 60
_FITTED_NOISE = 0.03


class Belief(NamedTuple):
    """One choice of prior; the evidence picks among them."""

    top: str
    """`none`: the highest cap is a cap like the others; `usual`: turbo as processors have it;
    `wide`: the uncapped mode may behave in any way."""
    bend: float
    """By which factor the priors of curvatures are widened."""
    correction_sd: float
    noise_sd: float

    def log_prior(self) -> float:
        """Simple choices are a little likelier than elaborate ones."""
        odds = {"usual": 0.0, "none": -1.0, "wide": -1.0}[self.top] - (self.bend > 1.0)
        noise = np.log(self.noise_sd / 0.02)
        correction = np.log(max(self.correction_sd, 0.003) / 0.015) / 2.0
        return float(odds - 0.5 * (noise**2 + correction**2))


@dataclass(frozen=True, eq=False)
class Part:
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
    def from_dict(cls, stored: Mapping[str, Any], priors: tuple[Prior, ...]) -> Part:
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
    power: Part
    time: Part
    kind: str = "capping"

    def predict_points(self, points: FloatArray) -> Prediction:
        frame = Frame(self.grid, self.sockets)
        corrections = frame.corrections(points)
        slope = frame.slope(points, self.power.coefficients)
        log_power = frame.socket_power(points, self.power.coefficients)
        log_power = log_power + corrections @ self.power.corrections
        terms = frame.time_terms(points, self.power.coefficients)
        log_time = terms @ self.time.coefficients + corrections @ self.time.corrections
        return Prediction(
            np.exp(log_time),
            np.exp(log_power) * points[:, 0] * self.sockets,
            _deviation(terms, self.time),
            _deviation(slope, self.power),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "grid": self.grid.as_dict(), "trained_on": self.trained_on,
            "sockets": self.sockets, "power": self.power.as_dict(POWER_PRIORS),
            "time": self.time.as_dict(TIME_PRIORS),
        }

    @classmethod
    def from_dict(cls, application: str, grid: Grid, stored: Mapping[str, Any]) -> CappingModel:
        return cls(application, grid, int(stored["trained_on"]), int(stored["sockets"]),
                   Part.from_dict(stored["power"], POWER_PRIORS),
                   Part.from_dict(stored["time"], TIME_PRIORS))


def fit_capping(table: ConfigurationTable, grid: Grid, sockets: int = 2) -> CappingModel:
    """Fit the capping model to every row of a table; `grid` is what it may be asked about."""
    frame = Frame(grid, sockets)
    points = points_of(table)
    corrections = frame.corrections(points)
    log_power = np.log(table.power_w / (table.nodes * sockets))
    power = _fit_power(frame, points, corrections, log_power)
    time = _fit_time(frame, points, corrections, np.log(table.time_s), power.coefficients)
    return CappingModel(table.application, grid, len(table), sockets, power, time)


def prior_arrays(
    priors: tuple[Prior, ...], top: str, bend: float, width: float
) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations under a belief; `width` widens the uncapped mode."""
    mean = np.array([prior.mean for prior in priors])
    sd = np.array([prior.sd for prior in priors])
    for place, prior in enumerate(priors):
        if prior.group == "bend":
            sd[place] *= bend
        elif prior.group == "top" and top == "wide":
            sd[place] *= width
        elif prior.group == "top" and top == "none":
            mean[place], sd[place] = 0.0, 1e-6
    return mean, sd


class Weighed(NamedTuple):
    """A belief with what it needs to be turned into a fit; the likeliest one is."""

    log_probability: float
    problem: Problem
    mean: FloatArray
    sd: FloatArray
    noise_sd: float


def _fit_time(
    frame: Frame, points: FloatArray, corrections: FloatArray, target: FloatArray,
    power: FloatArray,
) -> Part:
    terms = frame.time_terms(points, power)
    problem = Problem.of(np.hstack([terms, corrections]), target)
    found: list[Weighed] = []
    for top, bend in _shapes():
        mean, sd = prior_arrays(TIME_PRIORS, top, bend, width=5.0)
        # The scale of the times is the application's own, so the level starts at their middle.
        mean[0] = np.median(target - terms[:, 1:] @ mean[1:])
        found += _weigh(problem, mean, sd, top, bend)
    return _part(max(found, key=lambda one: one.log_probability), len(TIME_PRIORS))


def _fit_power(
    frame: Frame, points: FloatArray, corrections: FloatArray, target: FloatArray
) -> Part:
    """The limit makes power nonlinear in its coefficients: search, then linearise there."""
    found: list[Weighed] = []
    for top, bend in _shapes():
        mean, sd = prior_arrays(POWER_PRIORS, top, bend, width=4.0)
        at = _search(frame, points, target, mean, sd)
        slope = frame.slope(points, at)
        linear = target - frame.socket_power(points, at) + slope @ at
        problem = Problem.of(np.hstack([slope, corrections]), linear)
        found += _weigh(problem, mean, sd, top, bend)
    return _part(max(found, key=lambda one: one.log_probability), len(POWER_PRIORS))


def _shapes() -> Iterator[tuple[str, float]]:
    yield from product(("usual", "none", "wide"), (1.0, 3.0))


def _weigh(
    problem: Problem, mean: FloatArray, sd: FloatArray, top: str, bend: float
) -> list[Weighed]:
    """The probability of each size of corrections and noise."""
    extra = problem.features.shape[1] - len(mean)
    mean = np.concatenate([mean, np.zeros(extra)])
    found = []
    for correction_sd, noise_sd in product((1e-6, 0.01, 0.03, 0.1), (0.01, 0.02, 0.04, 0.08)):
        all_sd = np.concatenate([sd, np.full(extra, correction_sd)])
        belief = Belief(top, bend, correction_sd, noise_sd)
        evidence = problem.log_evidence(mean, all_sd, noise_sd)
        found.append(Weighed(evidence + belief.log_prior(), problem, mean, all_sd, noise_sd))
    return found


def _part(best: Weighed, split: int) -> Part:
    posterior = best.problem.posterior(best.mean, best.sd, best.noise_sd)
    terms = best.problem.features[:, :split]
    covariance = posterior.covariance[:split, :split]
    explained = np.einsum("ij,ij->i", terms @ covariance, terms)
    # Errors of left-out predictions are the honest size of what is still unknown.
    unexplained = float(np.mean(posterior.left_out**2) - np.mean(explained))
    return Part(posterior.mean[:split].copy(), covariance.copy(), posterior.mean[split:].copy(),
                float(np.sqrt(max(unexplained, 1e-4))))


def _search(
    frame: Frame, points: FloatArray, target: FloatArray, mean: FloatArray, sd: FloatArray
) -> FloatArray:
    """Levenberg-Marquardt for the likeliest coefficients of power."""
    at, damping = mean.copy(), 1e-3

    def cost(trial: FloatArray) -> float:
        misfit = (frame.socket_power(points, trial) - target) / _FITTED_NOISE
        surprise = (trial - mean) / sd
        return float(misfit @ misfit + surprise @ surprise)

    reached = cost(at)
    for _ in range(_STEPS):
        slope = frame.slope(points, at) / _FITTED_NOISE
        misfit = (target - frame.socket_power(points, at)) / _FITTED_NOISE
        curvature = slope.T @ slope + np.diag(1.0 / sd**2)
        pull = slope.T @ misfit - (at - mean) / sd**2
        step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), pull)
        if (tried := cost(at + step)) < reached:
            at, reached, damping = at + step, tried, max(damping / 5.0, 1e-9)
        else:
            damping *= 10.0
        if float(np.abs(step).max()) < 1e-7:
            break
    return at


def _deviation(terms: FloatArray, part: Part) -> FloatArray:
    variance = np.einsum("ij,ij->i", terms @ part.covariance, terms)
    deviation: FloatArray = np.sqrt(np.maximum(variance, 0.0) + part.spread**2)
    return deviation
