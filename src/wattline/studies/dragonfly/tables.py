"""Equal jobs, two sizes of jobs, message sizes, machines and bandwidths: time beside simple."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wattline.network.topology import dragonfly
from wattline.network.traffic import PATTERNS
from wattline.studies.dragonfly.compare import POLICIES, Pool
from wattline.studies.dragonfly.evaluate import Bench, Known
from wattline.studies.dragonfly.workloads import JobKind, JobMix, heterogeneous, homogeneous

RATIOS = (0.25, 1.0, 4.0)
MACHINES = ((4, 17), (8, 17), (4, 33), (8, 33))
"""Routers per group, and groups; four nodes per router: 272, 544, 528 and 1,056 nodes."""


@dataclass(frozen=True)
class PlacedCase:
    """One cell of a table: a machine, a workload, a setting."""

    routers_per_group: int
    groups: int
    ratio: float
    """Bandwidth of global links over that of local ones (8 Gbit/s)."""
    label: str
    pattern: str
    workload: JobMix
    utilization: float = 0.9
    """Part of the nodes that jobs may fill."""
    steps: bool = False
    """By packets, tasks waiting for each other; otherwise by flows, all messages at once."""

    @property
    def nodes(self) -> int:
        return 4 * self.routers_per_group * self.groups


@dataclass(frozen=True)
class RelativeTimes:
    """Times of a case under every policy, over those of simple: one number per kind of job."""

    case: PlacedCase
    relative: Mapping[str, tuple[float, ...]]


_benches: dict[tuple[int, int, float, bool], Bench] = {}


def run_case(case: PlacedCase, seed: int, repeats: int) -> RelativeTimes:
    """Evaluate one case under all policies."""
    key = (case.routers_per_group, case.groups, case.ratio, case.steps)
    if key not in _benches:
        _benches.clear()  # one machine at a time: the paths of large ones fill memory
        _benches[key] = Bench(dragonfly(4, case.routers_per_group, case.groups,
                                        global_gbit_s=8.0 * case.ratio),
                              packets=case.steps, steps=case.steps)
    bench = _benches[key]
    known: Known = {}
    times = {name: bench.run(case.workload, name, seed, repeats, known).time_s
             for name in POLICIES}
    return RelativeTimes(case, {name: tuple((time_s / times["simple"]).tolist())
                                for name, time_s in times.items()})


def homogeneous_cases(ratios: Sequence[float] = RATIOS,
                      machines: Sequence[tuple[int, int]] = ((4, 17),),
                      utilization: float = 0.9) -> list[PlacedCase]:
    """Jobs of 16 nodes, of 64 nodes, and of a quarter of the machine."""
    cases = []
    for routers, groups in machines:
        nodes = 4 * routers * groups
        for label, size in (("16-node", 16), ("64-node", 64), ("quarter", nodes // 4)):
            # Four quarters fill the machine, whatever the utilization.
            used = 1.0 if label == "quarter" else utilization
            cases += [PlacedCase(routers, groups, ratio, label, pattern,
                           homogeneous(nodes, size, pattern, utilization=used), utilization)
                      for ratio in ratios for pattern in PATTERNS]
    return cases


def stepped_cases() -> list[PlacedCase]:
    """Jobs of 16 and of 64 nodes at equal bandwidths, packet by packet and step by step."""
    return [replace(case, steps=True) for case in homogeneous_cases(ratios=(1.0,))
            if case.label != "quarter"]


def heterogeneous_cases(ratios: Sequence[float] = RATIOS,
                        machines: Sequence[tuple[int, int]] = MACHINES) -> list[PlacedCase]:
    """16-node and 64-node jobs together: all ratios on 272 nodes, ratio 1 on the others."""
    settings = [(*machines[0], ratio) for ratio in ratios]
    settings += [(*machine, 1.0) for machine in machines[1:]]
    return [PlacedCase(routers, groups, ratio, "16+64-node", pattern,
                 heterogeneous(4 * routers * groups, pattern))
            for routers, groups, ratio in settings for pattern in PATTERNS]


def intensity_cases() -> list[PlacedCase]:
    """Three 16-node and three 64-node jobs whose messages differ in size."""
    cases = []
    for small, large in ((1024.0, 102400.0), (1024.0, 1024.0), (102400.0, 1024.0)):
        label = f"{small / 1024:g} KB + {large / 1024:g} KB"
        cases += [PlacedCase(4, 17, 1.0, label, pattern,
                       JobMix((JobKind(16, 3, pattern, small), JobKind(64, 3, pattern, large))))
                  for pattern in PATTERNS]
    return cases


def run_cases(
    cases: Sequence[PlacedCase], pool: Pool, *, seed: int, repeats: int
) -> list[RelativeTimes]:
    """Evaluate cases, those of one machine one after the other."""
    return list(pool.map(run_case, [(case, seed, repeats) for case in cases]))


def reduction_range(rows: Sequence[RelativeTimes], better: Sequence[str], worse: Sequence[str],
                    kind: int = 0) -> tuple[float, float]:
    """Least and greatest reduction of the mean of some policies against the mean of others."""
    cuts = []
    for row in rows:
        good = sum(row.relative[name][kind] for name in better) / len(better)
        bad = sum(row.relative[name][kind] for name in worse) / len(worse)
        cuts.append(1.0 - good / bad)
    return min(cuts), max(cuts)
