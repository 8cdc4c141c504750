"""Readings of all nodes at once, folded into the joules of jobs as they come.

For whoever reads a whole machine once a second: no reading is kept, only what each job has drawn.
A job holds whole nodes here; several on one node share what it draws by their weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.metering.stretches import LONGEST_GAP_S


class Folding:
    """What each job, and nobody, has drawn so far.

    >>> folding = Folding(2)
    >>> folding.hold(7, [0])
    >>> folding.read(0.0, [100.0, 50.0])
    >>> folding.read(10.0, [200.0, 50.0])
    >>> folding.energy_j(7), folding.nobody_j
    (1000.0, 500.0)
    """

    def __init__(self, nodes: int, longest_gap_s: float = LONGEST_GAP_S) -> None:
        if nodes < 1:
            raise InputError(f"{nodes} nodes are to be read, must be 1 at least")
        self._longest_s = longest_gap_s
        self._time_s = np.full(nodes, np.nan)
        self._power_w = np.full(nodes, np.nan)
        self._rows: dict[int, int] = {}
        # One entry per job and node that it holds.
        self._node: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._job: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._weight: FloatArray = np.zeros(0)
        self._new: list[tuple[int, int, float]] = []
        self._share: FloatArray = np.zeros(0)
        self._held = np.zeros(nodes, dtype=np.bool_)
        self._energy_j: FloatArray = np.zeros(0)
        self._covered_s: FloatArray = np.zeros(0)
        self.nobody_j = 0.0
        self.metered_j = 0.0

    def hold(self, job: int, nodes: Sequence[int], weight: float = 1.0) -> None:
        """From the last reading on, a job holds these nodes."""
        if not weight > 0:
            raise InputError(f"job {job} holds its nodes with weight {weight}, must be above 0")
        row = self._rows.setdefault(job, len(self._rows))
        self._new.extend((node, row, weight) for node in nodes)

    def release(self, job: int) -> None:
        """From the last reading on, a job holds nothing."""
        self._settle()
        stays = self._job != self._rows[job]
        self._node, self._job, self._weight = (
            each[stays] for each in (self._node, self._job, self._weight))
        self._divide()

    def read(self, time_s: float, power_w: npt.ArrayLike) -> None:
        """Watts of all nodes at one time, NaN where one does not answer.

        A power stands until the node's next one, for the longest gap at most.
        """
        self._settle()
        watts = np.asarray(power_w, dtype=np.float64)
        if watts.shape != self._power_w.shape:
            raise InputError(f"{watts.size} powers for {self._power_w.size} nodes")
        known = np.isfinite(watts) & (watts >= 0)
        lasts_s = time_s - self._time_s
        counts = known & (lasts_s > 0) & (lasts_s <= self._longest_s)
        lasts_s = np.where(counts, lasts_s, 0.0)
        drawn_j = np.where(counts, self._power_w, 0.0) * lasts_s
        size = self._energy_j.size
        self._energy_j += np.bincount(self._job, drawn_j[self._node] * self._share, size)
        self._covered_s += np.bincount(self._job, lasts_s[self._node], size)
        self.nobody_j += float(drawn_j[~self._held].sum())
        self.metered_j += float(drawn_j.sum())
        self._time_s = np.where(known, time_s, self._time_s)
        self._power_w = np.where(known, watts, self._power_w)

    @property
    def jobs(self) -> tuple[int, ...]:
        """All that ever held a node."""
        return tuple(self._rows)

    def energy_j(self, job: int) -> float:
        self._settle()
        return float(self._energy_j[self._rows[job]])

    def covered_s(self, job: int) -> float:
        """Node-seconds that were read."""
        self._settle()
        return float(self._covered_s[self._rows[job]])

    def _settle(self) -> None:
        """Take in the jobs that came since the last reading."""
        if not self._new:
            return
        node, job, weight = zip(*self._new, strict=True)
        self._new = []
        self._node = np.concatenate([self._node, np.array(node, dtype=np.int64)])
        self._job = np.concatenate([self._job, np.array(job, dtype=np.int64)])
        self._weight = np.concatenate([self._weight, np.array(weight, dtype=np.float64)])
        more = np.zeros(len(self._rows) - self._energy_j.size)
        self._energy_j = np.concatenate([self._energy_j, more])
        self._covered_s = np.concatenate([self._covered_s, more])
        self._divide()

    def _divide(self) -> None:
        whole = np.bincount(self._node, self._weight, self._power_w.size)
        self._held = whole > 0
        self._share = self._weight / whole[self._node]
