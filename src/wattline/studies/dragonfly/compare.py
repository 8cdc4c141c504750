"""Level-Spread against the other placements over many random workloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from wattline.model.signal import FloatArray
from wattline.model.worker_pool import worker_pool
from wattline.network.packets import Rule
from wattline.network.placement import BASELINES
from wattline.network.topology import dragonfly
from wattline.studies.dragonfly.allocator import JOKANOVIC_CODE
from wattline.studies.dragonfly.checkpoint import Checkpoint
from wattline.studies.dragonfly.comparison import PlacementComparison
from wattline.studies.dragonfly.evaluate import Bench, Known
from wattline.studies.dragonfly.workloads import JobMix, random_workload

POLICIES = ("level-spread", *BASELINES, "jokanovic", JOKANOVIC_CODE)
CHUNK = 5


@dataclass(frozen=True)
class WorkloadSettings:
    """What all random workloads of a comparison share."""

    seed: int = 1
    repeats: int = 1
    large_first: bool = False
    pattern: str = ""
    """One pattern for all jobs; empty for a pattern drawn for each kind."""
    packets: bool = False
    steps: bool = False
    """Whether tasks wait for each other, step by step; only packets can."""
    routing: str = "adaptive"
    rule: Rule | None = None
    """What packets go by at their source, where it is not the rule of the routing."""
    node_gbit_s: float = 8.0
    global_gbit_s: float = 8.0


Figures = tuple[FloatArray, FloatArray, FloatArray]
"""Times, node-seconds waited and node-seconds in all, with a row per workload."""


def workload(settings: WorkloadSettings, number: int) -> JobMix:
    """The random workload of this number; the order of its jobs is by kind."""
    made = random_workload(np.random.default_rng((settings.seed, number)),
                           pattern=settings.pattern)
    return made.reversed() if settings.large_first else made


def run_chunk(settings: WorkloadSettings, numbers: Sequence[int], run: int = 0) -> Figures:
    """Times and waits of one run of some workloads under every policy."""
    bench = _bench(settings)
    times = np.empty((len(numbers), len(POLICIES), 2))
    waited = np.empty((len(numbers), len(POLICIES)))
    spent = np.empty((len(numbers), len(POLICIES)))
    for row, number in enumerate(numbers):
        work = workload(settings, number)
        known: Known = {}
        for column, policy in enumerate(POLICIES):
            outcome = bench.run(work, policy, seed=number, known=known, first=run)
            kinds = outcome.time_s[::-1] if settings.large_first else outcome.time_s
            times[row, column] = kinds
            waited[row, column] = outcome.waited_node_s
            spent[row, column] = outcome.node_s
    return times, waited, spent


_benches: dict[WorkloadSettings, Bench] = {}


def _bench(settings: WorkloadSettings) -> Bench:
    """The machine of a comparison; a worker process keeps it between chunks."""
    if settings not in _benches:
        machine = dragonfly(node_gbit_s=settings.node_gbit_s,
                            global_gbit_s=settings.global_gbit_s)
        _benches[settings] = Bench(machine, packets=settings.packets, steps=settings.steps,
                                   routing=settings.routing, rule=settings.rule)
    return _benches[settings]


def compare(settings: WorkloadSettings, workloads: int, pool: Pool,
            checkpoint: Checkpoint | None = None) -> PlacementComparison:
    """Evaluate this many random workloads under all policies: the means of their runs.

    With a checkpoint, runs that stand there are not made again, and those that are made are
    written there, a few at a time.
    """
    known = dict(checkpoint.known(settings)) if checkpoint else {}
    calls = []
    for run in range(settings.repeats):
        missing = [number for number in range(workloads) if (number, run) not in known]
        calls += [(settings, missing[first:first + CHUNK], run)
                  for first in range(0, len(missing), CHUNK)]

    def keep(place: int, part: Figures) -> None:
        _, numbers, run = calls[place]
        for row, number in enumerate(numbers):
            known[number, run] = tuple(array[row] for array in part)
        if checkpoint:
            checkpoint.add(settings, numbers, run, part)

    pool.map(run_chunk, calls, done=keep)
    figures = (np.array([np.mean([known[number, run][i] for run in range(settings.repeats)], axis=0)
                         for number in range(workloads)]) for i in range(3))
    return PlacementComparison(POLICIES, *figures)


def chunks_of(settings: WorkloadSettings, workloads: int) -> int:
    """How many calls a comparison makes of its pool, where nothing is known yet."""
    return settings.repeats * -(-workloads // CHUNK)


class Pool:
    """Worker processes that are started once, and a count of what they have done."""

    def __init__(self, workers: int, advance: Callable[[float], None] | None = None) -> None:
        self.workers = workers
        self.advance = advance or (lambda fraction: None)
        self._done = 0.0
        self._planned = 1.0
        self._executor: ProcessPoolExecutor | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Pool:
        if self.workers > 1:
            self._executor = self._stack.enter_context(worker_pool(self.workers))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def plan(self, weight: float) -> None:
        """Say how much work is to come, in any unit that `step` is counted in too."""
        self._planned = max(weight, 1e-9)

    def step(self, weight: float) -> None:
        self._done += weight
        self.advance(min(1.0, self._done / self._planned))

    def map(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]],
            weight: float = 1.0, done: Callable[[int, Any], None] | None = None) -> list[Any]:
        """Results in the order of the calls; each call that is done counts `weight`.

        `done` is told of each result as soon as it is there, with the place of its call.
        """
        done = done or (lambda place, result: None)
        if self._executor is None:
            results = []
            for place, call in enumerate(calls):
                results.append(function(*call))
                done(place, results[-1])
                self.step(weight)
            return results
        futures = {self._executor.submit(function, *call): place
                   for place, call in enumerate(calls)}
        for future in as_completed(futures):
            done(futures[future], future.result())
            self.step(weight)
        return [future.result() for future in futures]
