"""Equal processors do not draw equal power: manufacturing variability as a property of a node.

A node's factor is its power relative to the middle node when both do the same work uncapped. Under
a cap that binds, the factor turns into time: a node that needs more watts for the same clock runs
slower, and a balanced job waits for its slowest node. Two remedies: caps in proportion to the
factors, so that all nodes of a job keep the same pace within the same sum of watts; and choosing
the thriftiest of the free nodes.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.model.units import plain_number

MEASURED_SD = 0.0134
"""Standard deviation of the factors of the 138 measured nodes of one Sandy Bridge cluster."""
_FEWEST_NODES = 8
"""A run on fewer nodes has no reliable middle."""


@dataclass(frozen=True, eq=False)
class NodeFactors:
    """Power of each node relative to the middle one."""

    factor: FloatArray
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.factor.size or not np.all(np.isfinite(self.factor) & (self.factor > 0)):
            raise InputError("the factors of nodes must be numbers greater than 0")
        if self.hosts and len(self.hosts) != len(self.factor):
            raise InputError(f"{len(self.hosts)} hosts but {len(self.factor)} factors")

    @classmethod
    def drawn(cls, nodes: int, seed: int, sd: float = MEASURED_SD) -> NodeFactors:
        """Factors of a machine whose nodes were not measured, log-normal around 1."""
        if nodes < 1:
            raise InputError(f"a machine needs nodes, not {nodes}")
        if not 0 <= sd < 1:
            raise InputError(f"the spread of the factors is {sd:g}, must be from 0 to below 1")
        return cls(np.exp(sd * np.random.default_rng(seed).standard_normal(nodes)))

    def thriftiest(self, free: IntArray, count: int) -> IntArray:
        """Of the free nodes those with the lowest factors; ties in the order given."""
        if count > len(free):
            raise InputError(f"{count} nodes wanted, {len(free)} are free")
        return free[np.argsort(self.factor[free], kind="stable")[:count]]


def node_slowdown(
    demand_w: float, cap_w: FloatArray, factor: FloatArray, throttle: float = 0.9
) -> FloatArray:
    """How much longer each node takes than uncapped, when it needs `demand_w` times its factor.

    `throttle` is the exponent of the capping model: time grows as (demand / cap) to its power.
    """
    slowdown: FloatArray = np.maximum(1.0, demand_w * factor / cap_w) ** throttle
    return slowdown


def equal_caps(total_w: float, nodes: int) -> FloatArray:
    """What a site does that does not know its nodes."""
    return np.full(nodes, total_w / nodes)


def fitted_caps(total_w: float, factor: FloatArray) -> FloatArray:
    """Caps in proportion to the factors: the same sum, and every node at the same pace."""
    caps: FloatArray = total_w * factor / factor.sum()
    return caps


def read_node_factors(path: str | Path) -> NodeFactors:
    """Factors from runs with one row per node: host, run_id and the power of its two packages.

    Only runs whose cap is the highest of the file count, because a binding cap hides the
    difference; rows without a reading are left out. A node's factor is the median over its runs
    of its power over the run's median.
    """
    from wattline.physics.measurements import read_text

    reader = csv.DictReader(io.StringIO(read_text(Path(path))))
    needed = ("host", "run_id", "pkg0_w", "pkg1_w", "pkg0_limit_w", "nodes")
    missing = [name for name in needed if name not in (reader.fieldnames or ())]
    if missing:
        raise InputError(f"{path}: the table lacks the columns {', '.join(missing)}")
    runs: dict[tuple[float, str, str], dict[str, float]] = {}
    for row in reader:
        if not (row["pkg0_w"] and row["pkg1_w"] and row["pkg0_limit_w"]):
            continue  # a node whose counters were not read in that run
        try:
            power_w = plain_number(row["pkg0_w"]) + plain_number(row["pkg1_w"])
            limit_w = plain_number(row["pkg0_limit_w"])
        except (TypeError, ValueError):
            raise InputError(f"{path}, line {reader.line_num}: pkg0_w, pkg1_w and pkg0_limit_w "
                             "must be numbers") from None
        if power_w > 0:
            runs.setdefault((limit_w, row["run_id"], row["nodes"]), {})[row["host"]] = power_w
    return _factors_of_runs(runs, str(path))


def _factors_of_runs(
    runs: dict[tuple[float, str, str], dict[str, float]], where: str
) -> NodeFactors:
    large = {key: power for key, power in runs.items() if len(power) >= _FEWEST_NODES}
    if not large:
        raise InputError(f"{where}: no run has {_FEWEST_NODES} nodes or more")
    highest = max(limit for limit, _, _ in large)
    ratios: dict[str, list[float]] = {}
    for (limit, _, _), power in large.items():
        if limit == highest:
            middle = float(np.median(list(power.values())))
            for host, power_w in power.items():
                ratios.setdefault(host, []).append(power_w / middle)
    hosts = tuple(sorted(ratios))
    return NodeFactors(np.array([np.median(ratios[host]) for host in hosts]), hosts)
