"""The powers of a node: what the scenario says, and what is assumed where it says nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.machine import NodeClass
from wattline.physics.power_scope import NodePower
from wattline.policies.going_together import is_moldable
from wattline.scenario.model import NodeClassSection, Scenario

ASSUMED = NodeClass()
IDLE_FRACTION = ASSUMED.power_w_idle / ASSUMED.power_w_active


def equal_node_w(scenario: Scenario) -> tuple[float, float]:
    """Idle and active power of the nodes of a machine without classes."""
    section, fraction = scenario.machine, scenario.power.idle_fraction
    active_w = ASSUMED.power_w_active if section.node_active_w is None else section.node_active_w
    if section.node_idle_w is not None:
        return section.node_idle_w, active_w
    return (IDLE_FRACTION if fraction is None else fraction) * active_w, active_w


def class_node_w(section: NodeClassSection) -> tuple[float, float]:
    """Idle and active power of the nodes of a class."""
    return (ASSUMED.power_w_idle if section.idle_w is None else section.idle_w,
            ASSUMED.power_w_active if section.active_w is None else section.active_w)


def node_power(scenario: Scenario) -> NodePower:
    """By what the watts of configurations are turned into those of the cap; idle power as far as
    it is known."""
    section = scenario.machine
    known = [each.idle_w for each in section.classes if each.idle_w is not None]
    if not section.classes and (section.node_idle_w is not None or by_fraction(scenario)):
        known = [equal_node_w(scenario)[0]]
    return NodePower(section.node_base_w, min(known, default=None), section.supply_efficiency)


def by_fraction(scenario: Scenario) -> bool:
    """Say whether idle power is given as a part of active power."""
    return (scenario.power.idle_fraction is not None
            and scenario.machine.node_active_w is not None)


def assumed_powers(scenario: Scenario, jobs: JobTable) -> list[str]:
    """A line where the powers of these jobs rest on node powers that nobody gave."""
    unknown = np.isnan(jobs.power_w)
    # Configurations bring their power, and so do jobs whose log has it.
    needed = bool(unknown.any()) and not is_moldable(name_of(scenario.policy.configure))
    some = "" if unknown.all() else " for jobs whose own power is not known"
    found = []
    for whose, fields, idle_w, active_w in _not_given(scenario):
        parts = {}
        if idle_w is not None:
            parts[fields[0]] = f"{idle_w:g} W idle"
        if active_w is not None and needed:
            parts[fields[1]] = f"{active_w:g} W active{some}"
        if parts:
            found.append(f"node powers{whose} are assumed: {', '.join(parts.values())}; give "
                         f"{' and '.join(parts)}")
    return found


NotGiven = tuple[str, tuple[str, str], float | None, float | None]
"""Whose powers they are, the fields that would give them, idle and active power if assumed."""


def _not_given(scenario: Scenario) -> Iterator[NotGiven]:
    for each in scenario.machine.classes:
        idle_w, active_w = class_node_w(each)
        yield (f" of class '{each.name}'", ("machine.classes.idle_w", "machine.classes.active_w"),
               idle_w if each.idle_w is None else None,
               active_w if each.active_w is None else None)
    if scenario.machine.classes:
        return
    section = scenario.machine
    idle_w, active_w = equal_node_w(scenario)
    yield ("", ("--node-idle-w", "--node-active-w"),
           None if section.node_idle_w is not None or by_fraction(scenario) else idle_w,
           active_w if section.node_active_w is None else None)
