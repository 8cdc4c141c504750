"""The published model: log time and log power as polynomials of degree two in the logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction

_RIDGES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)
"""Stiffness of the coefficients of standardised terms, to choose from; 0 is least squares."""
_SINGULAR = 1e13


@dataclass(frozen=True, eq=False)
class QuadraticModel(Model):
    """Least squares, ten coefficients each for three axes, no priors.

    Where points are too few for that, coefficients are shrunk (ridge regression) by as much as
    predicts each of them best from all the others. The shortest solution, which a pseudo-inverse
    takes, is wrong by any factor where there are about as many points as coefficients.
    """

    application: str
    grid: Grid
    trained_on: int
    centre: FloatArray
    """Mean logarithms of nodes and settings; the polynomial is in the distance from it."""
    spread: FloatArray
    time: FloatArray
    power: FloatArray
    time_sd: float
    power_sd: float
    kind: str = "quadratic"
    note: str = ""

    def predict_points(self, points: FloatArray) -> Prediction:
        terms = _terms((np.log(points) - self.centre) / self.spread)
        count = len(points)
        return Prediction(
            np.exp(terms @ self.time), np.exp(terms @ self.power),
            np.full(count, self.time_sd), np.full(count, self.power_sd),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "grid": self.grid.as_dict(), "trained_on": self.trained_on,
            "centre": self.centre.tolist(), "spread": self.spread.tolist(),
            "time": self.time.tolist(), "power": self.power.tolist(),
            "time_sd": self.time_sd, "power_sd": self.power_sd,
        }

    @classmethod
    def from_dict(cls, application: str, grid: Grid, stored: Mapping[str, Any]) -> QuadraticModel:
        centre, spread, time, power = (np.asarray(stored[name], dtype=np.float64)
                                       for name in ("centre", "spread", "time", "power"))
        return cls(application, grid, int(stored["trained_on"]), centre, spread, time, power,
                   float(stored["time_sd"]), float(stored["power_sd"]),
                   note=str(stored.get("note", "")))


def fit_quadratic(table: ConfigurationTable, grid: Grid) -> QuadraticModel:
    """Fit the published model to every row of a table."""
    logs = np.log(table.points())
    centre = logs.mean(axis=0)
    spread = logs.std(axis=0)
    # A column that does not vary (all runs on one node) drops out: its terms are all zero.
    spread = np.where(spread < 1e-12, 1.0, spread)
    terms = _terms((logs - centre) / spread)
    (time, time_sd), (power, power_sd) = (_solve(terms, np.log(measured))
                                          for measured in (table.time_s, table.power_w))
    return QuadraticModel(table.application, grid, len(table), centre, spread, time, power,
                          time_sd, power_sd, note=table.note)


def _terms(logs: FloatArray) -> FloatArray:
    columns = [np.ones(len(logs)), *logs.T]
    for first in range(logs.shape[1]):
        columns.extend(logs[:, first] * logs[:, second] for second in range(first, logs.shape[1]))
    return np.stack(columns, axis=1)


def _solve(terms: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients, and the size of the errors of predictions from all other points."""
    count, width = terms.shape
    free = np.ptp(terms, axis=0) > 0
    free[0] = True
    used = terms[:, free]
    found = []
    for ridge in _RIDGES:
        if ridge == 0.0 and count <= used.shape[1]:
            continue
        stiffness = np.full(used.shape[1], ridge * count)
        stiffness[0] = 0.0  # the level is free
        curvature = used.T @ used + np.diag(stiffness)
        if np.linalg.cond(curvature) > _SINGULAR:
            continue
        reach = np.linalg.solve(curvature, used.T)
        own = np.einsum("ij,ji->i", used, reach)
        at = reach @ target
        left_out = (target - used @ at) / np.maximum(1.0 - own, 1e-9)
        found.append((float(np.sqrt(np.mean(left_out**2))), at))
    error, at = min(found, key=lambda one: one[0])
    coefficients = np.zeros(width)
    coefficients[free] = at
    return coefficients, error
