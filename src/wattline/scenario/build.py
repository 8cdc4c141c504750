"""From a scenario to what the engine takes: jobs, machine, policy, rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wattline.engine.prepare import Rules, sizes_of, units_of
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError, PolicyError, WattlineError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reservation import Reservation
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.model.units import parse_power
from wattline.policies.contract import Composition
from wattline.policies.regulation.none import NoRegulation
from wattline.policies.view import Policy
from wattline.scenario.axes import Setting, build
from wattline.scenario.budget_notes import budget_notes
from wattline.scenario.configurations import configurations_of, is_moldable
from wattline.scenario.energy import cap_plan, room_for
from wattline.scenario.model import CapPlan, MachineSection, Scenario, name_of
from wattline.scenario.networks import with_nodes
from wattline.scenario.python_policy import load_policy
from wattline.traces import Trace, generate, read
from wattline.traces.signals import read_signal


@dataclass(frozen=True, eq=False)
class Plan:
    """A scenario made ready."""

    scenario: Scenario
    trace: Trace
    jobs: JobTable
    machine: Machine
    policy: Composition | Policy
    rules: Rules

    def run(self, progress: Callable[[float], None] | None = None) -> Run:
        """Simulate, and keep the scenario with the result."""
        try:
            run = simulate(self.jobs, self.machine, self.policy, self.rules, progress=progress)
        except (Exception, SystemExit) as error:  # a policy of the user's may do anything
            if isinstance(self.policy, Composition) or isinstance(error, WattlineError):
                raise
            name = type(self.policy).__name__
            raise PolicyError(
                f"the policy {name} failed: {type(error).__name__}: {error}"
            ) from error
        cleaned = {f"cleaned_{rule.name}_jobs": float(rule.jobs)
                   for rule in self.trace.cleaning.touched}
        chosen, choice = self.scenario.policy, self.scenario.policy.configure
        kept = {}
        if isinstance(self.policy, Composition) and name_of(chosen.power) == "budget":
            kept = budget_notes(self.policy.admission, run)
        return replace(
            run,
            scenario=self.scenario.model_dump(mode="json", exclude_none=True),
            notes={**run.notes, **cleaned, **kept},
            configurations=configurations_of(choice, self.jobs) if is_moldable(choice) else {},
        )


def plan(scenario: Scenario, trace: Trace | None = None) -> Plan:
    """Read or generate the jobs (unless given) and make the policies."""
    scenario = with_nodes(scenario)
    if trace is None:
        trace = read_trace(scenario)
    machine = make_machine(scenario, trace)
    jobs = _fitting(trace.jobs, machine, scenario.machine.granularity)
    scenario = _resolved(_with_date(scenario, trace), machine)
    _check_placement(scenario, machine)
    rules = make_rules(scenario, jobs, machine)
    setting = Setting(scenario, jobs, machine, rules.cap_w, _logged(trace, jobs))
    policy = make_policy(scenario, setting)
    rules = replace(rules, numbers=max(rules.numbers, room_for(policy, len(jobs))))
    return Plan(scenario, trace, jobs, machine, policy, rules)


def read_trace(scenario: Scenario) -> Trace:
    section = scenario.trace
    if section.generate is not None:
        given: dict[str, Any] = dict(section.parameters)
        nodes = scenario.machine.nodes or sum(each.count for each in scenario.machine.classes)
        if nodes:
            given.setdefault("nodes", nodes)
        if section.jobs is not None:
            given["jobs"] = section.jobs
        return generate(section.generate, seed=section.seed, **given)
    assert section.file is not None
    machine = scenario.machine
    trace = read(
        section.file,
        column_map=section.map,
        strict=section.strict,
        size=section.size,
        machine_procs=_procs(machine),
    )
    if section.jobs is None or section.jobs >= len(trace.jobs):
        return trace
    return replace(trace, jobs=trace.jobs.take(np.arange(section.jobs)))


def _procs(machine: MachineSection) -> int | Literal["header"]:
    """How large a job may be, as far as the scenario says; otherwise the log's header does."""
    if machine.classes:
        return sum(each.count * each.cores for each in machine.classes)
    return machine.nodes * machine.cores_per_node if machine.nodes else "header"


def make_machine(scenario: Scenario, trace: Trace | None = None) -> Machine:
    section = scenario.machine
    if section.classes:
        groups = tuple(
            NodeGroup(
                NodeClass(
                    name=each.name, cores=each.cores, sockets=each.sockets,
                    power_w_idle=each.idle_w, power_w_active=each.active_w,
                    power_w_off=each.off_w, boot_s=each.boot_s, boot_power_w=each.boot_w,
                    shutdown_s=each.shutdown_s, shutdown_power_w=each.shutdown_w,
                    speed=each.speed,
                ),
                each.count,
                each.nodes_per_rack,
            )
            for each in section.classes
        )
        return Machine(groups, name=section.name, site=section.site)
    idle_w = section.node_idle_w
    if idle_w is None:
        idle_w = scenario.power.idle_fraction * section.node_active_w
    node = NodeClass(
        cores=section.cores_per_node, power_w_idle=idle_w, power_w_active=section.node_active_w,
        power_w_off=section.node_off_w,
    )
    group = NodeGroup(node, _node_count(section, trace), section.nodes_per_rack)
    return Machine((group,), name=section.name, site=section.site)


def make_policy(scenario: Scenario, setting: Setting) -> Composition | Policy:
    chosen = scenario.policy
    if chosen.python is not None:
        return load_policy(chosen.python)
    power = chosen.power
    if power == "none" and is_moldable(chosen.configure):
        power = "watts"  # these rules share out the cap, so it is kept
    return Composition(
        order=build("order", chosen.order, setting),
        backfill=build("backfill", chosen.backfill, setting),
        admission=build("power", power, setting),
        configuration=build("configure", chosen.configure, setting),
        placement=build("placement", chosen.placement, setting),
        regulation=NoRegulation(),
    )


def _check_placement(scenario: Scenario, machine: Machine) -> None:
    """Counted units are all alike; a job's power and speed depend on the classes of its nodes."""
    counted = scenario.policy.python is None and name_of(scenario.policy.placement) == "counted"
    if counted and len(machine.groups) > 1:
        raise InputError(
            "policy.placement: 'counted' cannot tell node classes apart; choose another one, such "
            "as first-fit"
        )


def make_rules(scenario: Scenario, jobs: JobTable, machine: Machine) -> Rules:
    units = units_of(machine, scenario.machine.granularity)
    for index, section in enumerate(scenario.reservations):
        if section.nodes > units:
            raise InputError(f"reservations.{index}.nodes: {section.nodes} are reserved, "
                             f"the machine has {units}")
    rules = Rules(
        granularity=scenario.machine.granularity,
        overrun=scenario.policy.overrun,
        choose_nodes=name_of(scenario.policy.placement) != "counted" or len(machine.groups) > 1,
        reservations=tuple(
            Reservation(r.start_s, r.duration_s, r.nodes, r.watts, r.name)
            for r in scenario.reservations
        ),
        user_share=_user_shares(scenario, jobs),
        signals={name: read_signal(file) for name, file in scenario.signals.items()},
    )
    return replace(rules, cap_w=_cap(scenario, jobs, machine, rules))


def _user_shares(scenario: Scenario, jobs: JobTable) -> tuple[float, ...]:
    """The share of each user code, those not named having none."""
    given = scenario.shares
    if not given:
        return ()
    if min(given.values()) < 0 or not sum(given.values()) > 0:
        raise InputError("shares: they must not be negative, and at least one must be positive")
    users = range(int(jobs.user.max(initial=-1)) + 1)
    names = [jobs.name_of("user", code) for code in users]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise InputError(f"shares: the log has no user '{unknown[0]}'")
    total = sum(given.values())
    return tuple(given.get(name, 0.0) / total for name in names)


def _node_count(section: MachineSection, trace: Trace | None) -> int:
    if section.nodes is not None:
        return section.nodes
    procs = trace.machine_procs() if trace is not None else None
    if procs is None:
        raise InputError("machine.nodes: say how many nodes the machine has (the log does not)")
    return -(-procs // section.cores_per_node)


def _fitting(jobs: JobTable, machine: Machine, granularity: str) -> JobTable:
    """Jobs larger than the machine cannot run; they are left out."""
    fits = sizes_of(jobs, machine, granularity) <= units_of(machine, granularity)
    return jobs if fits.all() else jobs.take(fits)


def _logged(trace: Trace, jobs: JobTable) -> dict[str, Any]:
    """The log's further columns, of the jobs that are left."""
    if len(jobs) == len(trace.jobs):
        return {name: column[: len(jobs)] for name, column in trace.logged.items()}
    kept = np.isin(trace.jobs.job_id, jobs.job_id)
    return {name: column[: len(kept)][kept] for name, column in trace.logged.items()}


def _resolved(scenario: Scenario, machine: Machine) -> Scenario:
    """The scenario with what was found out on the way, so that its copy can be run again."""
    changes: dict[str, Any] = {}
    file = scenario.trace.file
    if file is not None and file.exists():
        trace = scenario.trace.model_copy(update={"file": file.resolve()})
        changes["trace"] = trace
    cap = scenario.power.cap
    if isinstance(cap, str) and Path(cap).is_file():
        power = scenario.power.model_copy(update={"cap": str(Path(cap).resolve())})
        changes["power"] = power
    if not scenario.machine.classes:
        changes["machine"] = scenario.machine.model_copy(update={
            "nodes": machine.node_count,
            "node_idle_w": machine.groups[0].node_class.power_w_idle,
        })
    return scenario.model_copy(update=changes)


def _with_date(scenario: Scenario, trace: Trace) -> Scenario:
    start = trace.header.get("UnixStartTime")
    if scenario.trace.unix_start_s is not None or start is None:
        return scenario
    try:
        section = scenario.trace.model_copy(update={"unix_start_s": float(start)})
    except ValueError:
        return scenario
    return scenario.model_copy(update={"trace": section})


def cap_over_time(scenario: Scenario) -> Signal | None:
    """The cap in watts, however it is written; a fraction takes a run of the jobs without a cap."""
    scenario = with_nodes(scenario)
    trace = read_trace(scenario)
    machine = make_machine(scenario, trace)
    jobs = _fitting(trace.jobs, machine, scenario.machine.granularity)
    return make_rules(scenario, jobs, machine).cap_w


def _cap(scenario: Scenario, jobs: JobTable, machine: Machine, rules: Rules) -> Signal | None:
    cap = scenario.power.cap
    if cap is None:
        if name_of(scenario.policy.power) in ("block", "wait", "dvfs"):
            raise InputError(
                f"power.cap: the power policy '{name_of(scenario.policy.power)}' needs a cap, "
                "like 0.7, 1.4MW or a file"
            )
        return None
    if isinstance(cap, CapPlan):
        return cap_plan(scenario, machine).signal(machine.power_w_max)
    if isinstance(cap, tuple):
        if not cap:
            raise InputError("power.cap: the list of steps is empty")
        signal = Signal.from_steps(((step.time_s, step.watts) for step in cap), "W")
    elif isinstance(cap, str):
        signal = _cap_from_text(cap, scenario, jobs, machine, rules)
    else:
        signal = _cap_from_number(cap, jobs, machine, rules)
    lowest = float(signal.value.min())
    if lowest < machine.power_w_idle:
        raise InputError(
            f"power.cap: {lowest:g} W is below the idle power of the machine "
            f"({machine.power_w_idle:g} W); it must be at least that"
        )
    return signal


def _cap_from_text(
    text: str, scenario: Scenario, jobs: JobTable, machine: Machine, rules: Rules
) -> Signal:
    if Path(text).is_file():
        return read_signal(text, unit="W")
    if text.strip().endswith("%"):
        from wattline.model.units import parse_fraction

        share = parse_fraction(text)
        if not 0 < share <= 1:
            raise InputError(f"power.cap: {text} must be above 0 % and at most 100 %")
        return _cap_from_number(share, jobs, machine, rules)
    try:
        watts = parse_power(text)
    except InputError:
        raise InputError(
            f"power.cap: '{text}' is neither watts, nor a fraction, nor a file"
        ) from None
    return _cap_from_number(watts, jobs, machine, rules)


def _cap_from_number(cap: float, jobs: JobTable, machine: Machine, rules: Rules) -> Signal:
    """Watts, or up to 1 a fraction of what the same jobs would draw at most without a cap."""
    if not 0 < cap < np.inf:
        raise InputError(f"power.cap: {cap:g} must be a positive number of watts or a fraction")
    return Signal.constant(cap * _uncapped_peak_w(jobs, machine, rules) if cap <= 1 else cap, "W")


def _uncapped_peak_w(jobs: JobTable, machine: Machine, rules: Rules) -> float:
    from wattline.policies.admission.none import NoLimit
    from wattline.policies.backfill.easy import Easy
    from wattline.policies.configuration.requested import Requested
    from wattline.policies.order.fcfs import Fcfs
    from wattline.policies.placement.counted import Counted
    from wattline.policies.placement.first_fit import FirstFit

    placement = FirstFit() if rules.choose_nodes else Counted()
    free = Composition(Fcfs(), Easy(), NoLimit(), Requested(), placement, NoRegulation())
    return simulate(jobs, machine, free, replace(rules, cap_w=None)).power_w_peak
