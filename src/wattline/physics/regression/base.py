"""What every model of time and power has in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import PREDICTED, BoolArray, ConfigurationTable
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
    measured: BoolArray | None = None
    """True where time and power are not predicted, but measured in just that configuration."""


def interval_90(value: float, sd: float) -> tuple[float, float]:
    """From where to where 90 % lie, by the standard deviation of the logarithm."""
    return float(value * math.exp(-Z_90 * sd)), float(value * math.exp(Z_90 * sd))


@dataclass(frozen=True)
class QuantityErrors:
    """Relative errors of one quantity, as fractions."""

    median: float
    p90: float
    """Nine of ten are no larger."""

    @classmethod
    def of(cls, ratio: FloatArray) -> QuantityErrors:
        """From predicted over measured."""
        size = np.abs(ratio - 1.0)
        return cls(float(np.median(size)), float(np.quantile(size, 0.9)))


@dataclass(frozen=True)
class ModelErrors:
    """Errors of a model in configurations that it has not seen, by cross-validation."""

    time: QuantityErrors
    power: QuantityErrors
    configurations: int
    """So many were predicted, each by a model of the same kind that was trained without it."""
    folds: int

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "method": "cross-validation"}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ModelErrors:
        time, power = (QuantityErrors(float(stored[name]["median"]), float(stored[name]["p90"]))
                       for name in ("time", "power"))
        return cls(time, power, int(stored["configurations"]), int(stored["folds"]))

    def __str__(self) -> str:
        parts = [f"{name} {errors.median:.1%} (median), {errors.p90:.1%} (90 %)"
                 for name, errors in (("time", self.time), ("power", self.power))]
        return f"errors of the model in cross-validation: {'; '.join(parts)}"


@dataclass(frozen=True, eq=False)
class Known:
    """Errors and measured cells that a model's file holds beside its coefficients."""

    errors: ModelErrors | None = None
    cells: ConfigurationTable | None = None
    """The measured configurations, which no prediction replaces."""


UNKNOWN = Known()


@dataclass(frozen=True, eq=False)
class _Trained:
    """Facts that all models keep of the table that they were trained on."""

    power_scope: str = field(default="", kw_only=True)
    """Of what the predicted watts are: `devices`, `node` or `wall`."""
    known: Known = field(default=UNKNOWN, kw_only=True)


class Model(_Trained, ABC):
    """Time and power of one application as functions of its configuration."""

    kind: str
    application: str
    grid: Grid
    trained_on: int
    note: str
    """What a user must know of the figures it was trained on."""

    @abstractmethod
    def predict_points(self, points: FloatArray) -> Prediction:
        """Predict rows of nodes and settings, in the order of the grid, measured or not."""

    def answer(self, points: FloatArray) -> Prediction:
        """Measurements where there are any, predictions in between.

        Around a measurement the interval is as wide as around the prediction: a further run differs
        too, and by how much is seldom measured.
        """
        predicted = self.predict_points(points)
        table = self._table(points, predicted)
        return replace(predicted, time_s=table.time_s, power_w=table.power_w,
                       measured=table.measured_rows)

    def _table(self, points: FloatArray, predicted: Prediction) -> ConfigurationTable:
        made = ConfigurationTable(
            self.application, points[:, 0].astype(np.int64),
            {name: points[:, at].copy() for at, name in enumerate(self.grid.names) if at},
            predicted.time_s, predicted.power_w, PREDICTED, self.note, power_scope=self.power_scope)
        return made if self.known.cells is None else self.known.cells.filled_by(made)

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
        predicted = self.answer(rows)
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
        """The table over a grid, that of the training if none is given; measured where it was.

        `margin` is a part of the predicted power that is added to it.
        """
        if not 0 <= margin < 10:
            raise InputError(f"the safety margin is {margin:g}; write it like 0.15 or 15%")
        points = (grid or self.grid).points()
        predicted = self.predict_points(points)
        reserved = replace(predicted, power_w=predicted.power_w * (1.0 + margin))
        return self._table(points, reserved)


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
