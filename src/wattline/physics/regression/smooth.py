"""A model of any settings: a line in the logarithms, and a smooth rest near what was measured.

Log time and log power are a Gaussian process: a line in the logarithms of nodes and settings, plus
a rest that is alike where configurations are alike (Matern 3/2, which may bend as sharply as a cap
does). It knows nothing of processors, so it serves tables of any machine, and learns more slowly
than a model that does. The algebra is that of a few hundred points at most, so it is written here:
a library of machine learning would be the largest dependency, for forty lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction
from wattline.physics.regression.terms import SHIPPED, Priors, Slope, corrections

_LEVEL_SD = 3.0
_ROUNDS = 3
_ROOT3 = float(np.sqrt(3.0))
_RESTS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
_NOISES = (0.005, 0.01, 0.02, 0.04, 0.08)
_REACHES = (0.15, 0.3, 0.6, 1.2, 2.4, 5.0)


class Shape(NamedTuple):
    """How far the rest goes, over which distances in logarithms, and what is noise."""

    rest_sd: float
    noise_sd: float
    reach: tuple[float, ...]
    """For each axis: how far configurations may be apart, in logarithms, and still be alike."""

    def log_prior(self) -> float:
        """Middling shapes are a little likelier; few points cannot tell."""
        odd = [np.log(self.rest_sd / 0.15) / 1.2, np.log(self.noise_sd / 0.02),
               *(np.log(reach / 0.9) for reach in self.reach)]
        return -0.5 * float(np.sum(np.square(odd)))


@dataclass(frozen=True, eq=False)
class Half:
    """What is known of log time, or of log power."""

    shape: Shape
    target: FloatArray
    """Beside the centre and the line of the slopes that are believed."""
    centre: float
    slopes: tuple[Slope, ...]
    """What was believed before, for each axis."""

    def as_dict(self) -> dict[str, Any]:
        return {"rest_sd": self.shape.rest_sd, "noise_sd": self.shape.noise_sd,
                "reach": list(self.shape.reach), "target": self.target.tolist(),
                "centre": self.centre, "slopes": [list(slope) for slope in self.slopes]}

    @property
    def slope_means(self) -> FloatArray:
        return np.array([slope.mean for slope in self.slopes])

    @property
    def slope_variances(self) -> FloatArray:
        return np.array([slope.sd**2 for slope in self.slopes])

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Half:
        shape = Shape(float(stored["rest_sd"]), float(stored["noise_sd"]),
                      tuple(float(reach) for reach in stored["reach"]))
        known = stored.get("slopes") or [Slope()] * len(shape.reach)
        return cls(shape, np.asarray(stored["target"], dtype=np.float64), float(stored["centre"]),
                   tuple(Slope(float(mean), float(sd)) for mean, sd in known))


@dataclass(frozen=True, eq=False)
class SmoothModel(Model):
    """Time and power from a line and what measurements nearby add to it."""

    application: str
    grid: Grid
    trained_on: int
    logs: FloatArray
    """Of the configurations it was trained on, from the middle of the grid."""
    time: Half
    power: Half
    kind: str = "smooth"
    note: str = ""

    def predict_points(self, points: FloatArray) -> Prediction:
        at = np.log(points) - _middle(self.grid)
        (time, time_sd), (power, power_sd) = (
            _predict(half, solved, self.logs, at)
            for half, solved in ((self.time, self._solved[0]), (self.power, self._solved[1])))
        return Prediction(np.exp(time), np.exp(power), time_sd, power_sd)

    @cached_property
    def _solved(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        return _solve(self.time, self.logs), _solve(self.power, self.logs)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "grid": self.grid.as_dict(), "trained_on": self.trained_on,
                "logs": self.logs.tolist(), "time": self.time.as_dict(),
                "power": self.power.as_dict()}

    @classmethod
    def from_dict(cls, application: str, grid: Grid, stored: Mapping[str, Any]) -> SmoothModel:
        logs = np.asarray(stored["logs"], dtype=np.float64)
        if logs.ndim != 2 or logs.shape[1] != len(grid.names):
            raise ValueError("its points do not fit its grid")
        return cls(application, grid, int(stored["trained_on"]), logs,
                   Half.from_dict(stored["time"]), Half.from_dict(stored["power"]),
                   note=str(stored.get("note", "")))


def fit_smooth(
    table: ConfigurationTable, grid: Grid, priors: Priors = SHIPPED
) -> SmoothModel:
    """Fit to every row of a table."""
    logs = np.log(table.points()) - _middle(grid)
    time, power = (
        _fit_half(logs, np.log(measured), tuple(known.get(name, Slope()) for name in grid.names))
        for measured, known in ((table.time_s, priors.time_slopes),
                                (table.power_w, priors.power_slopes)))
    return SmoothModel(table.application, grid, len(table), logs, time, power, note=table.note)


def smooth_factor(grid: Grid, points: FloatArray) -> FloatArray:
    """A square root of what is believed of points before any measurement, for designs."""
    logs = np.log(points) - _middle(grid)
    curved = [logs[:, i] * logs[:, j] for i in range(logs.shape[1]) for j in range(i + 1)]
    return np.column_stack([np.full(len(points), _LEVEL_SD), Slope().sd * logs,
                            0.3 * np.stack(curved, axis=1), 0.05 * corrections(grid, points)])


def _middle(grid: Grid) -> FloatArray:
    return np.array([float(np.mean(np.log(levels))) for levels in grid.levels.values()])


def _fit_half(logs: FloatArray, target: FloatArray, slopes: tuple[Slope, ...]) -> Half:
    """The likeliest shape, found by turning one figure of it after another."""
    line_of_means = logs @ np.array([slope.mean for slope in slopes])
    centre = float(np.median(target - line_of_means))
    moved = target - line_of_means - centre
    apart = logs[:, None, :] - logs[None, :, :]
    line = _line(logs, logs, np.array([slope.sd**2 for slope in slopes]))
    shape = Shape(0.2, 0.02, (1.2,) * logs.shape[1])
    best = _evidence(shape, line, apart, moved)
    for _ in range(_ROUNDS):
        before = best
        for tried in _neighbours(len(shape.reach)):
            for value in tried.values:
                other = tried.change(shape, value)
                if other != shape and (found := _evidence(other, line, apart, moved)) > best:
                    shape, best = other, found
        if best == before:
            break
    return Half(shape, moved, centre, slopes)


class _Turn(NamedTuple):
    """One figure of a shape that is turned; -2 and -1 are the rest and the noise."""

    axis: int
    values: Sequence[float]

    def change(self, shape: Shape, value: float) -> Shape:
        if self.axis == -2:
            return shape._replace(rest_sd=value)
        if self.axis == -1:
            return shape._replace(noise_sd=value)
        reach = list(shape.reach)
        reach[self.axis] = value
        return shape._replace(reach=tuple(reach))


def _neighbours(axes: int) -> list[_Turn]:
    return [_Turn(-2, _RESTS), _Turn(-1, _NOISES), *(_Turn(axis, _REACHES) for axis in range(axes))]


def _line(first: FloatArray, second: FloatArray, variances: FloatArray) -> FloatArray:
    covariance: FloatArray = _LEVEL_SD**2 + (first * variances) @ second.T
    return covariance


def _rest(shape: Shape, apart: FloatArray) -> FloatArray:
    far = _ROOT3 * np.sqrt(np.sum((apart / np.array(shape.reach)) ** 2, axis=2))
    rest: FloatArray = shape.rest_sd**2 * (1.0 + far) * np.exp(-far)
    return rest


def _evidence(shape: Shape, line: FloatArray, apart: FloatArray, target: FloatArray) -> float:
    covariance = line + _rest(shape, apart) + shape.noise_sd**2 * np.eye(len(target))
    lower = np.linalg.cholesky(covariance)
    white = np.linalg.solve(lower, target)
    return (shape.log_prior() - 0.5 * float(white @ white) - float(np.log(np.diag(lower)).sum()))


def _solve(half: Half, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A root of the covariance of the measurements, and their weights."""
    apart = logs[:, None, :] - logs[None, :, :]
    covariance = _line(logs, logs, half.slope_variances) + _rest(half.shape, apart)
    lower = np.linalg.cholesky(covariance + half.shape.noise_sd**2 * np.eye(len(logs)))
    weights: FloatArray = np.linalg.solve(lower.T, np.linalg.solve(lower, half.target))
    return np.asarray(lower, dtype=np.float64), weights


def _predict(
    half: Half, solved: tuple[FloatArray, FloatArray], logs: FloatArray, at: FloatArray
) -> tuple[FloatArray, FloatArray]:
    lower, weights = solved
    apart = at[:, None, :] - logs[None, :, :]
    beside = _line(at, logs, half.slope_variances) + _rest(half.shape, apart)
    known = np.linalg.solve(lower, beside.T)
    own = (_LEVEL_SD**2 + (at**2) @ half.slope_variances + half.shape.rest_sd**2
           + half.shape.noise_sd**2)
    variance = own - np.einsum("ij,ij->j", known, known)
    line = half.centre + at @ half.slope_means
    return line + beside @ weights, np.sqrt(np.maximum(variance, half.shape.noise_sd**2))
