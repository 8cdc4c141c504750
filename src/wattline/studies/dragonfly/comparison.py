"""What is said of the times of many workloads: who is faster, and where nobody is.

It stands apart from what makes the times, so that a change here leaves runs of hours valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.analysis.intervals import half_interval
from wattline.model.signal import FloatArray

TIE = 1e-9
"""Times that differ by no more than this part, to either side, are equal but for rounding: flows of
the same jobs on the same routers are added up in another order."""


@dataclass(frozen=True, eq=False)
class PlacementComparison:
    """Times of every workload (row) under every policy (column): small jobs, large jobs."""

    policies: tuple[str, ...]
    time_s: FloatArray
    """Axes: workload, policy, small or large."""
    waited_node_s: FloatArray
    """Axes: workload, policy."""
    node_s: FloatArray
    """Axes: workload, policy."""

    def against(self, others: Sequence[str]) -> dict[str, float]:
        """How Level-Spread does against these, each workload and each of them being a case.

        The four quadrants of the published figures, in which both kinds of jobs differ, and the
        cases in which one kind takes as long add up to all cases.
        """
        own = self.time_s[:, self.policies.index("level-spread")]
        columns = [self.policies.index(other) for other in others]
        reduction = 1.0 - own[:, None] / self.time_s[:, columns]
        reduction[np.abs(reduction) <= TIE] = 0.0
        small, large = reduction[..., 0], reduction[..., 1]
        better, worse = (small > 0) & (large > 0), (small < 0) & (large < 0)
        return {
            "strictly_better": float(better.mean()),
            "strictly_better_error": _error(better),
            "strictly_worse": float(worse.mean()),
            "strictly_worse_error": _error(worse),
            "only_small_better": float(((small > 0) & (large < 0)).mean()),
            "only_large_better": float(((small < 0) & (large > 0)).mean()),
            "tied": float(((small == 0) | (large == 0)).mean()),
            "tied_else_better": float(((small * large == 0) & (small + large > 0)).mean()),
            "tied_else_worse": float(((small * large == 0) & (small + large < 0)).mean()),
            "mean_reduction": float(reduction.mean()),
            "mean_reduction_error": _error(reduction),
            "max_reduction": float(reduction.max()),
        }

    def relative(self) -> dict[str, tuple[float, float]]:
        """Geometric mean time of small and large jobs, Level-Spread being 1."""
        own = self.time_s[:, [self.policies.index("level-spread")]]
        means = np.exp(np.log(self.time_s / own).mean(axis=0))
        return {name: (float(means[i, 0]), float(means[i, 1]))
                for i, name in enumerate(self.policies)}


def _error(of_cases: Any) -> float:
    """Half of the 95 % interval of a mean over cases, of which those of one workload (row) are
    alike and so count as one; 0 where there is one workload."""
    means = of_cases.reshape(len(of_cases), -1).mean(axis=1)
    return half_interval(means) if len(means) > 1 else 0.0
