"""What a scenario cannot have beside a contract, or without one: refused rather than ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wattline.model.fields import name_of
from wattline.scenario.parameters import WORKLOAD

if TYPE_CHECKING:
    from wattline.scenario.model import Scenario

PLACEMENTS = ("counted", "first-fit")
MACHINE = ("cores_per_node", "node_active_w", "granularity")
"""Fields that the types of jobs leave no room for."""


def without_contract(scenario: Scenario) -> str:
    """What only a contract uses; nothing where there is none of it."""
    if scenario.trace.generate == WORKLOAD:
        return "trace.generate: 'workload' makes the jobs of a contract; give [contract] too"
    if scenario.policy.regulation is not None:
        return "policy.regulation: it keeps a contract; give [contract] too"
    return ""


def beside_contract(scenario: Scenario) -> str:
    """The first thing that a contract does not use; nothing where it uses all."""
    policy, machine = scenario.policy, scenario.machine
    for axis in ("order", "backfill", "power", "configure", "python", "overrun"):
        if getattr(policy, axis) != _default(policy, axis):
            return (f"policy.{axis}: a contract has queues by type of job in its place, kept by "
                    "policy.regulation; leave it out")
    if name_of(policy.placement) not in PLACEMENTS:
        return f"policy.placement: a contract takes {' or '.join(PLACEMENTS)}"
    for name in ("cap", "watch_cap"):
        if getattr(scenario.power, name) is not None:
            return (f"power.{name}: a contract follows its target; a limit beside it is "
                    "[contract.curtailment]")
    for name in type(scenario.power).model_fields:
        if getattr(scenario.power, name) != _default(scenario.power, name):
            return (f"power.{name}: the types of a contract say how jobs answer to caps; leave it "
                    "out")
    for name in MACHINE:
        if getattr(machine, name) != _default(machine, name):
            return f"machine.{name}: the types of a contract say it; leave it out"
    if len(machine.classes) > 1:
        return "machine.classes: a contract takes one class of nodes"
    for name in ("reservations", "shares", "signals", "network"):
        if getattr(scenario, name):
            return f"{name}: a contract does not use it; leave it out"
    return ""


def _default(section: Any, name: str) -> Any:
    return type(section).model_fields[name].get_default(call_default_factory=True)
