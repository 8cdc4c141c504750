"""What a contract is simulated with: jobs, signal, prices and policy; all but the bid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from wattline.grid.curtailment import Curtailment
from wattline.grid.dayahead import HOUR_S
from wattline.grid.event_file import Replayed
from wattline.grid.market import Prices
from wattline.grid.programme import Programme
from wattline.grid.workloads import JobType, Workload
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import NodeClass
from wattline.model.signal import FloatArray, Signal


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
    start_share: float = 1.0
    """Share of the power range at which starts are planned where no bid says it."""
    weights: tuple[float, ...] = ()
    """Of the types, where no bid says them; empty means equal."""
    reserve: bool = True
    """QoSCap keeps servers for wide jobs that are due."""
    preempt: bool = False
    sleep: NodeClass | None = None
    """Idle servers may sleep: a node with its powers and times for that. None: they idle."""
    feedback: bool = False
    programme: Programme | None = None
    """Whose rule judges; None: the published one, errors above 30 % for less than a tenth."""
    pue: float = 1.0
    """The powers of the workload are its servers' times this."""
    latency_s: float = 0.0
    """By so much the control is behind the signal."""
    meter_noise: float = 0.0
    """Standard deviation of what the meter reads, relative to the power."""
    noise_seed: tuple[int, ...] = (0,)
    credited: bool = False
    """The programme's credit is in the bill: the price of reserve is what it pays at full score."""
    adaptive: bool = False
    own_times: bool = False
    """Each job's shortest time is known, as in a log; otherwise only its type's."""
    own_powers: bool = False
    """Each job draws its own power, as a log measured it; rules know only its type's."""
    assumed: tuple[str, ...] = ()
    """Basis of the powers of the jobs, where nobody gave them: a sentence each."""
    limit_w: Signal | None = None
    """A power not to exceed: of a curtailment, or of the caps of events."""
    events: Replayed | None = None
    """What the events of a file ask for."""
    curtailment: Curtailment | None = None
    baseline_w: float = float("nan")
    """From which the curtailment's limit is a share below."""
    reduction_paid: bool = False
    """The programme's credit for the curtailment is in the bill."""
    truth: IntArray | None = None
    choose_nodes: bool = False
    mean_quality: bool = False
    """Judge the mean degradation of a type (constraint of the long-job study), not the share."""
    judges_tracking: bool = True
    """False: any tracking error is allowed, and only paid for."""

    @property
    def types(self) -> tuple[JobType, ...]:
        standby = self.workload.standby
        return self.workload.types if standby is None else (*self.workload.types, standby)

    @cached_property
    def coming_jobs(self) -> ComingJobs:
        """The jobs of the workload's types that come before the end, by their true type."""
        kinds = self.jobs.application if self.truth is None else self.truth
        here = self.jobs.submit_s < self.end_s
        rows = [np.flatnonzero((kinds == number) & here)
                for number in range(len(self.workload.types))]
        together = np.concatenate(rows)
        submit_s = self.jobs.submit_s[together]
        mine = submit_s >= self.judged_s
        types = _in_turn([each.size for each in rows])
        return ComingJobs(together, submit_s, self.jobs.run_s[together], types, mine,
                          _in_turn([int(np.count_nonzero(mine[each])) for each in types]))

    @property
    def end_s(self) -> float:
        return self.start_s + self.duration_s

    @property
    def judged_s(self) -> float:
        return self.start_s + self.warmup_s

    @property
    def block_s(self) -> float:
        """Length of what one bid is offered for."""
        return block_s(self.duration_s - self.warmup_s, self.programme)

    @property
    def hour_0_s(self) -> float:
        """When the first bid's hour began: bids are by the hours of the contract itself."""
        return self.judged_s - HOUR_S * self.warmup_hours

    @property
    def warmup_hours(self) -> int:
        """Bids before the contract itself, the first for a part of an hour."""
        return math.ceil(self.warmup_s / HOUR_S - 1e-9)

    @property
    def hours(self) -> int:
        """Bids from there on, a last one for a part of an hour."""
        return math.ceil((self.end_s - self.hour_0_s) / HOUR_S - 1e-9)


@dataclass(frozen=True, eq=False)
class ComingJobs:
    """The jobs that come before the end, type by type; they are the same in all runs of a case."""

    rows: npt.NDArray[np.int64]
    submit_s: FloatArray
    time_s: FloatArray
    types: tuple[slice, ...]
    """Where those of each type stand."""
    judged: npt.NDArray[np.bool_]
    """Which of them were submitted in the contract itself."""
    judged_types: tuple[slice, ...]
    """Where those of each type stand once the others are left out."""


def _in_turn(counts: Sequence[int]) -> tuple[slice, ...]:
    """Where so many of each stand, one kind after the other."""
    ends = list(accumulate(counts, initial=0))
    return tuple(slice(first, end) for first, end in pairwise(ends))


def block_s(duration_s: float, programme: Programme | None) -> float:
    """Length of the market's product, an hour where no market says it; at most the contract."""
    return min(duration_s, HOUR_S if programme is None else programme.terms.product_s)


def after_warmup(signal: Signal, warmup_s: float) -> Signal:
    """The signal once the warm-up is over; in it the cluster is to follow the average."""
    time_s = np.append(0.0, signal.time_s + warmup_s)
    return Signal(time_s, np.append(0.0, signal.value), signal.unit)


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
                  and size_of.get(k) == size_of[int(truth[row])]]
        if others:
            label[row] = rng.choice(others)
    return jobs.with_columns(application=label), truth
