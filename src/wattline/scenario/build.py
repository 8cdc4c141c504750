"""From a scenario to what the engine takes: jobs, machine, policy, rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wattline.analysis.result import Result
from wattline.books.opening import units_of
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError, PolicyError, WattlineError, in_callers_terms
from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reading import is_file
from wattline.model.run import PowerBound, Run
from wattline.model.signal import Signal
from wattline.physics.configurations import ConfigurationTable
from wattline.policies.configuration.moldable_setup import columns_of, unmeasured_jobs
from wattline.policies.contract import Composition
from wattline.policies.order.energy_share_setup import user_names
from wattline.policies.setting import Chosen
from wattline.scenario.budget_notes import budget_kept, budget_notes
from wattline.scenario.budget_room import without_room
from wattline.scenario.bundled_logs import log_path
from wattline.scenario.caps import cap_signal, check_kept, is_cap_file, rated_notes, without_cap
from wattline.scenario.claims_used import claims_notes, claims_said
from wattline.scenario.model import MOST_UNIX_S, NodeClassSection, Scenario
from wattline.scenario.network_section import with_nodes
from wattline.scenario.node_powers import assumed_powers, class_node_w, equal_node_w
from wattline.scenario.parameters import generator_parameters
from wattline.scenario.policies import assumed_outside, composition_of, nature_of, setting_of
from wattline.scenario.python_policy import load_policy, refuse_code
from wattline.scenario.sizes import Dropped, fits, fitting, machine_size
from wattline.scenario.times import clock_of, reservations_of
from wattline.traces import Trace, generate, read
from wattline.traces.raw import COUNTS
from wattline.traces.signals import read_signal

if TYPE_CHECKING:
    from wattline.policies.view import Policy


@dataclass(frozen=True, eq=False)
class Plan:
    """A scenario made ready."""

    scenario: Scenario
    trace: Trace
    jobs: JobTable
    machine: Machine
    policy: Composition | Policy
    rules: Rules
    assumed: tuple[str, ...] = ()
    """What every figure rests on and nobody said: a sentence each."""
    dropped: Dropped | None = None
    bounds: tuple[PowerBound, ...] = ()
    """What parts of the machine must not exceed."""
    tables: Mapping[str, ConfigurationTable] | None = None
    """The configurations that jobs choose from, by application, where they choose."""
    left_out: tuple[str, ...] = ()
    """Policies that were chosen and have nothing to do: a sentence each."""
    changed: frozenset[str] = frozenset()
    """Fields that were set beside the scenario: what of them has no effect is said."""

    def run(
        self, progress: Callable[[float], None] | None = None,
        before_compiling: Callable[[], None] | None = None,
    ) -> Result:
        """Simulate, and keep the scenario and what is to be said with the result.

        A second run is the same again. `before_compiling` is called where it has to be waited for.
        """
        return Result.of(self.plain_run(progress, before_compiling))

    def plain_run(
        self, progress: Callable[[float], None] | None = None,
        before_compiling: Callable[[], None] | None = None,
    ) -> Run:
        """The same as a plain run: for who asks thousands of them for their figures alone."""
        policy = self.policy
        if self.scenario.policy.python is not None:  # an object may remember: make it anew
            policy = load_policy(self.scenario.policy.python)
        try:
            run = simulate(self.jobs, self.machine, policy, self.rules, progress=progress,
                           before_compiling=before_compiling)
        except (Exception, SystemExit) as error:  # a policy of the user's may do anything
            if isinstance(self.policy, Composition) or isinstance(error, WattlineError):
                raise
            name = type(self.policy).__name__
            raise PolicyError(
                f"the policy {name} failed: {type(error).__name__}: {error}"
            ) from error
        return self._told(run)

    def finished(self, run: Run) -> Result:
        """A run of this plan with what the plan knows of it."""
        return Result.of(self._told(run))

    def _told(self, run: Run) -> Run:
        from wattline.analysis.budget import budget_lines
        from wattline.scenario.promises import promises
        from wattline.scenario.refusals import not_run
        from wattline.scenario.remarks import above_rated, outside_run, remarks, shares_exceeded
        from wattline.scenario.remarks import cleaned as cleaned_lines

        cleaned = {f"cleaned_{rule.name}_jobs": float(rule.jobs)
                   for rule in self.trace.cleaning.touched}
        if self.dropped is not None:
            cleaned["dropped_larger_jobs"] = float(self.dropped.jobs)
        cleaned |= {f"cleaned_{rule.name}_j": rule.energy_j
                    for rule in self.trace.cleaning.touched if rule.lacks_joules}
        kept: dict[str, Any] = {}
        chosen = name_of(self.scenario.policy.power)
        if isinstance(self.policy, Composition) and chosen == "budget":
            budget = self.policy.admission
            kept = budget_kept(budget, run, without_room(budget, run, self.rules))
        by_claims, claims_changed = claims_notes(run, self.rules.nature.work)
        unmeasured = unmeasured_jobs(self.policy)
        found = replace(
            run,
            scenario=self.scenario.model_dump(mode="json", exclude_none=True),
            notes={**run.notes, **cleaned, **(budget_notes(kept) if kept else {}), **by_claims,
                   **({"unmeasured_jobs": float(unmeasured)} if unmeasured else {})},
            budget=kept,
            bounds=self.bounds,
            promises=promises(self, run.end_s),
            configurations={} if self.tables is None else columns_of(self.tables, self.jobs),
            assumed=self.assumed,
        )
        beyond, shares_said = shares_exceeded(found)
        found = replace(found, notes={**found.notes, **beyond})
        used = self.tables is None or unmeasured > 0
        said = (*cleaned_lines(self.trace, run_times_used=used), *remarks(self),
                *above_rated(self, found), *outside_run(self, found), *not_run(self, found),
                *self.assumed, *shares_said, *claims_changed, *budget_lines(found))
        return replace(found, remarks=tuple(dict.fromkeys(said)))


def plan(
    scenario: Scenario, trace: Trace | None = None, policy: Policy | None = None, *,
    chosen: Mapping[str, Chosen] | None = None, allow_code: bool = False,
    machine: Machine | None = None, grounds: Grounds | None = None,
) -> Plan:
    """Read or generate the jobs and make the policies, unless they are given.

    `chosen` has, by axis, policies whose names lead nowhere. `machine` is the scenario's own, where
    it was made before: to read the names of thousands of nodes takes longer than the rest.
    `grounds` remember what the last plan stood on, for who makes one after the other.

    `allow_code`: whoever calls knows that the user wants the code that the policy names to run.
    """
    if scenario.contract is not None:
        raise InputError(f"{scenario.name}: it has a [contract], which is simulated alone: by "
                         "`wattline simulate` or `wattline regulate`, from Python by regulate()")
    if scenario.twin is not None:
        from wattline.scenario.twin.planning import twin_plan

        if policy is not None or chosen:
            raise InputError("a twin decides as Slurm does: no other policy can be given to it; "
                             "change settings of its slurm.conf with twin.settings")
        return twin_plan(scenario)
    if policy is not None:
        own = scenario.policy.model_copy(update={"python": None})
        scenario = scenario.model_copy(update={"policy": own})
    if not allow_code:
        refuse_code(scenario.policy)
    scenario, left_out = without_cap(with_nodes(scenario))
    check_kept(scenario, policy is not None)
    if trace is None:
        trace = read_trace(scenario)
    ground = (grounds or Grounds()).of(scenario, trace, machine)
    machine, trace, jobs, dropped, assumed = ground
    scenario = _resolved(dated(scenario, trace), machine)
    _check_placement(scenario, machine)

    def meanwhile() -> None:
        from wattline.scenario.ahead import compile_run

        if policy is None:
            compile_run(scenario, trace, chosen, allow_code)

    rules = make_rules(scenario, jobs, machine, meanwhile)
    setting = setting_of(scenario, jobs, machine, rules.cap_w,
                         _logged(trace, machine, scenario.machine.granularity, dropped))
    made: Composition | Policy
    if policy is not None:
        made = policy
    elif scenario.policy.python is not None:
        made = load_policy(scenario.policy.python)
    else:
        made, setting = composition_of(scenario, setting, chosen or {})
    rules = replace(rules, logged=setting.logged, nature=nature_of(setting))
    by_claims = setting.made.claims[1] if setting.made.claims is not None else None
    assumed = (*assumed, *rated_notes(scenario, jobs, machine), *setting.made.assumed,
               *claims_said(by_claims, jobs), *assumed_outside(setting))
    return Plan(scenario, trace, jobs, machine, made, rules, assumed, dropped, setting.made.bounds,
                setting.made.tables, left_out)


class Ground(NamedTuple):
    """What plans of the same jobs on the same machine have in common."""

    machine: Machine
    trace: Trace
    """The log with sizes as the machine counts them."""
    jobs: JobTable
    dropped: Dropped | None
    assumed: tuple[str, ...]


class Grounds:
    """The ground of the last plan: of the points of a sweep most stand on the same."""

    def __init__(self) -> None:
        self._last: tuple[Any, Ground] | None = None

    def of(self, scenario: Scenario, trace: Trace, machine: Machine | None = None) -> Ground:
        """The ground of a scenario with these jobs, made anew where anything that it rests on is
        another than the last time."""
        rests_on = (trace, machine, scenario.machine, scenario.trace.drop_larger,
                    scenario.power.idle_fraction, name_of(scenario.policy.configure))
        last = self._last
        # Traces and machines that are equal and not the same take longer to compare than to use.
        if (last is None or last[0][0] is not trace or last[0][1] is not machine
                or last[0][2:] != rests_on[2:]):
            self._last = last = rests_on, _ground(scenario, trace, machine)
        return last[1]


def _ground(scenario: Scenario, trace: Trace, machine: Machine | None) -> Ground:
    machine = machine or make_machine(scenario, trace)
    trace = _in_cores(trace, machine, scenario.machine.granularity)
    jobs, dropped = fitting(trace.jobs, machine, scenario.machine.granularity,
                            scenario.trace.drop_larger)
    return Ground(machine, trace, jobs, dropped, assumptions(scenario, trace, jobs, dropped))


def assumptions(
    scenario: Scenario, trace: Trace, jobs: JobTable, dropped: Dropped | None
) -> tuple[str, ...]:
    """What the log's header, the size of the machine and its unknown powers do to the figures."""
    size = "" if scenario.machine.classes else machine_size(scenario.machine, trace).remark
    lost = "" if dropped is None else dropped.remark
    found = (*filter(None, (size, lost)), *assumed_powers(scenario, jobs))
    return tuple(in_callers_terms(line) for line in found)


def read_trace(scenario: Scenario) -> Trace:
    section = scenario.trace
    if scenario.twin is not None:
        from wattline.scenario.twin.planning import twin_trace

        return twin_trace(scenario)
    if section.generate is not None:
        given = generator_parameters(section.generate, section.parameters)
        nodes = scenario.machine.nodes or sum(each.count for each in scenario.machine.classes)
        if nodes:
            given.setdefault("nodes", nodes)
        if section.jobs is not None:
            given["jobs"] = section.jobs
        return generate(section.generate, seed=section.seed, **given)
    assert section.file is not None
    _refuse_unkept(section.file)
    trace = read(
        log_path(section.file), column_map=section.map, strict=section.strict, size=section.size,
        unit="cores" if scenario.machine.granularity == "core" else "nodes",
        zone=section.zone or "",
    )
    if section.jobs is None or section.jobs >= len(trace.jobs):
        return trace
    return trace.first(section.jobs)


def _refuse_unkept(file: Path) -> None:
    """Say where the jobs are that a saved run got in Python, under a name that no file has."""
    folder = file.parent
    if file.exists() or not (folder / "manifest.json").is_file():
        return
    from wattline.analysis.rundir import is_run

    if is_run(folder):
        raise InputError(
            f"{file}: there is no such file: the jobs of the run {folder} were given in Python, "
            f"and stand in its jobs.parquet; simulate('{folder / 'scenario.toml'}', "
            f"trace=open_run('{folder}').jobs) repeats it")


def make_machine(scenario: Scenario, trace: Trace | None = None) -> Machine:
    section = scenario.machine
    if scenario.twin is not None:
        from wattline.scenario.twin.planning import twin_machine

        return twin_machine(scenario)
    if section.classes:
        groups = tuple(NodeGroup(_node_class(each), each.count, each.nodes_per_rack or 0)
                       for each in section.classes)
        return Machine(groups, section.name, section.site, section.node_names or "")
    size = machine_size(section, trace)
    idle_w, active_w = equal_node_w(scenario)
    node = NodeClass(
        cores=size.cores_per_node, power_w_idle=idle_w, power_w_active=active_w,
        power_w_off=section.node_off_w,
    )
    group = NodeGroup(node, size.nodes, section.nodes_per_rack or 0)
    return Machine((group,), section.name, section.site, section.node_names or "")


def _node_class(each: NodeClassSection) -> NodeClass:
    idle_w, active_w = class_node_w(each)
    return NodeClass(
        name=each.name, cores=each.cores, sockets=each.sockets, power_w_idle=idle_w,
        power_w_active=active_w, power_w_off=each.off_w, boot_s=each.boot_s,
        boot_power_w=each.boot_w, shutdown_s=each.shutdown_s, shutdown_power_w=each.shutdown_w,
        speed=each.speed,
    )


def _check_placement(scenario: Scenario, machine: Machine) -> None:
    """Counted units are all alike; a job's power and speed depend on the classes of its nodes."""
    counted = scenario.policy.python is None and name_of(scenario.policy.placement) == "counted"
    if counted and len(machine.groups) > 1:
        raise InputError(
            "policy.placement: 'counted' cannot tell node classes apart; choose another one, such "
            "as first-fit"
        )


def make_rules(
    scenario: Scenario, jobs: JobTable, machine: Machine,
    before_compiling: Callable[[], None] | None = None,
) -> Rules:
    units = units_of(machine, scenario.machine.granularity)
    clock = clock_of(scenario, jobs)
    for index, section in enumerate(scenario.reservations):
        if section.nodes > units:
            raise InputError(f"reservations.{index}.nodes: {section.nodes} are reserved, "
                             f"the machine has {units}")
    rules = Rules(
        granularity=scenario.machine.granularity,
        overrun=scenario.policy.overrun,
        cap_counts=scenario.power.cap_counts,
        choose_nodes=name_of(scenario.policy.placement) != "counted" or len(machine.groups) > 1,
        reservations=reservations_of(scenario, clock),
        user_share=_user_shares(scenario, jobs),
        signals={name: read_signal(file, clock) for name, file in scenario.signals.items()},
    )
    return replace(rules, cap_w=cap_signal(scenario, jobs, machine, rules, before_compiling))


def _user_shares(scenario: Scenario, jobs: JobTable) -> tuple[float, ...]:
    """The share of each user code, those not named having none."""
    given = scenario.shares
    if not given:
        return ()
    if min(given.values()) < 0 or not sum(given.values()) > 0:
        raise InputError("shares: they must not be negative, and at least one must be positive")
    names = user_names(jobs)
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise InputError(f"shares: the log has no user '{unknown[0]}'")
    total = sum(given.values())
    return tuple(given.get(name, 0.0) / total for name in names)


def _logged(
    trace: Trace, machine: Machine, granularity: str, dropped: Dropped | None
) -> dict[str, Any]:
    """The log's further columns, of the jobs that are left."""
    if not trace.logged:
        return {}
    if dropped is None:
        return {name: column[: len(trace.jobs)].copy() for name, column in trace.logged.items()}
    kept = fits(trace.jobs, machine, granularity)
    return {name: column[: len(kept)][kept] for name, column in trace.logged.items()}


def _resolved(scenario: Scenario, machine: Machine) -> Scenario:
    """The scenario with what was found out on the way, so that its copy can be run again."""
    changes: dict[str, Any] = {}
    file = scenario.trace.file
    if file is not None and is_file(file):
        whole = file if file.is_absolute() else file.resolve()
        changes["trace"] = scenario.trace.model_copy(update={"file": whole})
    caps = {name: getattr(scenario.power, name) for name in ("cap", "watch_cap")}
    files = {name: str(Path(cap).resolve()) for name, cap in caps.items()
             if is_cap_file(cap)}
    if files:
        changes["power"] = scenario.power.model_copy(update=files)
    if not scenario.machine.classes:
        changes["machine"] = scenario.machine.model_copy(update={
            "nodes": machine.node_count,
            "cores_per_node": machine.groups[0].node_class.cores,
        })
    return scenario.model_copy(update=changes)


def _in_cores(trace: Trace, machine: Machine, granularity: str) -> Trace:
    """The log with sizes in cores, as the machine counts them, where the log counts whole nodes."""
    cores = machine.groups[0].node_class.cores
    if trace.header.get(COUNTS) != "nodes" or granularity != "node" or cores == 1:
        return trace
    return replace(trace, jobs=trace.jobs.with_columns(procs=trace.jobs.procs * cores),
                   header={**trace.header, COUNTS: "cores"})


def dated(scenario: Scenario, trace: Trace) -> Scenario:
    """With the date of the log's second 0, where the log says it and the scenario does not."""
    start_s = trace.unix_start_s
    if scenario.trace.unix_start_s is not None or start_s is None:
        return scenario
    if not 0 <= start_s <= MOST_UNIX_S:
        return scenario
    section = scenario.trace.model_copy(update={"unix_start_s": start_s})
    return scenario.model_copy(update={"trace": section})


def cap_over_time(scenario: Scenario) -> Signal | None:
    """The cap in watts, however it is written; it may take a run of the jobs without a cap."""
    if scenario.twin is not None:
        return plan(scenario).rules.cap_w
    scenario, _ = without_cap(with_nodes(scenario))
    trace = read_trace(scenario)
    scenario = dated(scenario, trace)
    ground = _ground(scenario, trace, None)
    return make_rules(scenario, ground.jobs, ground.machine).cap_w
