"""The workloads of the evaluation: equal jobs, two sizes of jobs, and random mixes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.model.signal import FloatArray
from wattline.network.traffic import PATTERNS

SMALL, LARGE = 0, 1


@dataclass(frozen=True)
class JobKind:
    """Equal jobs of a workload."""

    nodes: int
    count: int
    pattern: str
    message_bytes: float = 1024.0


@dataclass(frozen=True)
class JobMix:
    """Two kinds of jobs, or one; they are placed in this order and start together."""

    kinds: tuple[JobKind, ...]

    @property
    def nodes(self) -> int:
        return sum(kind.nodes * kind.count for kind in self.kinds)

    @property
    def sizes(self) -> list[int]:
        return [kind.nodes for kind in self.kinds for _ in range(kind.count)]

    def kind_means(self, per_job: FloatArray) -> FloatArray:
        """Mean over the jobs of each kind."""
        ends = np.cumsum([kind.count for kind in self.kinds])
        parts = np.split(per_job, ends[:-1])
        return np.array([part.mean() for part in parts])

    def reversed(self) -> JobMix:
        """The same jobs, the other kind first."""
        return JobMix(self.kinds[::-1])


def homogeneous(machine_nodes: int, job_nodes: int, pattern: str, *, utilization: float = 0.9,
                message_bytes: float = 1024.0) -> JobMix:
    """As many equal jobs as the utilization allows, but at least one."""
    count = max(1, int(machine_nodes * utilization / job_nodes + 1e-9))
    return JobMix((JobKind(job_nodes, count, pattern, message_bytes),))


def heterogeneous(machine_nodes: int, pattern: str, *, utilization: float = 0.9,
                  small_bytes: float = 1024.0, large_bytes: float = 1024.0) -> JobMix:
    """Equally many 16-node and 64-node jobs, small ones first."""
    count = max(1, int(machine_nodes * utilization / 80 + 1e-9))
    return JobMix((JobKind(16, count, pattern, small_bytes),
                     JobKind(64, count, pattern, large_bytes)))


def random_workload(rng: np.random.Generator, machine_nodes: int = 272, group_nodes: int = 16,
                    pattern: str = "") -> JobMix:
    """A random mix: large jobs of 17 to 136 nodes and small ones of 2 to 16, small ones first.

    Sizes are drawn evenly, then how many large jobs, then how many small ones fit beside them;
    each kind has a pattern of its own unless one is given.
    """
    large = int(rng.integers(group_nodes + 1, machine_nodes // 2 + 1))
    small = int(rng.integers(2, group_nodes + 1))
    many_large = int(rng.integers(1, (machine_nodes - small) // large + 1))
    many_small = int(rng.integers(1, (machine_nodes - many_large * large) // small + 1))
    drawn = [pattern or PATTERNS[int(rng.integers(len(PATTERNS)))] for _ in range(2)]
    return JobMix((JobKind(small, many_small, drawn[SMALL]),
                     JobKind(large, many_large, drawn[LARGE])))
