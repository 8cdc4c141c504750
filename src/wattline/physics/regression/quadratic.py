"""The published model: log time and log power as polynomials of degree two in the logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction


@dataclass(frozen=True, eq=False)
class QuadraticModel(Model):
    """Ordinary least squares, ten coefficients each for three axes, no priors.

    With fewer points than coefficients the shortest solution is taken, which is what a
    pseudo-inverse does; the errors then show that it is not a good one.
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
    time = _solve(terms, np.log(table.time_s))
    power = _solve(terms, np.log(table.power_w))
    freedom = max(1, len(table) - terms.shape[1])
    return QuadraticModel(
        table.application, grid, len(table), centre, spread, time, power,
        _spread_of(np.log(table.time_s) - terms @ time, freedom),
        _spread_of(np.log(table.power_w) - terms @ power, freedom),
        note=table.note,
    )


def _terms(logs: FloatArray) -> FloatArray:
    columns = [np.ones(len(logs)), *logs.T]
    for first in range(logs.shape[1]):
        columns.extend(logs[:, first] * logs[:, second] for second in range(first, logs.shape[1]))
    return np.stack(columns, axis=1)


def _solve(terms: FloatArray, target: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(terms, target, rcond=None)[0], dtype=np.float64)


def _spread_of(residual: FloatArray, freedom: int) -> float:
    return float(np.sqrt(residual @ residual / freedom))
