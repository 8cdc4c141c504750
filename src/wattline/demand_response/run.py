"""One simulated contract: a case and a bid in; bill and quality out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from wattline.demand_response.beginning import beginning_of, equal_weights
from wattline.demand_response.case import Case
from wattline.demand_response.judging import judge_types
from wattline.demand_response.reference import uncontrolled_cost
from wattline.demand_response.settling import settled
from wattline.engine.simulate import simulate
from wattline.engine.truth import TrueTypes
from wattline.engine.world import Nature
from wattline.grid.bidding.problem import BidOutcome
from wattline.grid.dayahead import HOUR_S
from wattline.grid.market import (
    Bid,
    Contract,
    Settlement,
    TrackingError,
    overlay,
)
from wattline.grid.qos import TypeQuality
from wattline.model.errors import InputError
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal
from wattline.policies.admission.none import NoLimit
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.setup import axes

METER = 4051
"""Stream of the meter's errors."""
STANDBY_MANY = 2000
"""From so many standby jobs on, a run first tries to do with fewer."""


@dataclass(frozen=True, eq=False)
class ContractRun:
    """The result of a case under a bid."""

    case: Case
    run: Run
    contract: Contract
    weights: tuple[float, ...]
    actual_w: Signal
    settlement: Settlement
    quality: tuple[TypeQuality, ...]
    delays_s: tuple[FloatArray, ...]
    degradations: tuple[FloatArray, ...]
    """For each type, the degradation of its jobs."""
    desk: Desk = field(repr=False)
    """As the run left it."""

    # A search looks at thousands of runs, and at none of the following.

    @cached_property
    def target_w(self) -> Signal:
        case = self.case
        return self.contract.target_w(case.signal, case.start_s, case.end_s)

    @cached_property
    def waiting(self) -> Signal:
        """Jobs that wait, by control cycles."""
        trace, case = self.desk.trace, self.case
        cycles_s = case.start_s + case.cycle_s * np.arange(trace.size)
        return Signal(cycles_s, trace.waiting.astype(np.float64))

    @cached_property
    def standby_share(self) -> float:
        """Share of the jobs' energy that standby jobs used."""
        case, energy_j = self.case, self.run.schedule.energy_j
        total_j = float(energy_j.sum())
        if case.workload.standby is None or total_j == 0:
            return 0.0
        standby = case.jobs.application == len(case.workload.types)
        return float(energy_j[standby].sum()) / total_j

    @property
    def tracking(self) -> TrackingError:
        return self.settlement.tracking

    @property
    def constraints_met(self) -> bool:
        return self.outcome.met

    @cached_property
    def outcome(self) -> BidOutcome:
        bill = self.settlement
        hours = (self.case.end_s - self.case.judged_s) / HOUR_S
        found = BidOutcome(bill.cost, bill.saving, bill.tracking, self.quality, self.delays_s,
                           cost_uncontrolled=uncontrolled_cost(self.case),
                           limited=self.case.limit_w is not None)
        if not self.case.credited:
            return found
        return replace(found, drawn_w=1000.0 * bill.energy_kwh / hours,
                       credit_per_h=bill.credit / hours)


def run_contract(case: Case, bid: Bid | Sequence[Bid | None] | None) -> ContractRun:
    """Simulate the case; one bid for all hours, a bid per hour (None: stay out), or adaptive."""
    few = _fewer_standby(case)
    if few is not case:
        found = _run(few, bid)
        standby = few.jobs.application == len(few.workload.types)
        if np.any(np.isnan(found.run.schedule.start_s[standby])):
            return found  # they did not run out: more of them would have changed nothing
    return _run(case, bid)


def _fewer_standby(case: Case) -> Case:
    """The case with a quarter of its many standby jobs, which is nearly always enough."""
    standby = np.flatnonzero(case.jobs.application == len(case.workload.types))
    if standby.size < STANDBY_MANY:
        return case
    kept = np.ones(len(case.jobs), dtype=bool)
    kept[standby[standby.size // 4 :]] = False
    truth = None if case.truth is None else case.truth[kept]
    return replace(case, jobs=case.jobs.take(kept), truth=truth)


def _run(case: Case, bid: Bid | Sequence[Bid | None] | None) -> ContractRun:
    bids = _by_hour(case, bid)
    common = beginning_of(case)
    desk = common.desk(case, bids)
    backfill, regulation = axes(case.policy, desk)
    policy = Composition(
        order=Fcfs(), backfill=backfill, admission=NoLimit(), configuration=Requested(),
        placement=FirstFit() if case.choose_nodes else Counted(), regulation=regulation,
    )
    rules = common.rules
    if case.truth is not None or case.own_powers:
        kinds = np.array(case.jobs.application if case.truth is None else case.truth, np.int64)
        answers = TrueTypes(desk.types, kinds)
        if case.own_powers:
            type_w = np.array([each.power_w_max for each in case.types])[kinds]
            answers = answers._replace(watts_factor=case.jobs.power_w / (case.jobs.procs * type_w))
        rules = replace(rules, nature=Nature(answers=answers))
    run = simulate(case.jobs, common.machine, policy, rules, opening=common.opening)
    weights = next((b.weights for b in bids if b is not None and b.weights), equal_weights(case))
    # The queues and the regulation share the desk, which stands with the first of them.
    return _judged(case, run.memories["backfill.desk"], run, weights)


def _by_hour(case: Case, bid: Bid | Sequence[Bid | None] | None) -> list[Bid | None]:
    bids = [bid] * case.hours if bid is None or isinstance(bid, Bid) else list(bid)
    for offered in bids:
        if offered is not None:
            case.workload.range.check(offered, job_types=len(case.workload.types))
    if len(bids) != case.hours:
        raise InputError(f"{len(bids)} bids are given for {case.hours} hours")
    return bids


def power_signal(run: Run, start_s: float, idle_w: float) -> Signal:
    """The machine's power as a step function; of rows of one instant the last one holds."""
    time_s, power_w = run.events.time_s, run.events.power_w
    last = np.append(np.diff(time_s) > 0, True)[: time_s.size]
    time_s, power_w = time_s[last], power_w[last]
    if time_s.size == 0 or time_s[0] > start_s:  # nothing is there before the first job
        time_s, power_w = np.append(start_s, time_s), np.append(idle_w, power_w)
    return Signal(time_s, power_w, "W")


def metered(case: Case, power_w: Signal) -> Signal:
    """The power as the meter reads it: with a new error every cycle."""
    if case.meter_noise == 0:
        return power_w
    rng = np.random.default_rng((*case.noise_seed, METER))
    count = int(np.ceil(case.duration_s / case.cycle_s - 1e-9))
    times_s = case.start_s + case.cycle_s * np.arange(count, dtype=np.float64)
    factor = Signal(times_s, 1.0 + case.meter_noise * rng.standard_normal(count))
    edges, (power, read) = overlay((power_w, factor), case.start_s, case.end_s)
    return Signal(edges[:-1], np.maximum(0.0, power * read), "W")


def _judged(case: Case, desk: Desk, run: Run, weights: tuple[float, ...]) -> ContractRun:
    idle_w = case.workload.servers * case.workload.power_w_idle
    actual_w = metered(case, power_signal(run, case.start_s, idle_w))
    hour_s = case.hour_0_s + HOUR_S * np.arange(desk.average.size)
    # An hour that was not bid for is paid at what it used: no reserve, no error.
    average = desk.average.copy()
    for hour in np.flatnonzero(desk.reserve <= 0):
        first_s = max(hour_s[hour], case.start_s)
        end_s = min(hour_s[hour] + HOUR_S, case.end_s)
        average[hour] = actual_w.integral(first_s, end_s) / (end_s - first_s)
    contract = Contract(Signal(hour_s, average, "W"), Signal(hour_s, desk.reserve.copy(), "W"))
    settlement = settled(case, actual_w, contract)
    if not case.judges_tracking:
        settlement = replace(settlement, tracking=replace(settlement.tracking, score=1.0))
    quality, delays_s, degradations = judge_types(case, run)
    return ContractRun(
        case=case, run=run, contract=contract, weights=weights, actual_w=actual_w,
        settlement=settlement, quality=quality, delays_s=delays_s, degradations=degradations,
        desk=desk,
    )
