"""Fewer new nodes or more older ones, for the same money and the same watts (chapter 4).

A worst-case machine has as many high-end nodes as the power budget can feed at their maximum. For
the same cost an overprovisioned machine has more nodes of the older generation, run below their
maximum. Which is faster depends on how the workload scales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.scaling import Curve


@dataclass(frozen=True)
class PurchaseTerms:
    """What the site may use, and the two kinds of node on offer."""

    power_w: float
    node_power_w_max: float
    """Of the high-end node, by its ratings."""
    node_power_w_min: float
    """Of the older node, idle."""
    cost_ratio: float
    """Price of a high-end node for each unit that an older one costs, racks included; above 1."""
    speed_ratio: float
    """By which fraction the time on one high-end node is below that on an older one."""

    def __post_init__(self) -> None:
        for name in ("power_w", "node_power_w_max", "node_power_w_min", "cost_ratio"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value:g}, must be greater than 0")
        if self.cost_ratio <= 1:
            raise InputError(f"cost_ratio is {self.cost_ratio:g}, must be above 1: a high-end node "
                             "costs more than an older one")
        if not 0 <= self.speed_ratio < 1:
            raise InputError(f"speed_ratio is {self.speed_ratio:g}, must be from 0 to below 1: "
                             "the part of the time that the faster node saves")
        if self.node_power_w_min > self.node_power_w_max:
            raise InputError(f"an older node draws {self.node_power_w_min:g} W idle and a high-end "
                             f"one {self.node_power_w_max:g} W at most; the first must not be "
                             "above the second")
        if self.node_power_w_max > self.power_w:
            raise InputError(f"a budget of {self.power_w:g} W cannot feed one node of "
                             f"{self.node_power_w_max:g} W")


@dataclass(frozen=True)
class PurchaseComparison:
    """The two machines and the times of the workload on them."""

    n_wc: int
    n_lim: int
    c_wc: float
    n_ovp: int
    t_ovp_s: float
    t_wc_s: float

    @property
    def s_ovp(self) -> float:
        """Above 1 the overprovisioned machine is faster."""
        return self.t_wc_s / self.t_ovp_s

    def as_dict(self) -> dict[str, float]:
        return {"n_wc": self.n_wc, "n_lim": self.n_lim, "c_wc": self.c_wc, "n_ovp": self.n_ovp,
                "t_ovp_s": self.t_ovp_s, "t_wc_s": self.t_wc_s, "s_ovp": self.s_ovp}


def compare(budget: PurchaseTerms, curve: Curve) -> PurchaseComparison:
    """Equations 4.1 to 4.7, node counts rounded down to whole nodes."""
    n_wc, n_lim, c_wc = _counts(budget)
    n_ovp = min(n_lim, _whole(c_wc))
    t_ovp_s = curve.under(budget.power_w, budget.node_power_w_min).time_s(n_ovp)
    # Each high-end node may draw its maximum at any time, so nothing holds these back.
    t_wc_s = curve.under(math.inf).time_s(n_wc) * (1.0 - budget.speed_ratio)
    return PurchaseComparison(n_wc, n_lim, c_wc, n_ovp, t_ovp_s, t_wc_s)


def _counts(budget: PurchaseTerms) -> tuple[int, int, float]:
    """High-end nodes, older ones that the budget can keep on, and what the former cost in them."""
    n_wc = _whole(budget.power_w / budget.node_power_w_max)
    return (n_wc, _whole(budget.power_w / budget.node_power_w_min),
            round(n_wc * budget.cost_ratio, 9))


class Crossing(NamedTuple):
    """Where the gain passes 1, and whether it is above 1 from there on or below."""

    value: float
    rises: bool


@dataclass(frozen=True, eq=False)
class Sweep:
    """How the gain changes with one parameter, the others held."""

    parameter: str
    values: FloatArray
    s_ovp: FloatArray
    """NaN where the model does not hold."""
    here: float
    """The value that was asked about."""
    in_steps: bool = False
    """Whether the gain keeps its value from one point to the next, as whole nodes do."""

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Every value at which the gain passes 1: at a step, or between points by a line."""
        known = np.flatnonzero(np.isfinite(self.s_ovp))
        above = self.s_ovp[known] >= 1.0
        found = []
        for at in np.flatnonzero(above[1:] != above[:-1]):
            i, j = known[at], known[at + 1]
            value = self.values[j]
            if not self.in_steps:
                part = (1.0 - self.s_ovp[i]) / (self.s_ovp[j] - self.s_ovp[i])
                value = self.values[i] + part * (self.values[j] - self.values[i])
            found.append(Crossing(float(value), rises=bool(above[at + 1])))
        return tuple(found)

    @property
    def nearest(self) -> Crossing | None:
        """The crossing next to the value that was asked about; there may be others."""
        return min(self.crossings, key=lambda one: abs(one.value - self.here), default=None)

    @property
    def break_even(self) -> float | None:
        return None if self.nearest is None else self.nearest.value


_MOST_STEPS = 2000
PARAMETERS = ("cost_ratio", "power_w", "speed_ratio")


def sweep(budget: PurchaseTerms, curve: Curve, parameter: str, points: int = 121) -> Sweep:
    """The gain over the range of one parameter that the study plots."""
    ranges = {
        "cost_ratio": np.linspace(1.0, max(3.0, 1.5 * budget.cost_ratio), points),
        "power_w": np.linspace(max(0.5 * budget.power_w, budget.node_power_w_max),
                               1.5 * budget.power_w, points),
        "speed_ratio": np.linspace(0.0, 0.6, points),
    }
    values = np.union1d(ranges[parameter], _steps(budget, parameter, ranges[parameter]))
    if parameter == "power_w":
        values = np.union1d(values, _steps_of_times(budget, curve, values))
    gains = []
    for value in values:
        try:
            changed = replace(budget, **{parameter: float(value)})
            gains.append(compare(changed, curve).s_ovp)
        except InputError:
            gains.append(math.nan)
    return Sweep(parameter, values, np.array(gains), getattr(budget, parameter),
                 in_steps=parameter != "speed_ratio")


def _steps(budget: PurchaseTerms, parameter: str, over: FloatArray) -> FloatArray:
    """Values of a parameter at which a machine gains a whole node, within a range."""
    if parameter == "speed_ratio":
        return np.array([])
    if parameter == "cost_ratio":
        widths = [1.0 / _whole(budget.power_w / budget.node_power_w_max)]
    else:
        widths = [budget.node_power_w_max, budget.node_power_w_min]
    steps = []
    for width in widths:
        first, last = math.ceil(over[0] / width), math.floor(over[-1] / width)
        if last - first < _MOST_STEPS:  # with more nodes than that, one more changes nothing
            steps.append(np.arange(first, last + 1) * width)
    return np.concatenate([np.array([]), *steps])


def _steps_of_times(budget: PurchaseTerms, curve: Curve, values: FloatArray) -> FloatArray:
    """Budgets at which the time on as many nodes as they buy changes, within these."""
    found: list[FloatArray] = [np.array([])]
    known: dict[int, FloatArray] = {}
    for low, high in pairwise(values):
        _, n_lim, c_wc = _counts(replace(budget, power_w=float(low)))
        nodes = min(n_lim, _whole(c_wc))
        if nodes not in known:
            known[nodes] = curve.under(float(low), budget.node_power_w_min).steps_w(nodes)
        found.append(known[nodes][(known[nodes] > low) & (known[nodes] < high)])
    return np.concatenate(found)


@dataclass(frozen=True)
class Rack:
    """The effective price of nodes once racks, switches and supplies are paid (section 4.4.2)."""

    nodes_per_rack: int = 16
    rack_cost: float = 12_000.0
    """Switch, supplies and the rest of an empty rack."""
    new_node_cost: float = 3_300.0
    old_node_cost: float = 1_700.0

    def __post_init__(self) -> None:
        if self.nodes_per_rack < 1:
            raise InputError(f"nodes_per_rack is {self.nodes_per_rack}, must be at least 1")
        if self.rack_cost < 0 or self.new_node_cost <= 0 or self.old_node_cost <= 0:
            raise InputError("costs of nodes must be above 0, that of a rack not below 0")

    def cost(self, nodes: int, node_cost: float) -> float:
        racks = -(-nodes // self.nodes_per_rack)
        return nodes * node_cost + racks * self.rack_cost

    def nodes_for(self, money: float, node_cost: float) -> int:
        """How many nodes this buys, each begun rack paid in full."""
        full_rack = self.nodes_per_rack * node_cost + self.rack_cost
        racks = int(money // full_rack)
        rest = money - racks * full_rack
        extra = max(0, int((rest - self.rack_cost) // node_cost))
        return racks * self.nodes_per_rack + min(extra, self.nodes_per_rack)

    def ratio(self, new_nodes: int | None = None) -> float:
        """Effective price of a new node over that of an old one.

        For a machine of this many new nodes, with the last racks as full as the money allows; or
        with full racks only, as on a large machine.
        """
        if new_nodes is None:
            share = self.rack_cost / self.nodes_per_rack
            return (self.new_node_cost + share) / (self.old_node_cost + share)
        money = self.cost(new_nodes, self.new_node_cost)
        old_nodes = self.nodes_for(money, self.old_node_cost)
        if old_nodes < 1:
            raise InputError(f"what {new_nodes} new nodes cost does not buy one old node")
        return (money / new_nodes) / self.average_cost(old_nodes)

    def average_cost(self, old_nodes: int) -> float:
        """Mean price over racks, as the study takes it: each rack's price per node, averaged."""
        full, extra = divmod(old_nodes, self.nodes_per_rack)
        prices = [self.old_node_cost + self.rack_cost / self.nodes_per_rack] * full
        if extra:
            prices.append(self.old_node_cost + self.rack_cost / extra)
        return sum(prices) / len(prices)


def _whole(nodes: float) -> int:
    """Whole nodes; a hair below a whole number is rounding of the division, not a missing node."""
    return math.floor(nodes + 1e-9)
