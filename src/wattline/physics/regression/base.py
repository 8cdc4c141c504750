"""What every model of time and power has in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.reach import FURTHEST, Outside, outside_of, widening

Z_90 = 1.645
"""Standard deviations on each side that hold 90 % of a normal distribution."""


@dataclass(frozen=True)
class Grid:
    """The values that nodes, cores and caps took where the model was trained."""

    nodes: tuple[int, ...]
    cores: tuple[int, ...]
    cap_w: tuple[float, ...]

    @classmethod
    def of(cls, table: ConfigurationTable) -> Grid:
        return cls(
            tuple(int(n) for n in np.unique(table.nodes)),
            tuple(int(c) for c in np.unique(table.cores)),
            tuple(float(w) for w in np.unique(table.cap_w)),
        )

    def points(self) -> FloatArray:
        """All combinations, one row each: nodes, cores, cap."""
        mesh = np.meshgrid(self.nodes, self.cores, self.cap_w, indexing="ij")
        return np.stack([axis.ravel() for axis in mesh], axis=1).astype(np.float64)

    def outside(self, nodes: float, cores: float, cap_w: float) -> list[Outside]:
        """Which of these is outside what was measured, and by how much."""
        return [*outside_of("nodes", nodes, self.nodes), *outside_of("cores", cores, self.cores),
                *outside_of("cap", cap_w, self.cap_w)]

    def as_dict(self) -> dict[str, Any]:
        return {"nodes": list(self.nodes), "cores": list(self.cores), "cap_w": list(self.cap_w)}


@dataclass(frozen=True, eq=False)
class Prediction:
    """Times and powers, with the standard deviation of their logarithms (0.05: about 5 %)."""

    time_s: FloatArray
    power_w: FloatArray
    time_sd: FloatArray
    power_sd: FloatArray


def interval_90(value: float, sd: float) -> tuple[float, float]:
    """From where to where 90 % lie, by the standard deviation of the logarithm."""
    return float(value * math.exp(-Z_90 * sd)), float(value * math.exp(Z_90 * sd))


class Model(ABC):
    """Time and power of one application as functions of its configuration."""

    kind: str
    application: str
    grid: Grid
    trained_on: int
    note: str
    """What a user must know of the figures it was trained on."""

    @abstractmethod
    def predict_points(self, points: FloatArray) -> Prediction:
        """Predict rows of nodes, cores, cap."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The coefficients in the form of the model file."""

    def predict(
        self, nodes: npt.ArrayLike, cores: npt.ArrayLike, cap_w: npt.ArrayLike,
        extrapolate: bool = False,
    ) -> Prediction:
        """Predict configurations, with wider intervals outside of what was measured.

        More than twice outside of it is refused unless the caller wants to `extrapolate`.
        """
        rows = np.stack(np.broadcast_arrays(*(np.atleast_1d(np.asarray(values, dtype=np.float64))
                                              for values in (nodes, cores, cap_w))), axis=1)
        if not np.all(np.isfinite(rows) & (rows > 0)):
            raise InputError("nodes, cores and cap must be numbers greater than 0")
        outside = [self.grid.outside(*row) for row in rows.tolist()]
        far = [one for each in outside for one in each if one.factor > FURTHEST]
        if far and not extrapolate:
            raise InputError(f"{far[0]}; a model is not asked beyond {FURTHEST:g} times what was "
                             f"measured: measure nearer, or extrapolate (--extrapolate)")
        predicted = self.predict_points(rows)
        wider = np.array([widening(each) for each in outside]) / Z_90
        return replace(predicted, time_sd=predicted.time_sd + wider,
                       power_sd=predicted.power_sd + wider)

    def table(self, margin: float = 0.0, grid: Grid | None = None) -> ConfigurationTable:
        """The predicted table over a grid, that of the training if none is given.

        `margin` is a part of the predicted power that is added to it.
        """
        if not 0 <= margin < 10:
            raise InputError(f"the safety margin is {margin:g}; write it like 0.15 or 15%")
        points = (grid or self.grid).points()
        predicted = self.predict_points(points)
        return ConfigurationTable(
            self.application, points[:, 0].astype(np.int64), points[:, 1].astype(np.int64),
            points[:, 2].copy(), predicted.time_s, predicted.power_w * (1.0 + margin), "predicted",
            self.note,
        )


def points_of(table: ConfigurationTable) -> FloatArray:
    return np.stack([table.nodes, table.cores, table.cap_w], axis=1).astype(np.float64)


def error_summary(ratio: FloatArray) -> dict[str, float]:
    """Relative errors as fractions, and how often and how far the prediction is too low.

    `ratio` is predicted over measured.
    """
    error = ratio - 1.0
    size = np.abs(error)
    return {
        "mean": float(size.mean()),
        "median": float(np.median(size)),
        "p25": float(np.quantile(size, 0.25)),
        "p75": float(np.quantile(size, 0.75)),
        "max": float(size.max()),
        "under_10pct_share": float(np.mean(error < -0.10)),
        "worst_under": float(max(0.0, -error.min())),
    }
