"""Small contracts of regulation: each policy of that axis, and jobs of its types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.workloads import compose
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.policies.contract import Composition
from wattline.policies.registry import built_in
from wattline.policies.regulation.setup import ContractPlan, axes, make_desk

SERVERS = 12
IDLE_W = 50.0
TYPES = {"servers": [1, 3], "time_s_min": [6.0, 12.0], "time_s_max": [12.0, 30.0],
         "power_w_max": [200.0, 180.0], "power_w_min": [120.0, 110.0], "threshold": [1.0, 2.0]}
DURATION_S = 120.0
MACHINE = Machine.uniform(SERVERS, NodeClass(power_w_idle=IDLE_W, power_w_active=200.0))
NAMES = tuple(built_in()["regulation"])


def regulated(name: str, **plan: Any) -> Composition:
    """The policy of this name for a contract of two minutes with a signal that swings."""
    signal = Signal.from_steps([(8.0 * step, (-1.0) ** step * 0.7) for step in range(15)])
    made = ContractPlan(0.0, DURATION_S, signal, average_w=np.array([1500.0]),
                reserve_w=np.array([400.0]), cycle_s=2.0, **plan)
    desk = make_desk(made, TYPES, weights=[0.5, 0.5], standby=-1, names=("small", "large"))
    backfill, regulation = axes(name, desk)
    return compose(backfill=backfill, regulation=regulation)


def typed_jobs(seed: int, count: int = 30) -> JobTable:
    """Jobs of both types, a little faster than the machine serves them."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 2, count)
    time_s = np.array(TYPES["time_s_min"])[kind]
    procs = np.array(TYPES["servers"])[kind]
    return JobTable.build(
        submit_s=np.cumsum(random.integers(0, 5, count)), run_s=time_s,
        requested_s=np.array(TYPES["time_s_max"])[kind], procs=procs, application=kind,
        power_w=procs * np.array(TYPES["power_w_max"])[kind],
        names={"application": ("small", "large")},
    )
