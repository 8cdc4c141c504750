"""The terms of the capping model: smooth trends, the two special cases, and small corrections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from wattline.model.signal import FloatArray
from wattline.physics.regression.base import Grid

_NONE = 1e-12
SMOOTH = 0.03
"""Over which ratio (3 %) a cap goes from not felt to binding; sharper cannot be measured."""


class Prior(NamedTuple):
    """What we believe of a coefficient before any measurement."""

    name: str
    mean: float
    sd: float
    group: str = ""
    """`bend`: curvature, which some applications lack; `top`: the uncapped mode; `overhead`: time
    that no core and no watt makes shorter; `packed`: known only where some sockets idle."""


# Middle and width over the applications of the public tables (`scripts/learn_priors.py`), except
# for the levels and the overhead, which are wide guesses.

# The logarithm of the power that one socket would draw if it were not capped (its demand), around
# all cores of the middle node count; and the limit that a cap sets.
POWER_PRIORS: tuple[Prior, ...] = (
    Prior("level", 0.0, 0.5),
    Prior("cores", 0.62, 0.125),
    Prior("nodes", -0.02, 0.075, "bend"),
    Prior("cores_cores", 0.11, 0.06, "bend"),
    Prior("cores_nodes", -0.02, 0.06, "bend"),
    Prior("nodes_nodes", 0.0, 0.05, "bend"),
    Prior("top", 0.22, 0.03, "top"),
    Prior("top_cores", -0.04, 0.03, "top"),
    Prior("top_nodes", -0.02, 0.03, "top"),
    Prior("full", -0.01, 0.02, "bend"),
    Prior("limit", 0.09, 0.071),
    Prior("idle", -1.06, 0.15, "packed"),
)
LIMIT = 10
"""Place of the limit's coefficient: by which ratio measured power may exceed the cap (memory)."""
IDLE = 11
"""Place of an idle socket's power, beside that of one with all cores busy."""
LEVEL_OF_TOP_CAP = 0.65
"""A socket with all cores busy and no turbo draws about this part of its highest cap."""

TIME_PRIORS: tuple[Prior, ...] = (
    Prior("level", 0.0, 2.0),
    Prior("cores", -0.87, 0.2),
    Prior("nodes", -0.93, 0.25),
    Prior("cores_cores", 0.03, 0.1, "bend"),
    Prior("cores_nodes", 0.07, 0.084, "bend"),
    Prior("nodes_nodes", 0.01, 0.093, "bend"),
    Prior("top", -0.11, 0.04, "top"),
    Prior("top_cores", 0.09, 0.055, "top"),
    Prior("top_nodes", 0.02, 0.05, "top"),
    Prior("full", 0.01, 0.05, "bend"),
    Prior("throttle", 0.64, 0.256),
    Prior("throttle_full", 0.04, 0.15, "bend"),
    Prior("overhead", -2.0, 1.5, "overhead"),
    Prior("overhead_nodes", 1.0, 0.5, "overhead"),
    Prior("overhead_top", 0.0, 2.0, "overhead"),
)
OVERHEAD = 12
"""Place of the first coefficient of the overhead; those before it are of the computing part."""
NO_OVERHEAD = -30.0
"""The overhead of an application that has none: e^-30 of its computing time."""


class Slope(NamedTuple):
    """What is believed of log time, or log power, over the logarithm of a setting.

    Times and powers go at most about in proportion to nodes and settings.
    """

    mean: float = 0.0
    sd: float = 1.0


class Priors(NamedTuple):
    """What is believed of all coefficients."""

    power: tuple[Prior, ...]
    time: tuple[Prior, ...]
    power_slopes: Mapping[str, Slope] = {}
    time_slopes: Mapping[str, Slope] = {}
    """Of the smooth model, by the names of settings; of others nothing is known before."""


PARTS = ("power", "time")
"""What there are priors of."""
SHIPPED = Priors(POWER_PRIORS, TIME_PRIORS)


class Layout(NamedTuple):
    """How an application sits on a node, and what of the node's power is counted as its own."""

    packed: bool = False
    """Whether one socket is filled before the next is used; otherwise all are used alike."""
    by_share: bool = False
    """Whether the power is that of the nodes times the part of their cores that is used."""


SPREAD = Layout()


@dataclass(frozen=True)
class Frame:
    """Where the coordinates of an application have their origin."""

    grid: Grid
    sockets: int
    layout: Layout = SPREAD

    def counted(self, points: FloatArray) -> FloatArray:
        """By how many sockets' power a configuration's power is counted."""
        sockets = points[:, 0] * self.sockets
        return sockets * points[:, 1] / self.grid.cores[-1] if self.layout.by_share else sockets

    def used(self, points: FloatArray) -> FloatArray:
        """Part of the sockets of a node that work."""
        if not self.layout.packed:
            return np.ones(len(points))
        filled = points[:, 1] / self.grid.cores[-1] * self.sockets
        used: FloatArray = np.ceil(filled - 1e-9) / self.sockets
        return used

    def at(self, points: FloatArray) -> Terms:
        """The terms of these configurations."""
        used = self.used(points)
        nodes = np.log(points[:, 0]) - float(np.mean(np.log(self.grid.nodes)))
        cores = np.log(points[:, 1]) - np.log(self.grid.cores[-1])
        # The highest cap of a table means "not capped", where processors also raise their clock.
        top = (points[:, 2] >= self.grid.cap_w[-1]).astype(np.float64)
        # A node without a spare core has none for the system's own work: 16 is not like 14.
        full = (points[:, 1] >= self.grid.cores[-1]).astype(np.float64)
        return Terms(
            trends=_trends(nodes, cores, top, full),
            of_socket=_trends(nodes, cores - np.log(used), top, full),
            log_cap=np.log(points[:, 2]),
            log_used=np.log(used),
            log_unused=np.log(np.maximum(1.0 - used, _NONE)),
            level=float(np.log(LEVEL_OF_TOP_CAP * self.grid.cap_w[-1])),
        )

    def corrections(self, points: FloatArray) -> FloatArray:
        """A small free offset for each level of each axis and each pair, linear in between."""
        return corrections(self.grid, points)


@dataclass(frozen=True)
class Terms:
    """What is known of some configurations before any coefficient is.

    A search asks for the curves of the same configurations hundreds of times.
    """

    trends: FloatArray
    """The ten columns of time."""
    of_socket: FloatArray
    """Those of demand, where cores are those of a socket."""
    log_cap: FloatArray
    log_used: FloatArray
    log_unused: FloatArray
    """Of the parts of a node's sockets that work and that idle."""
    level: float

    def demand(self, power: FloatArray) -> FloatArray:
        """Log of the power of a working socket if it were not capped."""
        trend: FloatArray = self.of_socket @ power[:LIMIT]
        return trend + self.level

    def socket_power(self, power: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log of the mean power of the sockets of a node, and how it changes with each coefficient.

        One that works draws its demand, or the limit where that is lower; the others idle.
        """
        demand, limit = self.demand(power), self.log_cap + power[LIMIT]
        free = _logistic((limit - demand) / SMOOTH)
        working = limit - soft_positive(limit - demand) + self.log_used
        idle = power[IDLE] + self.level + self.log_unused
        part = _logistic(working - idle)
        slope = np.column_stack(
            [self.of_socket * (part * free)[:, None], part * (1.0 - free), 1.0 - part])
        return np.logaddexp(working, idle), slope

    def of_time(self, power: FloatArray) -> FloatArray:
        """The trends, and how far the demand exceeds the limit, which is what slows a job."""
        over = soft_positive(self.demand(power) - (self.log_cap + power[LIMIT]))
        return np.column_stack([self.trends, over, over * self.trends[:, 9]])


def log_time(terms: FloatArray, time: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log of the time, computing and overhead together, and how it changes with each coefficient;
    from the terms of time."""
    compute = terms @ time[:OVERHEAD]
    extra = np.stack([np.ones(len(terms)), terms[:, 2], terms[:, 6]], axis=1)
    # The overhead is measured against the computing time at the origin.
    ratio = extra @ time[OVERHEAD:] + time[0] - compute
    share = _logistic(ratio)
    slope = np.hstack([terms * (1.0 - share)[:, None], extra * share[:, None]])
    slope[:, 0] = 1.0
    return compute + np.logaddexp(0.0, ratio), slope


def _logistic(value: FloatArray) -> FloatArray:
    """From 0 to 1; beyond 50 to either side it is there but for rounding, and e^-value may be more
    than a float holds."""
    share: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(value, -50.0, 50.0)))
    return share


def _trends(
    nodes: FloatArray, cores: FloatArray, top: FloatArray, full: FloatArray
) -> FloatArray:
    return np.stack([np.ones(len(nodes)), cores, nodes, cores * cores, cores * nodes, nodes * nodes,
                     top, top * cores, top * nodes, full], axis=1)


def corrections(grid: Grid, points: FloatArray) -> FloatArray:
    """A small free offset for each level of each axis and each pair, linear in between."""
    axes = [_hats(np.log(points[:, i]), np.log(levels)) for i, levels in
            enumerate(grid.levels.values())]
    pairs = [_outer(first, second) * np.sqrt(0.5) for first, second in combinations(axes, 2)]
    return np.hstack([*axes, *pairs])


def soft_positive(excess: FloatArray) -> FloatArray:
    """max(0, excess), rounded at the corner."""
    rounded: FloatArray = SMOOTH * np.logaddexp(0.0, excess / SMOOTH)
    return rounded


def _hats(values: FloatArray, levels: FloatArray) -> FloatArray:
    if len(levels) < 2:
        return np.zeros((len(values), 0))
    identity = np.eye(len(levels))
    return np.stack([np.interp(values, levels, row) for row in identity], axis=1)


def _outer(first: FloatArray, second: FloatArray) -> FloatArray:
    return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
