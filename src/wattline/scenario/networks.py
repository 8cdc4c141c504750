"""The `[network]` section of a scenario: placements that know the interconnect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError
from wattline.scenario.model import Scenario

if TYPE_CHECKING:
    from wattline.network.topology import Topology

SUMMARIES: Mapping[str, str] = {
    "simple": "Nodes in label order, on a machine with a network.",
    "slurm": "Slurm's rule for dragonflies: a router that fits, else fewest idle first.",
    "rdg": "Groups drawn at random.",
    "rdn": "Nodes drawn at random.",
    "rdr": "Routers drawn at random.",
    "rrn": "Nodes from the groups in turn.",
    "rrr": "Routers from the groups in turn.",
    "level-spread": "Spread in the smallest level of the network that the job fits in.",
    "jokanovic": "Small jobs from one end of the machine, large ones from the other.",
    "nedd": "Quiet routers for jobs that are sensitive to congestion, busy ones for others.",
    "low-traffic-router": "Routers with the least traffic first.",
    "high-traffic-router": "Routers with the most traffic first.",
    "low-stall-router": "Routers with the fewest stalls first.",
    "fewer-router": "Routers with the most idle nodes first.",
    "random": "Nodes drawn at random (the same as rdn).",
}


def make_on_network(name: str) -> Callable[..., Any]:
    """How a scenario makes the placement of this name."""

    def make(setting: Any, **parameters: Any) -> Any:
        from wattline.network.fabric import SENSITIVE, drawn_sensitive, network_placement
        from wattline.network.sensitivity import read_profiles

        if parameters:
            raise InputError(f"policy.placement '{name}': there is no parameter "
                             f"'{next(iter(parameters))}'; its figures stand in [network]")
        section = dict(setting.scenario.network or {})
        if setting.scenario.machine.granularity == "core":
            raise InputError(f"policy.placement '{name}' places whole nodes; "
                             "set machine.granularity to node")
        topology = topology_of(setting.scenario, name)
        profiles = section.get("profiles")
        known = read_profiles(Path(str(profiles))) if profiles is not None else None
        behaviour = _behaviour(section)
        setting.logged.setdefault(SENSITIVE, drawn_sensitive(setting.jobs, behaviour))
        if behaviour.congestion:
            from wattline.engine.network import congestion

            setting.made["congestion"] = congestion(topology, behaviour, known)
        return network_placement(name, topology, setting.machine.node_count, behaviour, known)

    return make


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


def _behaviour(section: Mapping[str, Any]) -> Any:
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
