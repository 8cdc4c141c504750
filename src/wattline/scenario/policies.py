"""The policies of a scenario: the setting they are made for, and what the world then knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.engine.truth import TrueClaims
from wattline.engine.world import Nature
from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.local_time import zone_of
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.physics.powercap import WattReservation
from wattline.policies.contract import Composition
from wattline.policies.declaration import AXES
from wattline.policies.going_together import is_moldable, why_not
from wattline.policies.registry import build, choose
from wattline.policies.regulation.none import NoRegulation
from wattline.policies.setting import Chosen, Outside, PowerFigures, Setting
from wattline.scenario.caps import cap_plan
from wattline.scenario.model import Scenario
from wattline.scenario.network_section import behaviour_of, topology_of
from wattline.scenario.node_powers import node_power
from wattline.scenario.times import clock_of, reservations_of

if TYPE_CHECKING:
    from wattline.engine.congestion import Congestion
    from wattline.physics.claims import ClaimBook
    from wattline.physics.configurations import ConfigurationTable
    from wattline.policies.placement.network.fabric import Fabric


class Readers(Outside):
    """What policies need of files, databases and the `[network]` section of a scenario."""

    def __init__(
        self, scenario: Scenario, jobs: JobTable, machine: Machine, logged: dict[str, Any]
    ) -> None:
        self.scenario, self.jobs, self.machine, self.logged = scenario, jobs, machine, logged
        self.congestion: Congestion | None = None
        """How jobs hold each other up on the network that was read, for the simulated world."""
        self.assumed: tuple[str, ...] = ()
        """What the network and the traffic of jobs on it were taken to be, and how the dates of
        tables were: a sentence each."""

    def tariff(self, file: str, start: str) -> Signal:
        from wattline.traces.dated_tariffs import tariff_beside
        from wattline.traces.tariffs import read_tariff

        if start or not len(self.jobs):
            return read_tariff(Path(file), start=start, zone=zone_of(self.scenario.trace.zone).info)
        found, said = tariff_beside(Path(file), clock_of(self.scenario, self.jobs),
                                    "policy.power.start")
        self.assumed += said
        return found

    def shares(self, file: str, users: Sequence[str]) -> Any:
        from wattline.account.fairshare import ShareTree, read_shares

        return read_shares(Path(file)) if file else ShareTree.flat(users)

    def used(self, store: str, half_life_s: float) -> Mapping[str, float]:
        from wattline.account.measured.used import used_by_user

        return used_by_user(store, half_life_s)

    def configurations(self, store: str) -> Mapping[str, ConfigurationTable]:
        from wattline.account.configurations import read_catalogue

        return dict(read_catalogue(store).by_name)

    def claims(self, store: str) -> ClaimBook:
        from wattline.account.claim_table import ClaimTable
        from wattline.account.store import Store, refuse_missing

        refuse_missing(store)
        with Store(store) as opened:
            return ClaimTable(opened).load()

    def fabric(self, placement: str) -> Fabric:
        from wattline.network.fabric import SENSITIVE, Uses, drawn_sensitive, fabric_for
        from wattline.network.sensitivity import read_profiles

        topology = topology_of(self.scenario, placement)
        section = dict(self.scenario.network or {})
        profiles = section.get("profiles")
        known = read_profiles(Path(str(profiles))) if profiles is not None else None
        behaviour = behaviour_of(section)
        self.logged.setdefault(SENSITIVE, drawn_sensitive(self.jobs, behaviour))
        if behaviour.congestion:
            from wattline.engine.network import congestion
            from wattline.network.bundles import bundled

            self.congestion = congestion(topology, behaviour, known)
            self.assumed += (*topology.remarks, *bundled(topology).remarks)
        self.assumed += tuple(Uses(topology, behaviour, known).assumed(self.jobs))
        return fabric_for(placement, topology, self.machine.node_count, behaviour, known)


def assumed_outside(setting: Setting) -> tuple[str, ...]:
    """What was assumed of the network and of dated tables, where any were read."""
    return setting.outside.assumed if isinstance(setting.outside, Readers) else ()


def setting_of(
    scenario: Scenario, jobs: JobTable, machine: Machine, cap_w: Signal | None,
    logged: dict[str, Any],
) -> Setting:
    """What the policies of a scenario are made for."""
    clock = clock_of(scenario, jobs)
    plan = cap_plan(scenario, machine, clock)
    planned = tuple(WattReservation(r.start_s, r.duration_s, r.watts, r.name)
                    for r in reservations_of(scenario, clock) if r.watts)
    power = scenario.power
    return Setting(
        machine=machine, jobs=jobs, granularity=scenario.machine.granularity, cap_w=cap_w,
        cap_plan=replace(plan, reservations=(*plan.reservations, *planned)),
        power=PowerFigures(levels=power.levels, alpha=power.alpha, beta=power.beta,
                           core_share=power.core_share, latency_s=power.latency_s,
                           wait_s=power.wait_time_s, wait_slots=power.wait_slots,
                           jobs_only=power.cap_counts == "jobs"),
        node_power=node_power(scenario), chosen={}, logged=logged,
        outside=Readers(scenario, jobs, machine, logged),
    )


def composition_of(
    scenario: Scenario, setting: Setting, given: Mapping[str, Chosen]
) -> tuple[Composition, Setting]:
    """The policy along the axes, some of them `given`, and the setting that it was made in."""
    choices = {axis: getattr(scenario.policy, axis) for axis in AXES}
    refused = why_not({axis: name_of(choice) for axis, choice in choices.items()})
    if refused:
        raise InputError(refused)
    chosen = {axis: given.get(axis) or choose(axis, choice) for axis, choice in choices.items()}
    if chosen["power"].name == "none" and is_moldable(chosen["configure"].name):
        chosen["power"] = choose("power", "watts")  # these rules share out the cap, so it is kept
    setting = replace(setting, chosen=chosen)
    made = {axis: build(each, setting) for axis, each in chosen.items()}
    return Composition(
        order=made["order"], backfill=made["backfill"], admission=made["power"],
        configuration=made["configure"], placement=made["placement"], regulation=NoRegulation(),
    ), setting


def nature_of(setting: Setting) -> Nature:
    """What the simulated world knows beyond what the policies made of this setting do."""
    nature = Nature()
    if setting.made.claims is not None:
        options = setting.made.claims[1]
        truth = TrueClaims(options.true_s, options.true_w, options.memory.time_factor.copy(),
                           options.memory.watts_factor.copy())
        nature = nature._replace(work=truth, answers=truth)
    if isinstance(setting.outside, Readers) and setting.outside.congestion is not None:
        nature = nature._replace(network=setting.outside.congestion)
    return nature
