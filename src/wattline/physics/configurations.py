"""A configuration: how many nodes, cores on each, and watts for each socket; and tables of them.

A job that can be started in several configurations (a moldable job) is described by a table: for
each configuration the time and the power of the whole job, measured or predicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray


@dataclass(frozen=True)
class Configuration:
    """One way to run an application, with what it costs in time and power."""

    nodes: int
    cores: int
    """Cores in use on each node."""
    cap_w: float
    """Power cap of each processor package; the highest of a table stands for "not capped"."""
    time_s: float
    power_w: float
    """Of all nodes of the job together."""

    @property
    def label(self) -> str:
        return f"({self.nodes} x {self.cores}, {self.cap_w:g} W)"

    def as_dict(self) -> dict[str, float]:
        return {"nodes": self.nodes, "cores": self.cores, "cap_w": self.cap_w,
                "time_s": self.time_s, "power_w": self.power_w}


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """The configurations of one application, one row each, sorted by nodes, cores and cap."""

    application: str
    nodes: IntArray
    cores: IntArray
    cap_w: FloatArray
    time_s: FloatArray
    power_w: FloatArray
    source: str = "measured"
    """`measured` or `predicted`."""
    note: str = ""
    """What a user must know of these figures, where there is something."""
    of_ranks: bool = False
    """Whether `cores` are ranks of MPI: processes that a library pins, and not threads."""

    def __post_init__(self) -> None:
        count = len(self.nodes)
        if count == 0:
            raise InputError(f"'{self.application}' has no configurations")
        for name in ("nodes", "cores", "cap_w", "time_s", "power_w"):
            values = getattr(self, name)
            if values.shape != (count,):
                raise InputError(f"'{self.application}': {name} has {values.size} values, "
                                 f"expected {count}")
            bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
            if bad.size:
                raise InputError(f"'{self.application}': {name} of configuration {bad[0] + 1} is "
                                 f"{values[bad[0]]}, must be greater than 0")
            values.setflags(write=False)

    @classmethod
    def build(
        cls,
        application: str,
        nodes: npt.ArrayLike,
        cores: npt.ArrayLike,
        cap_w: npt.ArrayLike,
        time_s: npt.ArrayLike,
        power_w: npt.ArrayLike,
        source: str = "measured",
        note: str = "",
        of_ranks: bool = False,
    ) -> ConfigurationTable:
        """Make a table from columns; repeated configurations are reduced to their medians."""
        columns = [
            np.asarray(nodes, dtype=np.int64),
            np.asarray(cores, dtype=np.int64),
            np.asarray(cap_w, dtype=np.float64),
            np.asarray(time_s, dtype=np.float64),
            np.asarray(power_w, dtype=np.float64),
        ]
        if columns[0].size == 0:
            raise InputError(f"'{application}' has no configurations")
        keys = np.stack([column.astype(np.float64) for column in columns[:3]], axis=1)
        unique, group = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])
        return cls(
            application,
            unique[:, 0].astype(np.int64),
            unique[:, 1].astype(np.int64),
            unique[:, 2].copy(),
            np.array([np.median(columns[3][part]) for part in parts]),
            np.array([np.median(columns[4][part]) for part in parts]),
            source,
            note,
            of_ranks,
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def row(self, index: int) -> Configuration:
        return Configuration(
            int(self.nodes[index]), int(self.cores[index]), float(self.cap_w[index]),
            float(self.time_s[index]), float(self.power_w[index]),
        )

    def take(self, rows: npt.NDArray[Any]) -> ConfigurationTable:
        """The table of these rows (indices or a mask)."""
        return ConfigurationTable(
            self.application, self.nodes[rows].copy(), self.cores[rows].copy(),
            self.cap_w[rows].copy(), self.time_s[rows].copy(), self.power_w[rows].copy(),
            self.source, self.note, self.of_ranks,
        )

    def up_to(self, nodes: int) -> ConfigurationTable:
        """Only configurations of at most this many nodes."""
        kept = self.nodes <= nodes
        if not kept.any():
            raise InputError(f"'{self.application}' needs at least {self.nodes.min()} nodes, "
                             f"{nodes} are allowed")
        return self.take(kept)
