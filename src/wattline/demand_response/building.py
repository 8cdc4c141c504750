"""From a scenario with a contract to the case: jobs drawn, signal read, prices laid out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wattline.demand_response.case import Case, after_warmup, mislabelled
from wattline.demand_response.credit import full_price, pays_credit
from wattline.demand_response.curtailing import with_limits
from wattline.demand_response.logs import LogCase, log_case
from wattline.demand_response.reading import contract_of
from wattline.grid.market import Prices, check_weights
from wattline.grid.programme import programme
from wattline.grid.signals import generate, load_signal, window
from wattline.grid.workloads import JobType, Workload, poisson_jobs, workload
from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.model.jobs import JobTable
from wattline.model.machine import NodeClass
from wattline.model.signal import Signal
from wattline.policies.declaration import REGULATION
from wattline.policies.registry import choose as choose_policy
from wattline.scenario.build import read_trace
from wattline.scenario.contract_section import (
    ContractSection,
    JobTypeSection,
    Steps,
    WorkloadParameters,
)
from wattline.scenario.model import Scenario
from wattline.scenario.parameters import WORKLOAD

AUTO, DEFAULT_RULE = "auto", "aqa"
DEFAULT_WORKLOAD = "W4"
MOST_CYCLES = 10_000_000
"""115 days of a second each."""
ASLEEP_W, BOOT_S, SHUTDOWN_S = 10.0, 120.0, 30.0
"""Of a node that sleeps, where the scenario has no `[[machine.classes]]` that says it."""


def parameters_of(scenario: Scenario) -> WorkloadParameters:
    """What the generator of the jobs is given; of a log nothing."""
    if scenario.trace.generate != WORKLOAD:
        return WorkloadParameters()
    return WorkloadParameters.model_validate(scenario.trace.parameters)


def is_log(scenario: Scenario) -> bool:
    """Whether the jobs come from a log or a generator of logs, with times of their own."""
    return scenario.trace.generate != WORKLOAD


def workload_of(scenario: Scenario) -> Workload:
    """The workload: shipped by name, or of the user's own types."""
    contract, given = contract_of(scenario), parameters_of(scenario)
    servers, idle_w = _servers(scenario), _idle_w(scenario)
    if given.types:
        if given.name or servers is None or idle_w is None:
            raise InputError("own types need the number of nodes (machine.nodes) and their idle "
                             "power (machine.node_idle_w), and no named workload beside them")
        found = Workload("own", tuple(_job_type(t) for t in given.types), servers, idle_w,
                         0.5 if given.load is None else given.load)
    else:
        found = workload(DEFAULT_WORKLOAD if given.name is None else given.name, servers)
        if given.load is not None:
            found = replace(found, utilisation=given.load)
        if idle_w is not None:
            found = replace(found, power_w_idle=idle_w)
    if given.standby_type is not None:
        standby = replace(_job_type(given.standby_type), threshold=float("inf"))
        found = replace(found, standby=standby)
    found = replace(found, burst=given.burst, below_idle=contract.below_idle)
    if given.level != "medium":
        found = found.at_level(given.level)
    return found.with_standby() if contract.standby else replace(found, standby=None)


def _job_type(given: JobTypeSection) -> JobType:
    fields = given.model_dump()
    return JobType(servers=fields.pop("nodes"), **fields)


def _servers(scenario: Scenario) -> int | None:
    classes = scenario.machine.classes
    return classes[0].count if classes else scenario.machine.nodes


def _idle_w(scenario: Scenario) -> float | None:
    classes = scenario.machine.classes
    return classes[0].idle_w if classes else scenario.machine.node_idle_w


def case_of(
    scenario: Scenario, *, choose_nodes: bool = False, rule: str = DEFAULT_RULE
) -> Case:
    """The case that the scenario describes; its nodes are chosen where the placement says so.

    `rule` keeps the contract where the scenario leaves that open (`auto`).
    """
    contract = contract_of(scenario)
    _check_cycles(contract)
    rng = np.random.default_rng(scenario.trace.seed)
    signal = _signal(contract, rng)
    log = log_of(scenario) if is_log(scenario) else None
    load, jobs, truth = _jobs(scenario, rng) if log is None else (*_of_log(contract, log), None)
    if len(jobs) == 0:
        raise InputError("no job is submitted in the contract and its warm-up; a larger load or a "
                         "longer duration brings some")
    name, given = rule_of(scenario)
    sleep = sleeping_node(scenario, load.power_w_idle) if given.sleep else None
    if sleep is not None:
        load = replace(load, power_w_asleep=sleep.power_w_off)
    terms = None if contract.programme is None else programme(contract.programme)
    if terms is not None:
        load = replace(load, product=terms.signal.product)
    paid = pays_credit(contract)
    return with_limits(scenario, Case(
        workload=load, jobs=jobs, signal=signal, prices=_prices(contract, signal),
        policy=rule if name == AUTO else name,
        duration_s=contract.duration + contract.warmup_s, warmup_s=contract.warmup_s,
        cycle_s=contract.cycle_s, start_share=contract.start_share,
        weights=_weights(contract, load), preempt=given.preempt, feedback=given.feedback,
        reserve=getattr(given, "reserve", True),
        programme=terms, sleep=sleep,
        credited=paid and contract.curtailment is None,
        reduction_paid=paid and contract.curtailment is not None,
        pue=contract.pue, latency_s=contract.latency,
        meter_noise=contract.meter_noise,
        noise_seed=(scenario.trace.seed,),
        adaptive=contract.bidding == "adaptive", truth=truth,
        choose_nodes=choose_nodes or name_of(scenario.policy.placement) != "counted",
        mean_quality=log is not None, own_times=log is not None,
        own_powers=log is not None and log.measured > 0, assumed=log.assumed if log else (),
    ))


def _check_cycles(contract: ContractSection) -> None:
    cycles = (contract.duration + contract.warmup_s) / contract.cycle_s
    if contract.duration < contract.cycle_s:
        raise InputError(f"the contract lasts {contract.duration:g} s, less than a control cycle "
                         f"of {contract.cycle_s:g} s (cycle_s)")
    if cycles > MOST_CYCLES:
        raise InputError(f"the contract and its warm-up have {cycles:.3g} control cycles, at most "
                         f"{MOST_CYCLES:,} can be simulated; raise cycle_s")


def _weights(contract: ContractSection, load: Workload) -> tuple[float, ...]:
    """Those that are given, beside a limit; a bid has its own."""
    if contract.curtailment is None and contract.events is None:
        return ()
    check_weights(contract.weights, len(load.types))
    return contract.weights


def assumed_sleep(idle_w: float, off_w: float = ASLEEP_W) -> NodeClass:
    """A node that sleeps and boots as is assumed where nothing is said; both at idle power."""
    return NodeClass(power_w_off=off_w, boot_s=BOOT_S, boot_power_w=idle_w, shutdown_s=SHUTDOWN_S,
                     shutdown_power_w=idle_w)


def sleeping_node(scenario: Scenario, idle_w: float) -> NodeClass:
    """What a node draws and takes to sleep and to boot: as said, or assumed."""
    machine, pue = scenario.machine, contract_of(scenario).pue
    if not machine.classes:
        off_w = machine.node_off_w if "node_off_w" in machine.model_fields_set else ASLEEP_W
        return assumed_sleep(idle_w, pue * off_w)
    given = machine.classes[0]
    return NodeClass(power_w_off=pue * given.off_w, boot_s=given.boot_s,
                     boot_power_w=pue * given.boot_w, shutdown_s=given.shutdown_s,
                     shutdown_power_w=pue * given.shutdown_w)


def sleep_words(scenario: Scenario) -> str:
    """What a node draws and takes to sleep and to boot, and who says so; at the node itself."""
    machine = scenario.machine
    if machine.classes:
        given = machine.classes[0]
        return (f"as [[machine.classes]] says: off {given.off_w:g} W, {given.boot_s:g} s to boot, "
                f"{given.shutdown_s:g} s to shut down")
    off = f"off {ASLEEP_W:g} W, "
    if "node_off_w" in machine.model_fields_set:
        off = ""
    words = f"assumed: {off}{BOOT_S:g} s to boot, {SHUTDOWN_S:g} s to shut down"
    return words if off else f"off {machine.node_off_w:g} W as node_off_w says; {words}"


def rule_of(scenario: Scenario) -> tuple[str, Any]:
    """The rule that keeps the contract, which may be `auto`, and its parameters."""
    choice = scenario.policy.regulation or DEFAULT_RULE
    name = name_of(choice)
    if name == AUTO:
        choice = DEFAULT_RULE if isinstance(choice, str) else {**choice, "name": DEFAULT_RULE}
    return name, choose_policy(REGULATION, choice).given


def _jobs(scenario: Scenario, rng: np.random.Generator) -> tuple[Workload, Any, Any]:
    """The workload, its jobs, and what they truly are where labels are wrong."""
    contract = contract_of(scenario)
    load = workload_of(scenario).at_meter(contract.pue)
    jobs = poisson_jobs(load, contract.duration + contract.warmup_s, rng)
    share = parameters_of(scenario).mislabelled
    if share > 0:
        return (load, *mislabelled(jobs, len(load.types), share, rng))
    return load, jobs, None


def _of_log(contract: ContractSection, log: LogCase) -> tuple[Workload, JobTable]:
    """The workload and the jobs of a log, as the meter of the contract sees their powers."""
    load = replace(log.workload, below_idle=contract.below_idle).at_meter(contract.pue)
    return load, log.jobs.with_columns(power_w=contract.pue * log.jobs.power_w)


def log_of(scenario: Scenario) -> LogCase:
    """The jobs of a log in the time of the contract, with types made from them."""
    contract = contract_of(scenario)
    source = str(scenario.trace.file or scenario.trace.generate)
    return log_case(
        read_trace(scenario), source, servers=_servers(scenario), start_s=contract.trace_start,
        duration_s=contract.duration + contract.warmup_s, power_w_idle=_idle_w(scenario),
        seed=scenario.trace.seed, standby=contract.standby,
    )


def _signal(contract: ContractSection, rng: np.random.Generator) -> Signal:
    """The signal of the contract; in the warm-up before it the cluster follows the average."""
    if isinstance(contract.signal, str):
        whole = load_signal(contract.signal)
        start_s = float(whole.time_s[0]) + contract.signal_start
        signal = level_of(contract, window(whole, start_s, contract.duration))
    else:
        signal = generate(rng, contract.duration, **contract.signal.model_dump())
        signal = level_of(contract, signal)
    return signal if contract.warmup_s == 0 else after_warmup(signal, contract.warmup_s)


def level_of(contract: ContractSection, signal: Signal) -> Signal:
    """What a load is to follow, of a file's values or of a drawn level, under the programme."""
    if contract.programme is None:
        return signal
    terms = programme(contract.programme)
    return terms.level(signal) if isinstance(contract.signal, str) else terms.drawn(signal)


def _prices(contract: ContractSection, level: Signal) -> Prices:
    """The prices; their times count from the contract's start, as the signal's do."""
    given = contract.prices
    if pays_credit(contract) and contract.curtailment is None:
        return Prices(_steps(given.energy, contract.warmup_s),
                      Signal.constant(full_price(contract, level)), Signal.constant(0.0))
    return Prices(*(_steps(each, contract.warmup_s)
                    for each in (given.energy, given.reserve, given.error)))


def _steps(value: Steps, warmup_s: float) -> Signal:
    steps = value if isinstance(value, tuple) else ((0.0, value),)
    return Signal.from_steps([(warmup_s + time_s, price) for time_s, price in steps])
