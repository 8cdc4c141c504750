"""The `[network]` section of a scenario: the interconnect, and how jobs use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError
from wattline.scenario.model import Scenario

if TYPE_CHECKING:
    from wattline.network.fabric import Behaviour
    from wattline.network.topology import Topology


def topology_of(scenario: Scenario, placement: str = "") -> Topology:
    """The interconnect of a scenario, from its fields or by the name of a machine."""
    from wattline.network.config import section_topology

    if scenario.network is None:
        raise InputError(f"policy.placement '{placement}' needs a [network] section, or --network "
                         "with a machine like dragonfly-272")
    return section_topology(scenario.network, "network")


def with_nodes(scenario: Scenario) -> Scenario:
    """The same scenario with as many nodes as its network, where it names no number."""
    if scenario.network is None or scenario.machine.nodes is not None or scenario.machine.classes:
        return scenario
    machine = scenario.machine.model_copy(update={"nodes": topology_of(scenario).nodes})
    return scenario.model_copy(update={"machine": machine})


def behaviour_of(section: Mapping[str, Any]) -> Behaviour:
    """How jobs use the network, as far as the section says it."""
    from wattline.network.fabric import Behaviour

    given = {}
    for field in fields(Behaviour):
        if field.name not in section:
            continue
        value = section[field.name]
        if field.name == "congestion":
            good = isinstance(value, bool)
        elif field.name == "seed":
            good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        else:
            good = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not good:
            kind = {"congestion": "true or false", "seed": "a whole number from 0"}
            raise InputError(f"network.{field.name}: {value!r} must be "
                             f"{kind.get(field.name, 'a number')}")
        given[field.name] = value
    return Behaviour(**given)
