"""What every model of time and power has in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import CLASSIC, kind_of
from wattline.physics.regression.reach import FURTHEST, Outside, outside_of, widening

Z_90 = 1.645
"""Standard deviations on each side that hold 90 % of a normal distribution."""


@dataclass(frozen=True)
class Grid:
    """The values that nodes and settings took where the model was trained."""

    levels: Mapping[str, tuple[float, ...]]
    """By name, the nodes first."""

    @classmethod
    def of(cls, table: ConfigurationTable) -> Grid:
        return cls.around(("nodes", *table.names), table.points())

    @classmethod
    def around(cls, names: Sequence[str], points: FloatArray) -> Grid:
        """What stands in the columns of points."""
        return cls({name: tuple(float(value) for value in np.unique(points[:, at]))
                    for at, name in enumerate(names)})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.levels)

    @property
    def is_classic(self) -> bool:
        """Whether it is of nodes, cores and a cap for each socket, and nothing else."""
        return self.names == ("nodes", *CLASSIC)

    @property
    def nodes(self) -> tuple[int, ...]:
        return tuple(int(value) for value in self.levels["nodes"])

    @property
    def cores(self) -> tuple[float, ...]:
        return self.levels["cores"]

    @property
    def cap_w(self) -> tuple[float, ...]:
        return self.levels["cap_w"]

    def with_nodes(self, nodes: Iterable[int]) -> Grid:
        """The same settings on other numbers of nodes."""
        return Grid({**self.levels, "nodes": tuple(float(count) for count in nodes)})

    def points(self) -> FloatArray:
        """All combinations, one row each, in the order of the names."""
        mesh = np.meshgrid(*self.levels.values(), indexing="ij")
        return np.stack([axis.ravel() for axis in mesh], axis=1).astype(np.float64)

    def outside(self, point: Sequence[float]) -> list[Outside]:
        """Which values of a point are outside what was measured, and by how much."""
        return [one for name, value in zip(self.names, point, strict=True)
                for one in outside_of("cap" if name == "cap_w" else name, value,
                                      self.levels[name])]

    def as_dict(self) -> dict[str, Any]:
        return {name: [int(value) if value == int(value) and kind_of(name) == "count" else value
                       for value in values] for name, values in self.levels.items()}


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
        """Predict rows of nodes and settings, in the order of the grid."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The coefficients in the form of the model file."""

    def predict(
        self, nodes: npt.ArrayLike, cores: npt.ArrayLike | None = None,
        cap_w: npt.ArrayLike | None = None, extrapolate: bool = False, **others: npt.ArrayLike,
    ) -> Prediction:
        """Predict configurations, with wider intervals outside of what was measured.

        What a model is asked by are the names of its grid. More than twice outside of it is refused
        unless the caller wants to `extrapolate`.
        """
        given: dict[str, Any] = {"nodes": nodes, "cores": cores, "cap_w": cap_w, **others}
        rows = self._rows({name: value for name, value in given.items() if value is not None})
        outside = [self.grid.outside(row) for row in rows.tolist()]
        far = [one for each in outside for one in each if one.factor > FURTHEST]
        if far and not extrapolate:
            raise InputError(f"{far[0]}; a model is not asked beyond {FURTHEST:g} times what was "
                             f"measured: measure nearer, or extrapolate (--extrapolate)")
        predicted = self.predict_points(rows)
        wider = np.array([widening(each) for each in outside]) / Z_90
        return replace(predicted, time_sd=predicted.time_sd + wider,
                       power_sd=predicted.power_sd + wider)

    def _rows(self, given: Mapping[str, npt.ArrayLike]) -> FloatArray:
        """What is asked, one row each, in the order of the grid."""
        names = self.grid.names
        missing = [name for name in names if name not in given]
        strange = [name for name in given if name not in names]
        if missing or strange:
            wrong = f"give {missing[0]} too" if missing else f"it knows nothing of {strange[0]}"
            raise InputError(f"the model of '{self.application}' is asked by {', '.join(names)}; "
                             + wrong)
        rows = np.stack(np.broadcast_arrays(*(np.atleast_1d(np.asarray(given[name], np.float64))
                                              for name in names)), axis=1)
        if not np.all(np.isfinite(rows) & (rows > 0)):
            raise InputError(f"{', '.join(names)} must be numbers greater than 0")
        return rows

    def table(self, margin: float = 0.0, grid: Grid | None = None) -> ConfigurationTable:
        """The predicted table over a grid, that of the training if none is given.

        `margin` is a part of the predicted power that is added to it.
        """
        if not 0 <= margin < 10:
            raise InputError(f"the safety margin is {margin:g}; write it like 0.15 or 15%")
        points = (grid or self.grid).points()
        predicted = self.predict_points(points)
        return ConfigurationTable(
            self.application, points[:, 0].astype(np.int64),
            {name: points[:, at].copy() for at, name in enumerate(self.grid.names) if at},
            predicted.time_s, predicted.power_w * (1.0 + margin), "predicted", self.note,
        )


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
