"""Laying out the control desk before a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray, Signal
from wattline.policies.declaration import REGULATION
from wattline.policies.registry import choose
from wattline.policies.regulation.byqueue import ByType
from wattline.policies.regulation.desk import CONTROL, TRACE, TYPE, Desk, records
from wattline.policies.regulation.typed import of_types


@dataclass(frozen=True, eq=False)
class ContractPlan:
    """When to control, after which signal, with which bid.

    `average_w` and `reserve_w` have one value per hour; with `adaptive` they are found in the run.
    Weights are given to `make_desk`: for all hours alike, or a row per hour.
    `limit_w` is a power not to exceed, whatever the signal says.
    """

    start_s: float
    end_s: float
    signal: Signal
    average_w: FloatArray
    reserve_w: FloatArray
    start_share: FloatArray | None = None
    """The part of the power range at which starts are planned, per hour; None: 1, as published."""
    limit_w: Signal | None = None
    cycle_s: float = 1.0
    hour_s: float = 3600.0
    hour_0_s: float | None = None
    """When the first bid's hour began, before the start where that is not a whole hour; None: at
    the start."""
    directions: tuple[bool, bool] = (True, True)
    """Whether targets may lie below the average of a bid, and above it."""
    adaptive: bool = False
    preempt: bool = False
    feedback: bool = False
    sleep: bool = False
    reserve: bool = True
    own_times: bool = False
    margin: float = 0.9

    def __post_init__(self) -> None:
        if not self.start_s < self.end_s:
            raise InputError("a contract must end after it starts")
        if not self.cycle_s > 0:
            raise InputError(f"cycle_s is {self.cycle_s}, must be above 0")
        if self.average_w.size != self.hours or self.reserve_w.size != self.hours:
            raise InputError(f"a contract of {self.hours} hours needs as many bids")

    @property
    def hours(self) -> int:
        return math.ceil((self.end_s - self.first_s) / self.hour_s - 1e-9)

    @property
    def first_s(self) -> float:
        return self.start_s if self.hour_0_s is None else self.hour_0_s


def make_desk(
    plan: ContractPlan,
    types: Mapping[str, npt.ArrayLike],
    *,
    weights: npt.ArrayLike,
    standby: int,
    names: Sequence[str] = (),
) -> Desk:
    """The desk for these types: columns by name, and what each is called where that is known."""
    table = records(len(np.asarray(types["servers"])), TYPE)
    for name, values in types.items():
        table[name] = values
    by_hour = np.broadcast_to(np.asarray(weights, dtype=np.float64), (plan.hours, table.size))
    table["weight"] = by_hour[0]
    control = records(1, CONTROL)
    for name in ("start_s", "end_s", "cycle_s", "hour_s", "margin"):
        control[name] = getattr(plan, name)
    for name in ("adaptive", "preempt", "feedback", "sleep", "reserve", "own_times"):
        control[name] = int(getattr(plan, name))
    control["hour_0_s"] = plan.first_s
    control["below"], control["above"] = plan.directions
    control["standby"] = standby
    control["ratio"] = 1.0
    cycles = math.ceil((plan.end_s - plan.start_s) / plan.cycle_s - 1e-9) + 1
    times_s = plan.start_s + plan.cycle_s * np.arange(cycles)
    limit = np.full(cycles, np.inf) if plan.limit_w is None else plan.limit_w.sample(times_s)
    return Desk.start(
        {"mark": of_types(types["servers"], names)},
        types=table,
        control=control,
        level=np.ascontiguousarray(plan.signal.sample(times_s)),
        limit=np.ascontiguousarray(limit),
        average=np.array(plan.average_w, dtype=np.float64),
        reserve=np.array(plan.reserve_w, dtype=np.float64),
        weights=np.ascontiguousarray(by_hour).ravel(),
        start_shares=np.ones(plan.hours) if plan.start_share is None
        else np.array(plan.start_share, dtype=np.float64),
        trace=records(cycles, TRACE),
    )


def axes(name: str, desk: Desk) -> tuple[Any, Any]:
    """The two axes of a regulated run: the queues by type, and the rule of the contract.

    QoSG and AQA decide alike at run time; they differ in how the bid is chosen.
    """
    chosen = choose(REGULATION, name)
    return ByType(desk), chosen.declaration.make(desk, chosen.given)
