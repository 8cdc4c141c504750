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
from wattline.network.placement import BASELINES
from wattline.network.topology import dragonfly
from wattline.studies.dragonfly.evaluate import Bench, Known
from wattline.studies.dragonfly.workloads import Workload, random_workload

POLICIES = ("level-spread", *BASELINES, "jokanovic")
CHUNK = 5


@dataclass(frozen=True)
class Settings:
    """What all random workloads of a comparison share."""

    seed: int = 1
    repeats: int = 1
    large_first: bool = False
    pattern: str = ""
    """One pattern for all jobs; empty for a pattern drawn for each kind."""
    packets: bool = False
    steps: bool = False
    """Whether tasks wait for each other, step by step; only packets can."""
    node_gbit_s: float = 8.0
    global_gbit_s: float = 8.0


@dataclass(frozen=True, eq=False)
class PlacementComparison:
    """Times of every workload (row) under every policy (column): small jobs, large jobs."""

    policies: tuple[str, ...]
    time_s: FloatArray
    """Axes: workload, policy, small or large."""
    waited_node_s: FloatArray
    """Axes: workload, policy."""
    node_s: FloatArray
    """Axes: workload, policy."""

    def against(self, others: Sequence[str]) -> dict[str, float]:
        """How Level-Spread does against these, each workload and each of them being a case."""
        own = self.time_s[:, self.policies.index("level-spread")]
        columns = [self.policies.index(other) for other in others]
        reduction = 1.0 - own[:, None] / self.time_s[:, columns]
        return {
            "strictly_better": float((reduction > 0).all(axis=2).mean()),
            "strictly_worse": float((reduction < 0).all(axis=2).mean()),
            "mean_reduction": float(reduction.mean()),
            "max_reduction": float(reduction.max()),
        }

    def relative(self) -> dict[str, tuple[float, float]]:
        """Geometric mean time of small and large jobs, Level-Spread being 1."""
        own = self.time_s[:, [self.policies.index("level-spread")]]
        means = np.exp(np.log(self.time_s / own).mean(axis=0))
        return {name: (float(means[i, 0]), float(means[i, 1]))
                for i, name in enumerate(self.policies)}


def workload(settings: Settings, number: int) -> Workload:
    """The random workload of this number; the order of its jobs is by kind."""
    made = random_workload(np.random.default_rng((settings.seed, number)),
                           pattern=settings.pattern)
    return made.reversed() if settings.large_first else made


def run_chunk(settings: Settings,
              numbers: Sequence[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times and waits of some workloads under every policy."""
    bench = _bench(settings)
    times = np.empty((len(numbers), len(POLICIES), 2))
    waited = np.empty((len(numbers), len(POLICIES)))
    spent = np.empty((len(numbers), len(POLICIES)))
    for row, number in enumerate(numbers):
        work = workload(settings, number)
        known: Known = {}
        for column, policy in enumerate(POLICIES):
            outcome = bench.run(work, policy, seed=number, repeats=settings.repeats,
                                known=known)
            kinds = outcome.time_s[::-1] if settings.large_first else outcome.time_s
            times[row, column] = kinds
            waited[row, column] = outcome.waited_node_s
            spent[row, column] = outcome.node_s
    return times, waited, spent


_benches: dict[Settings, Bench] = {}


def _bench(settings: Settings) -> Bench:
    """The machine of a comparison; a worker process keeps it between chunks."""
    if settings not in _benches:
        machine = dragonfly(node_gbit_s=settings.node_gbit_s,
                            global_gbit_s=settings.global_gbit_s)
        _benches[settings] = Bench(machine, packets=settings.packets, steps=settings.steps)
    return _benches[settings]


def compare(settings: Settings, workloads: int, pool: Pool) -> PlacementComparison:
    """Evaluate this many random workloads under all policies."""
    chunks = [range(first, min(first + CHUNK, workloads)) for first in range(0, workloads, CHUNK)]
    parts = pool.map(run_chunk, [(settings, chunk) for chunk in chunks])
    figures = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return PlacementComparison(POLICIES, *figures)


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
            weight: float = 1.0) -> list[Any]:
        """Results in the order of the calls; each call that is done counts `weight`."""
        if self._executor is None:
            results = []
            for call in calls:
                results.append(function(*call))
                self.step(weight)
            return results
        futures = [self._executor.submit(function, *call) for call in calls]
        for future in as_completed(futures):
            future.result()
            self.step(weight)
        return [future.result() for future in futures]
