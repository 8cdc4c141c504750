"""One simulated contract: jobs, signal, prices, policy and bid in; bill and quality out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.engine.truth import TrueTypes
from wattline.engine.world import Nature
from wattline.grid.bidding.problem import BidOutcome, Simulate
from wattline.grid.market import (
    WS_PER_KWH,
    Bid,
    Contract,
    Prices,
    Settlement,
    Tracking,
    overlay,
    saved_share,
    settle,
)
from wattline.grid.qos import TypeQuality, judge, projected_end_s
from wattline.grid.workloads import JobType, Workload
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal
from wattline.policies.admission.none import NoLimit
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.setup import ContractPlan, axes, make_desk

COLUMNS = ("servers", "time_s_min", "time_s_max", "power_w_max", "power_w_min", "threshold")

STANDBY_MANY = 2000
"""From so many standby jobs on, a run first tries to do with fewer."""


@dataclass(frozen=True, eq=False)
class Case:
    """What a contract is simulated with, but for the bid.

    `jobs` carry the type that the policy believes in as their application; `truth` is the type
    that they are, where labels are wrong.
    """

    workload: Workload
    jobs: JobTable
    signal: Signal
    prices: Prices = field(default_factory=Prices.flat)
    policy: str = "aqa"
    start_s: float = 0.0
    duration_s: float = 3600.0
    cycle_s: float = 1.0
    warmup_s: float = 0.0
    """The first seconds, in which the cluster fills: neither billed nor judged."""
    preempt: bool = False
    feedback: bool = False
    adaptive: bool = False
    own_times: bool = False
    """Each job's shortest time is known, as in a log; otherwise only its type's."""
    limit_w: Signal | None = None
    truth: IntArray | None = None
    choose_nodes: bool = False
    mean_quality: bool = False
    """Judge the mean degradation of a type (constraint of the long-job study), not the share."""

    @property
    def types(self) -> tuple[JobType, ...]:
        standby = self.workload.standby
        return self.workload.types if standby is None else (*self.workload.types, standby)

    @property
    def end_s(self) -> float:
        return self.start_s + self.duration_s

    @property
    def judged_s(self) -> float:
        return self.start_s + self.warmup_s


@dataclass(frozen=True, eq=False)
class ContractRun:
    """The result of a case under a bid."""

    case: Case
    run: Run
    contract: Contract
    weights: tuple[float, ...]
    actual_w: Signal
    target_w: Signal
    settlement: Settlement
    quality: tuple[TypeQuality, ...]
    delays_s: tuple[FloatArray, ...]
    degradations: tuple[FloatArray, ...]
    """For each type, the degradation of its jobs."""
    waiting: Signal
    standby_share: float
    """Share of the jobs' energy that standby jobs used."""

    @property
    def tracking(self) -> Tracking:
        return self.settlement.tracking

    @property
    def constraints_met(self) -> bool:
        return self.outcome.met

    @property
    def outcome(self) -> BidOutcome:
        bill = self.settlement
        return BidOutcome(bill.cost, bill.saving, bill.tracking, self.quality, self.delays_s)


def run_contract(case: Case, bid: Bid | Sequence[Bid | None] | None) -> ContractRun:
    """Simulate the case; one bid for all hours, one an hour (None: stay out), or adaptive."""
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
    desk, weights = _desk(case, bid)
    backfill, regulation = axes(case.policy, desk)
    policy = Composition(
        order=Fcfs(), backfill=backfill, admission=NoLimit(), configuration=Requested(),
        placement=FirstFit() if case.choose_nodes else Counted(), regulation=regulation,
    )  # fmt: skip
    # A row a cycle, and one where caps change; for every job only where the map is wanted too.
    rows = int(case.duration_s / case.cycle_s * (8 if case.choose_nodes else 2)) + 4096
    nature = Nature()
    if case.truth is not None:
        nature = Nature(answers=TrueTypes(desk.types, np.array(case.truth, dtype=np.int64)))
    rules = Rules(
        choose_nodes=case.choose_nodes, event_rows=rows, speeds_together=not case.choose_nodes,
        nature=nature,
    )
    run = simulate(case.jobs, _machine(case), policy, rules)
    # The queues and the regulation share the desk, which stands with the first of them.
    return _judged(case, run.memories["backfill.desk"], run, weights)


def _machine(case: Case) -> Machine:
    highest_w = max(t.power_w_max for t in case.types)
    node = NodeClass("server", power_w_idle=case.workload.power_w_idle, power_w_active=highest_w)
    return Machine.uniform(case.workload.servers, node)


def _desk(
    case: Case, bid: Bid | Sequence[Bid | None] | None
) -> tuple[Desk, tuple[float, ...]]:
    hours = int(np.ceil(case.duration_s / 3600.0 - 1e-9))
    if bid is None or isinstance(bid, Bid):
        bids: list[Bid | None] = [bid] * hours
    else:
        bids = list(bid)
    for offered in bids:
        if offered is not None:
            case.workload.range.check(offered, job_types=len(case.workload.types))
    if len(bids) != hours:
        raise InputError(f"{len(bids)} bids are given for {hours} hours")
    plan = ContractPlan(
        case.start_s, case.end_s, case.signal,
        np.array([b.average_w if b else 0.0 for b in bids]),
        np.array([b.reserve_w if b else 0.0 for b in bids]),
        limit_w=case.limit_w, cycle_s=case.cycle_s, adaptive=case.adaptive,
        preempt=case.preempt, feedback=case.feedback,
        own_times=case.own_times,
    )  # fmt: skip
    count = len(case.workload.types)
    equal = (1.0 / count,) * count
    by_hour = [(b.weights if b is not None else ()) or equal for b in bids]
    weights = next((b.weights for b in bids if b is not None and b.weights), equal)
    columns = {name: np.array([getattr(t, name) for t in case.types]) for name in COLUMNS}
    standby = count if case.workload.standby is not None else -1
    desk = make_desk(
        plan, columns, standby=standby,
        weights=np.array([(*w, 0.0)[: len(case.types)] for w in by_hour]),
        names=[t.name for t in case.types],
    )  # fmt: skip
    return desk, weights


def power_signal(run: Run, start_s: float, idle_w: float) -> Signal:
    """The machine's power as a step function; of rows of one instant the last one holds."""
    time_s, power_w = run.events.time_s, run.events.power_w
    last = np.append(np.diff(time_s) > 0, True)
    time_s, power_w = time_s[last], power_w[last]
    if time_s.size == 0 or time_s[0] > start_s:  # nothing is there before the first job
        time_s, power_w = np.append(start_s, time_s), np.append(idle_w, power_w)
    return Signal(time_s, power_w, "W")


def _judged(case: Case, desk: Desk, run: Run, weights: tuple[float, ...]) -> ContractRun:
    idle_w = case.workload.servers * case.workload.power_w_idle
    actual_w = power_signal(run, case.start_s, idle_w)
    hour_s = case.start_s + 3600.0 * np.arange(desk.average.size)
    # An hour that was not bid for is paid at what it used: no reserve, no error.
    average = desk.average.copy()
    for hour in np.flatnonzero(desk.reserve <= 0):
        end_s = min(hour_s[hour] + 3600.0, case.end_s)
        average[hour] = actual_w.integral(hour_s[hour], end_s) / (end_s - hour_s[hour])
    contract = Contract(Signal(hour_s, average, "W"), Signal(hour_s, desk.reserve.copy(), "W"))
    settlement = settle(
        actual_w, contract, case.signal, case.prices, start_s=case.judged_s, end_s=case.end_s
    )
    quality, delays_s, degradations = judge_types(case, run)
    cycles_s = case.start_s + case.cycle_s * np.arange(desk.trace.size)
    return ContractRun(
        case=case, run=run, contract=contract, weights=weights, actual_w=actual_w,
        target_w=contract.target_w(case.signal, case.start_s, case.end_s),
        settlement=settlement, quality=quality, delays_s=delays_s, degradations=degradations,
        waiting=Signal(cycles_s, desk.trace.waiting.astype(np.float64)),
        standby_share=_standby_share(case, run),
    )  # fmt: skip


def judge_types(
    case: Case, run: Run
) -> tuple[tuple[TypeQuality, ...], tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """Quality of every type by its true shortest time, delays and degradations of its jobs."""
    kinds = case.jobs.application if case.truth is None else case.truth
    quality, delays, degradations = [], [], []
    for number, job_type in enumerate(case.workload.types):
        rows = np.flatnonzero((kinds == number) & (case.jobs.submit_s < case.end_s))
        submit_s, time_s = case.jobs.submit_s[rows], case.jobs.run_s[rows]
        # What a paused job has done is read off the energy it used: caps lower both.
        done = run.schedule.energy_j[rows] / (case.jobs.power_w[rows] * time_s)
        end_s = projected_end_s(
            submit_s, run.schedule.start_s[rows], run.schedule.end_s[rows],
            left_s=time_s * np.clip(1 - done, 0, 1), time_s_min=time_s, now_s=case.end_s,
        )  # fmt: skip
        mine = submit_s >= case.judged_s
        submit_s, time_s, end_s = submit_s[mine], time_s[mine], end_s[mine]
        found = judge(
            job_type.name, submit_s, end_s,
            time_s_min=time_s, threshold=job_type.threshold, now_s=case.end_s,
        )  # fmt: skip
        if case.mean_quality:
            over = float(found.mean >= job_type.threshold)
            found = replace(found, violation_share=over, limit=0.5)
        quality.append(found)
        delays.append(np.maximum(0.0, end_s - submit_s - time_s))
        degradations.append(delays[-1] / time_s)
    return tuple(quality), tuple(delays), tuple(degradations)


def _standby_share(case: Case, run: Run) -> float:
    total_j = float(run.schedule.energy_j.sum())
    if case.workload.standby is None or total_j == 0:
        return 0.0
    standby = case.jobs.application == len(case.workload.types)
    return float(run.schedule.energy_j[standby].sum()) / total_j


def after_warmup(signal: Signal, warmup_s: float) -> Signal:
    """The signal once the warm-up is over; in it the cluster is to follow the average."""
    time_s = np.append(0.0, signal.time_s + warmup_s)
    return Signal(time_s, np.append(0.0, signal.value), signal.unit)


def simulator(cases: Case | Sequence[Case], hold: float = 0.0) -> Simulate:
    """What a bidder calls: the outcome of a bid, pooled over the cases.

    With `hold`, once a bid is known that holds, others are given up as soon as they cannot: on the
    cases seen till then they fail as surely as on all.
    """
    chosen = [cases] if isinstance(cases, Case) else list(cases)
    spare = math.floor((1 - hold) * len(chosen) + 1e-9)
    known = False

    def outcome(bid: Bid) -> BidOutcome:
        nonlocal known
        runs: list[ContractRun] = []
        missed = 0
        for case in chosen:
            runs.append(run_contract(case, bid))
            missed += not runs[-1].constraints_met
            if hold > 0 and known and missed > spare:
                break
        found = pool(runs, hold)
        known = known or found.met
        return found

    return outcome


def pool(runs: Sequence[ContractRun], hold: float = 0.0) -> BidOutcome:
    """One outcome of several runs: mean bill, all jobs judged together.

    With `hold`, this share of the runs must meet all constraints by itself.
    """
    if len(runs) == 1:
        return runs[0].outcome
    types = len(runs[0].quality)
    quality = []
    for number in range(types):
        parts = [run.quality[number] for run in runs]
        jobs = sum(q.jobs for q in parts)
        late = sum(q.violation_share * q.jobs for q in parts)
        total = sum(q.mean * q.jobs for q in parts)
        quality.append(
            replace(
                parts[0], jobs=jobs, unfinished=sum(q.unfinished for q in parts),
                violation_share=late / jobs if jobs else 0.0, mean=total / jobs if jobs else 0.0,
                quantile=max(q.quantile for q in parts),
            )
        )  # fmt: skip
    delays = tuple(
        np.concatenate([run.delays_s[number] for run in runs]) for number in range(types)
    )
    bills = [run.settlement for run in runs]
    tracking = Tracking(
        float(np.mean([b.tracking.mean for b in bills])),
        float(np.mean([b.tracking.exceed_share for b in bills])),
        float(np.mean([b.tracking.short_share for b in bills])),
    )
    cost = float(np.mean([b.cost for b in bills]))
    without = float(np.mean([b.cost_without for b in bills]))
    return BidOutcome(cost, saved_share(cost, without), tracking, tuple(quality), delays,
                   tuple(run.outcome for run in runs), hold)  # fmt: skip


def uncontrolled_w(case: Case, start_s: float | None = None, end_s: float | None = None) -> float:
    """Mean power over the contract if every job ran at once at full speed: the energy's base.

    As the bill, it leaves the warm-up out, but for what runs on from it. With a start and an end,
    the mean between these.
    """
    first_s = case.judged_s if start_s is None else start_s
    last_s = case.end_s if end_s is None else end_s
    time_s = np.maximum(0.0, np.minimum(case.jobs.submit_s + case.jobs.run_s, last_s)
                        - np.maximum(case.jobs.submit_s, first_s))  # fmt: skip
    ordinary = case.jobs.application < len(case.workload.types)
    extra_w = case.jobs.power_w - case.jobs.procs * case.workload.power_w_idle
    idle_w = case.workload.servers * case.workload.power_w_idle
    return float(idle_w + (time_s * extra_w)[ordinary].sum() / (last_s - first_s))


def uncontrolled_cost(case: Case) -> float:
    """The bill of that power: each step of the energy price with what is drawn in it."""
    edges, (price,) = overlay((case.prices.energy,), case.judged_s, case.end_s)
    spans = zip(edges[:-1], edges[1:], price, strict=True)
    return sum(
        float(value) * uncontrolled_w(case, float(first_s), float(last_s))
        * float(last_s - first_s) / WS_PER_KWH
        for first_s, last_s, value in spans
    )  # fmt: skip


def mislabelled(
    jobs: JobTable, types: int, share: float, rng: np.random.Generator
) -> tuple[JobTable, npt.NDArray[np.int64]]:
    """Jobs of which this share carries the label of another type of the same size, and the truth.

    Sizes are known when a job is submitted; only profiles can be wrong.
    """
    truth = np.array(jobs.application)
    label = truth.copy()
    size_of = {int(k): int(jobs.procs[truth == k][0]) for k in np.unique(truth)}
    for row in np.flatnonzero((truth < types) & (rng.random(truth.size) < share)):
        others = [k for k in range(types) if k != truth[row]
                  and size_of.get(k) == size_of[int(truth[row])]]  # fmt: skip
        if others:
            label[row] = rng.choice(others)
    return jobs.with_columns(application=label), truth

