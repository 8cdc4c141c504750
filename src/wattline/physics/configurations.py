"""A configuration: how many nodes, and how each is set; and tables of them.

A job that can be started in several configurations (a moldable job) is described by a table: for
each configuration the time and the power of the whole job, measured or predicted. What is set on a
node the table names: cores and a cap for each socket, GPUs and their cap, a frequency.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.physics.dimensions import kind_of, label

BoolArray = npt.NDArray[np.bool_]
MEASURED, PREDICTED, PARTLY = "measured", "predicted", "partly measured"


@dataclass(frozen=True)
class Configuration:
    """One way to run an application, with what it costs in time and power."""

    nodes: int
    settings: dict[str, float]
    """By name, like `cores` or `gpu_cap_w`; counts are of a node, caps of each device."""
    time_s: float
    power_w: float
    """Of all nodes of the job together."""
    runs: int = 1
    """Of how many measurements these are the medians; 0 where they are predicted."""
    time_spread: float = 1.0
    """The longest of those over the shortest."""
    power_spread: float = 1.0

    @property
    def cores(self) -> int:
        """Cores in use on each node."""
        return int(self.settings["cores"])

    @property
    def cap_w(self) -> float:
        """Power cap of each processor package; the highest of a table stands for "not capped"."""
        return self.settings["cap_w"]

    @property
    def label(self) -> str:
        return label(self.nodes, self.settings)

    @property
    def basis(self) -> str:
        """Basis of this configuration: measured, or predicted by a model."""
        return MEASURED if self.runs else PREDICTED

    def as_dict(self) -> dict[str, float]:
        found: dict[str, float] = {
            "nodes": self.nodes,
            **{name: int(value) if kind_of(name) == "count" and value == int(value) else value
               for name, value in self.settings.items()},
            "time_s": self.time_s, "power_w": self.power_w,
        }
        if self.runs > 1:
            found |= {"runs": self.runs, "time_spread": self.time_spread,
                      "power_spread": self.power_spread}
        return found


@dataclass(frozen=True, eq=False)
class Runs:
    """How many runs each row of a table is the median of, and how far apart they were."""

    count: IntArray
    time_spread: FloatArray
    power_spread: FloatArray

    def take(self, rows: npt.NDArray[Any]) -> Runs:
        return Runs(self.count[rows], self.time_spread[rows], self.power_spread[rows])


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """The configurations of one application, one row each, sorted by nodes and settings."""

    application: str
    nodes: IntArray
    settings: Mapping[str, FloatArray]
    """By name, in the order of the table."""
    time_s: FloatArray
    power_w: FloatArray
    source: str = MEASURED
    """`measured`, `predicted`, or `partly measured`: then runs are 0 where it is predicted."""
    note: str = ""
    """What a user must know of these figures, where there is something."""
    of_ranks: bool = False
    """Whether `cores` are ranks of MPI: processes that a library pins, and not threads."""
    runs: Runs | None = field(default=None)
    """None where the figures are predicted, or come from where nothing is known of runs."""
    power_scope: str = ""
    """Of what the watts are: `devices`, `node` or `wall`; empty where nobody said."""

    def __post_init__(self) -> None:
        count = len(self.nodes)
        if count == 0:
            raise InputError(f"'{self.application}' has no configurations")
        for name, values in self._columns().items():
            if values.shape != (count,):
                raise InputError(f"'{self.application}': {name} has {values.size} values, "
                                 f"expected {count}")
            bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
            if bad.size:
                raise InputError(f"'{self.application}': {name} of configuration {bad[0] + 1} is "
                                 f"{values[bad[0]]}, must be greater than 0")
            values.setflags(write=False)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {"nodes": self.nodes, **self.settings, "time_s": self.time_s,
                "power_w": self.power_w}

    @classmethod
    def build(
        cls,
        application: str,
        nodes: npt.ArrayLike,
        cores: npt.ArrayLike,
        cap_w: npt.ArrayLike,
        time_s: npt.ArrayLike,
        power_w: npt.ArrayLike,
        source: str = MEASURED,
        note: str = "",
        of_ranks: bool = False,
    ) -> ConfigurationTable:
        """A table of nodes, cores and a cap for each socket."""
        return cls.of(application, nodes, {"cores": cores, "cap_w": cap_w}, time_s, power_w,
                      source=source, note=note, of_ranks=of_ranks)

    @classmethod
    def of(
        cls,
        application: str,
        nodes: npt.ArrayLike,
        settings: Mapping[str, npt.ArrayLike],
        time_s: npt.ArrayLike,
        power_w: npt.ArrayLike,
        *,
        source: str = MEASURED,
        note: str = "",
        of_ranks: bool = False,
        power_scope: str = "",
    ) -> ConfigurationTable:
        """Make a table from columns; repeated configurations are reduced to their medians."""
        keys = [np.asarray(column, dtype=np.float64) for column in (nodes, *settings.values())]
        times, powers = (np.asarray(column, dtype=np.float64) for column in (time_s, power_w))
        if keys[0].size == 0:
            raise InputError(f"'{application}' has no configurations")
        unique, group = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])
        return cls(
            application,
            unique[:, 0].astype(np.int64),
            {name: unique[:, at + 1].copy() for at, name in enumerate(settings)},
            np.array([np.median(times[part]) for part in parts]),
            np.array([np.median(powers[part]) for part in parts]),
            source,
            note,
            of_ranks,
            _runs(parts, times, powers) if source == MEASURED else None,
            power_scope,
        )

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the settings."""
        return tuple(self.settings)

    @property
    def cores(self) -> IntArray:
        return self._setting("cores").astype(np.int64)

    @property
    def cap_w(self) -> FloatArray:
        return self._setting("cap_w")

    def _setting(self, name: str) -> FloatArray:
        if name not in self.settings:
            raise InputError(f"'{self.application}' has no column '{name}'; its configurations are "
                             f"set by {', '.join(('nodes', *self.names))}")
        return self.settings[name]

    @property
    def measured_rows(self) -> BoolArray:
        """Mask of the rows that are measured; the others are predicted."""
        if self.runs is None:
            return np.full(len(self), self.source == MEASURED)
        return np.asarray(self.runs.count > 0)

    def points(self) -> FloatArray:
        """One row per configuration: nodes, then the settings."""
        return np.stack([self.nodes, *self.settings.values()], axis=1).astype(np.float64)

    def set_like(self, wanted: Mapping[str, float]) -> BoolArray:
        """The rows with these settings."""
        rows: BoolArray = np.ones(len(self), dtype=bool)
        for name, value in wanted.items():
            rows &= self._setting(name) == value
        return rows

    def extreme(self, packed: bool, fast: bool) -> dict[str, float]:
        """All or the fewest of what can be counted on a node, the highest or the lowest caps."""
        return {name: float((values.max if (packed if kind_of(name) == "count" else fast)
                             else values.min)()) for name, values in self.settings.items()}

    def row(self, index: int) -> Configuration:
        runs = self.runs
        return Configuration(
            int(self.nodes[index]),
            {name: float(values[index]) for name, values in self.settings.items()},
            float(self.time_s[index]), float(self.power_w[index]),
            *((int(self.source == MEASURED),) if runs is None else
              (int(runs.count[index]), float(runs.time_spread[index]),
               float(runs.power_spread[index]))),
        )

    def take(self, rows: npt.NDArray[Any]) -> ConfigurationTable:
        """The table of these rows (indices or a mask)."""
        return replace(
            self, nodes=self.nodes[rows].copy(),
            settings={name: values[rows].copy() for name, values in self.settings.items()},
            time_s=self.time_s[rows].copy(), power_w=self.power_w[rows].copy(),
            runs=None if self.runs is None else self.runs.take(rows),
        )

    def filled_by(self, predicted: ConfigurationTable) -> ConfigurationTable:
        """The predicted table, with these measurements where it has the same configurations."""
        place = {point: at for at, point in enumerate(map(tuple, self.points().tolist()))}
        mine = [place.get(point, -1) for point in map(tuple, predicted.points().tolist())]
        rows = np.array(mine, dtype=np.int64)
        there = rows >= 0
        if not there.any() or self.names != predicted.names:
            return predicted
        runs = self.runs
        ones = np.ones(len(self))
        known = (ones.astype(np.int64), ones, ones) if runs is None else (
            runs.count, runs.time_spread, runs.power_spread)
        return replace(
            predicted, source=MEASURED if there.all() else PARTLY,
            time_s=np.where(there, self.time_s[rows], predicted.time_s),
            power_w=np.where(there, self.power_w[rows], predicted.power_w),
            runs=Runs(np.where(there, known[0][rows], 0), np.where(there, known[1][rows], 1.0),
                      np.where(there, known[2][rows], 1.0)))

    def up_to(self, nodes: int) -> ConfigurationTable:
        """Only configurations of at most this many nodes."""
        kept = self.nodes <= nodes
        if not kept.any():
            raise InputError(f"'{self.application}' needs at least {self.nodes.min()} nodes, "
                             f"{nodes} are allowed")
        return self.take(kept)


def _runs(parts: Sequence[IntArray], times: FloatArray, powers: FloatArray) -> Runs:
    def spread(values: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):  # what is not above 0 is refused later
            return np.array([values[part].max() / values[part].min() for part in parts])

    return Runs(np.array([len(part) for part in parts], dtype=np.int64), spread(times),
                spread(powers))
