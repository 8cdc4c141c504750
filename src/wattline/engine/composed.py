"""Runs of the energy studies: one engine, adaptive admission, a cap plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.physics.powercap import PowerCap
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation


def composed(admission: Any, order: Any = None) -> Composition:
    """EASY with counted nodes, first come first served unless another order is given."""
    return Composition(order or Fcfs(), Easy(), admission, Requested(), Counted(), NoRegulation())


def adaptive_run(
    jobs: JobTable, machine: Machine, plan: PowerCap | None = None,
    strategy: Strategy = Strategy.DVFS, *, overrun: Literal["extend", "kill"] = "extend",
    logged: Mapping[str, Any] | None = None, **more: Any,
) -> Run:
    """Jobs on a machine under power-adaptive admission."""
    plan = plan or PowerCap()
    rules = Rules(cap_w=plan.signal(machine.power_w_max), overrun=overrun, logged=logged or {})
    admission = adaptive(machine, plan, strategy=strategy, jobs=jobs, logged=logged, **more)
    return simulate(jobs, machine, composed(admission), rules)
