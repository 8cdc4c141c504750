"""The simulations of the PuPPET study: which there are, and what is measured of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.wait import Wait
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import AdmissionPolicy, Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation
from wattline.studies.puppet.workloads import StudiedJobs

LOWEST = 0.5
"""The slowest relative frequency. The publication names none (P1 to Pm): it is an assumption, whose
effect the study shows."""
CORE_SHARE = 0.65
WAIT_S, WAIT_SLOTS = 30_000.0, 10
ORDERS = ("fcfs", "wfp")
WHOLE = -1
"""In place of the number of a part: the whole log."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CappedCase:
    """One simulation, with the defaults of the published study."""

    part: int
    order: str
    method: str
    """none, block, wait or dvfs"""
    cap: float = 0.7
    """As a fraction of the reference peak."""
    alpha: float = 2.0
    beta: float = 0.5
    idle: float = 0.3
    """Idle power of a node as a fraction of its full power."""
    lowest: float = LOWEST
    """The slowest level of DVFS; the others follow in steps of a tenth, up to 1."""
    counts: Literal["machine", "jobs"] = "machine"
    """What the cap counts: idle nodes too, or running jobs alone."""

    @property
    def levels(self) -> tuple[float, ...]:
        steps = round((1.0 - self.lowest) / 0.1)
        return tuple(round(1.0 - 0.1 * (steps - i), 10) for i in range(steps + 1))


@dataclass(frozen=True)
class Figures:
    """What is measured of a simulation."""

    utilisation: float
    wait_s: float
    edp_js: float
    energy_j: float
    makespan_s: float
    peak_w: float
    cap_w: float
    above_cap_s: float
    jobs: int
    not_run: int


@dataclass(frozen=True)
class Ratio:
    """A case against the same jobs without a cap."""

    case: CappedCase
    utilisation: float
    wait: float
    edp: float
    figures: Figures
    baseline: Figures
    left_out: int
    """Jobs that alone, on an idle machine, would exceed the cap: left out on both sides."""
    left_out_share: float
    """Their part of the node-seconds."""


class Laboratory:
    """Runs cases on a workload; the caps are fractions of one reference power."""

    def __init__(self, workload: StudiedJobs, reference_w: float | None = None) -> None:
        """`reference_w`: what caps are parts of, where it is not this workload's own peak."""
        self.workload = workload
        if reference_w is not None:
            self.reference_w = reference_w
            return
        everybody = np.ones(len(workload.parts[0]), np.bool_)
        reference = self.run(CappedCase(0, "fcfs", "none"), everybody)
        self.reference_w = reference.power_w_peak

    def cap_w(self, case: CappedCase) -> float:
        return float("inf") if case.method == "none" else case.cap * self.reference_w

    def jobs_of(self, case: CappedCase) -> JobTable:
        return self.workload.whole if case.part == WHOLE else self.workload.parts[case.part]

    def can_run(self, case: CappedCase) -> Mask:
        """Which jobs could start at all under the cap: alone, at the lowest level."""
        jobs = self.jobs_of(case)
        idle_w = case.idle * self.workload.node_w
        lowest = power_factor(case.lowest, case.alpha) if case.method == "dvfs" else 1.0
        alone_w = jobs.power_w * lowest
        if case.counts == "machine":
            alone_w = alone_w + (self.workload.nodes - jobs.procs) * idle_w
        return np.asarray(alone_w <= self.cap_w(case) * (1.0 + CAP_SLACK), dtype=np.bool_)

    def run(self, case: CappedCase, chosen: Mask) -> Run:
        jobs = self.jobs_of(case)
        machine = Machine.uniform(self.workload.nodes, NodeClass(
            power_w_idle=case.idle * self.workload.node_w, power_w_active=self.workload.node_w))
        cap_w = self.cap_w(case)
        rules = Rules(cap_w=None if cap_w == float("inf") else Signal.constant(cap_w, "W"),
                      cap_counts=case.counts)
        return simulate(jobs if chosen.all() else jobs.take(chosen), machine,
                        composition(case), rules)

    def measure(self, case: CappedCase, chosen: Mask) -> Figures:
        run = self.run(case, chosen)
        ran = run.ran
        end_s, start_s = run.schedule.end_s[ran], run.schedule.start_s[ran]
        makespan_s = float(end_s.max() - run.jobs.submit_s[0])
        used = float(np.dot(run.schedule.nodes[ran], end_s - start_s))
        return Figures(
            utilisation=used / (self.workload.nodes * makespan_s),
            wait_s=float(np.mean(start_s - run.jobs.submit_s[ran])),
            edp_js=run.energy_j * makespan_s,
            energy_j=run.energy_j,
            makespan_s=makespan_s,
            peak_w=run.power_w_peak,
            cap_w=self.cap_w(case),
            above_cap_s=run.time_above_cap_s,
            jobs=int(ran.sum()),
            not_run=int((~ran).sum()),
        )

    def ratios(self, cases: Iterable[CappedCase],
               advance: Callable[[float], None] = lambda share: None) -> dict[CappedCase, Ratio]:
        """Every case and its baseline, on two threads (the engine lets go of the interpreter)."""
        wanted = list(dict.fromkeys(cases))
        masks = {case: self.can_run(case) for case in wanted}
        self._refuse_idle_parts(masks)
        work: dict[tuple[CappedCase, bytes], Mask] = {}
        for case in wanted:
            for known in (case, _baseline(case)):
                work[known, masks[case].tobytes()] = masks[case]
        found: dict[tuple[CappedCase, bytes], Figures] = {}
        with ThreadPoolExecutor(2) as pool:
            tasks = {pool.submit(self.measure, key[0], mask): key for key, mask in work.items()}
            for task in as_completed(tasks):
                found[tasks[task]] = task.result()
                advance(len(found) / len(work))
        return {case: self._ratio(case, masks[case], found) for case in wanted}

    def _refuse_idle_parts(self, masks: dict[CappedCase, Mask]) -> None:
        """Before anything is simulated: a part of which no job may start has no figures."""
        for case, mask in masks.items():
            if not mask.any():
                raise InputError(
                    f"no job of a part of the log can start under a cap of {case.cap:.0%}: its "
                    f"{len(mask)} jobs, of {len(self.workload.whole):,} in all, are too few for "
                    "this study")

    def _ratio(self, case: CappedCase, mask: Mask,
               found: dict[tuple[CappedCase, bytes], Figures]) -> Ratio:
        key = mask.tobytes()
        mine, base = found[case, key], found[_baseline(case), key]
        jobs = self.jobs_of(case)
        node_s = jobs.procs * jobs.run_s
        return Ratio(
            case, mine.utilisation / base.utilisation,
            mine.wait_s / base.wait_s if base.wait_s > 0 else float("nan"),
            mine.edp_js / base.edp_js, mine, base,
            int((~mask).sum()), float(node_s[~mask].sum() / node_s.sum()),
        )


def composition(case: CappedCase) -> Composition:
    """The policy of a case."""
    levels, jobs_only = case.levels, case.counts == "jobs"
    methods: dict[str, AdmissionPolicy] = {
        "none": NoLimit(), "block": Block(jobs_only),
        "wait": Wait(WAIT_S, WAIT_SLOTS, jobs_only),
        "dvfs": Dvfs(np.array([f**case.beta for f in levels]),
                     np.array([power_factor(f, case.alpha) for f in levels]),
                     share=np.array(levels), jobs_only=jobs_only),
    }
    return Composition(Fcfs() if case.order == "fcfs" else Wfp(), Easy(), methods[case.method],
                       Requested(), Counted(), NoRegulation())


def power_factor(f: float, alpha: float) -> float:
    """Power of a job at relative frequency f: the cores' share scales, the rest does not."""
    return float(CORE_SHARE * f**alpha + 1.0 - CORE_SHARE)


def _baseline(case: CappedCase) -> CappedCase:
    """The same jobs without a cap: only the order and the idle power matter."""
    return replace(CappedCase(case.part, case.order, "none"), idle=case.idle)
