"""The whole study: what is run, and what is printed beside the published figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wattline.model.machine import NodeClass
from wattline.network.placement import BASELINES
from wattline.network.traffic import PATTERNS
from wattline.studies.dragonfly import congestor, published
from wattline.studies.dragonfly.compare import CHUNK, PlacementComparison, Pool, Settings, compare
from wattline.studies.dragonfly.tables import (
    RATIOS,
    Row,
    heterogeneous_cases,
    homogeneous_cases,
    intensity_cases,
    reduction_range,
    run_cases,
    stepped_cases,
)

GROUPING = ("simple", "slurm", "rdg")
SPREADING = ("rdn", "rdr", "rrn", "rrr")


@dataclass(frozen=True)
class StudyPlan:
    """How much of the study to run."""

    workloads: int = 1000
    seed: int = 1
    repeats: int = 2
    """Runs, with other mappings, of random workloads (small jobs first) and of equal jobs; the
    rest runs once."""
    quick: bool = False
    packets: int = 20
    """Random workloads to run packet by packet as well, 0 for none."""
    workers: int = 2
    node_gbit_s: float = 8.0

    @classmethod
    def fast(cls, seed: int = 1, packets: int = 0, workers: int = 2) -> StudyPlan:
        """50 random workloads, and only the tables of one machine."""
        return cls(workloads=50, seed=seed, quick=True, packets=packets, workers=workers)


@dataclass(frozen=True, eq=False)
class Study:
    """All results."""

    plan: StudyPlan
    small_first: PlacementComparison
    large_first: PlacementComparison
    by_pattern: Mapping[str, PlacementComparison]
    packets: PlacementComparison | None
    steps: PlacementComparison | None
    """The same workloads as `packets`, tasks waiting for each other step by step."""
    flows_of_packets: PlacementComparison | None
    """The same workloads as `packets`, by flows: what the flow model gets wrong."""
    homogeneous: Sequence[Row]
    stepped: Sequence[Row]
    """16-node and 64-node jobs by packets, step by step."""
    heterogeneous: Sequence[Row]
    intensity: Sequence[Row]
    congestor: congestor.CongestorResult


def run_study(plan: StudyPlan, advance: Callable[[float], None] | None = None) -> Study:
    """Run everything, on as many processes as the plan says."""
    homogeneous = homogeneous_cases(ratios=(1.0,) if plan.quick else RATIOS)
    if not plan.quick:
        homogeneous += homogeneous_cases(ratios=(1.0,), utilization=0.7)
    mixed = [] if plan.quick else heterogeneous_cases()
    sizes = [] if plan.quick else intensity_cases()
    single = 0 if plan.quick else 100
    beside = 1 if plan.quick else 10
    stepped = stepped_cases() if plan.packets else []
    once = Settings(seed=plan.seed, node_gbit_s=plan.node_gbit_s)
    with Pool(plan.workers, advance) as pool:
        chunks = (plan.repeats + 1) * -(-plan.workloads // CHUNK) + len(PATTERNS) * single // CHUNK
        chunks += 3 * -(-plan.packets // CHUNK)
        pool.plan(chunks + sum(map(len, (homogeneous, stepped, mixed, sizes))) + beside)
        small = compare(replace(once, repeats=plan.repeats), plan.workloads, pool)
        large = compare(replace(once, large_first=True), plan.workloads, pool)
        by_pattern = {name: compare(replace(once, pattern=name), single, pool)
                      for name in PATTERNS} if single else {}
        packets = steps = flows = None
        if plan.packets:
            by_packet = replace(once, packets=True)
            packets, steps, flows = (
                compare(way, plan.packets, pool)
                for way in (by_packet, replace(by_packet, steps=True), once))
        equal, in_steps = (run_cases(cases, pool, seed=plan.seed, repeats=plan.repeats)
                           for cases in (homogeneous, stepped))
        unlike, sized = (run_cases(cases, pool, seed=plan.seed, repeats=1)
                         for cases in (mixed, sizes))
        stretched = pool.map(congestor.run_once,
                             [(plan.seed * 1000 + k,) for k in range(beside)])
    return Study(plan, small, large, by_pattern, packets, steps, flows, equal, in_steps, unlike,
                 sized, congestor.summarize(stretched))


def energy(
    comparison: PlacementComparison, node: NodeClass | None = None
) -> dict[str, dict[str, float]]:
    """Joules lost to waiting on the network, per policy.

    A node that waits for messages polls, and so draws its active power. What is lost is the time
    beyond that in which the job's own node links would drain.
    """
    power_w = (node or NodeClass()).power_w_active
    waited = comparison.waited_node_s
    spent = comparison.node_s
    return {
        name: {
            "lost_j_per_million_exchanges": float(waited[:, i].mean() * power_w * 1e6),
            "lost_share": float(waited[:, i].sum() / spent[:, i].sum()),
        }
        for i, name in enumerate(comparison.policies)
    }


def flow_error(study: Study) -> dict[str, float] | None:
    """How far flow times are from packet times on the same workloads, job kinds and policies."""
    if study.packets is None or study.flows_of_packets is None:
        return None
    ratio = np.log(study.flows_of_packets.time_s / study.packets.time_s)
    return {
        "mean": float(np.expm1(ratio.mean())),
        "typical": float(np.expm1(np.sqrt((ratio**2).mean()))),
        "p95": float(np.expm1(np.quantile(np.abs(ratio), 0.95))),
    }


def summary(study: Study) -> dict[str, Any]:
    """Everything as plain values: what `--json` prints."""
    random = study.small_first.against(BASELINES)
    found: dict[str, Any] = {
        "workloads": study.plan.workloads,
        "seed": study.plan.seed,
        "repeats": study.plan.repeats,
        **random,
        "jokanovic": study.small_first.against(("jokanovic",)),
        "large_first": {**study.large_first.against(BASELINES),
                        "jokanovic": study.large_first.against(("jokanovic",))},
        "by_baseline": {name: study.small_first.against((name,)) for name in BASELINES},
        "by_pattern": {name: result.against(BASELINES)
                       for name, result in study.by_pattern.items()},
        "relative_time": study.small_first.relative(),
        "energy": energy(study.small_first),
        "homogeneous": [_row(row) for row in study.homogeneous],
        "heterogeneous": [_row(row) for row in study.heterogeneous],
        "message_sizes": [_row(row) for row in study.intensity],
        "reductions": _reductions(study.homogeneous),
        "congestor": {"stretch": study.congestor.stretch, "minimd_better": study.congestor.better,
                      "runs": study.congestor.repeats},
        "published": {
            "random": published.RANDOM_SMALL_FIRST,
            "jokanovic": published.JOKANOVIC_SMALL_FIRST,
            "strictly_worse_by_pattern": published.SINGLE_PATTERN_WORSE,
            "sixteen_nodes": published.SIXTEEN_NODES,
            "sixty_four_nodes": published.SIXTY_FOUR_NODES,
            "congestor_minimd_better": published.CONGESTOR,
            "congestor_stretch": published.CONGESTOR_STRETCH,
        },
    }
    if study.packets is not None and study.steps is not None:
        found["packets"] = {
            "workloads": study.plan.packets,
            **study.packets.against(BASELINES),
            "jokanovic": study.packets.against(("jokanovic",)),
            "flow_error": flow_error(study),
        }
        found["packets_in_steps"] = {
            "workloads": study.plan.packets,
            **study.steps.against(BASELINES),
            "jokanovic": study.steps.against(("jokanovic",)),
            "relative_time": study.steps.relative(),
            "homogeneous": [_row(row) for row in study.stepped],
            "reductions": _reductions(study.stepped),
        }
    return found


def _reductions(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """The two ranges that were published for equal jobs, least and greatest over the cases."""
    full = [row for row in rows if row.case.utilization == 0.9]
    sixteen = [row for row in full if row.case.label == "16-node"]
    sixty_four = [row for row in full if row.case.label == "64-node" and row.case.ratio == 1.0]
    return {
        "sixteen_nodes": reduction_range(sixteen, ("level-spread", *GROUPING), SPREADING),
        "sixty_four_nodes": reduction_range(sixty_four, ("level-spread",), ("simple",)),
    }


def _row(row: Row) -> dict[str, Any]:
    case = row.case
    return {"nodes": case.nodes, "ratio": case.ratio, "jobs": case.label, "pattern": case.pattern,
            "utilization": case.utilization, "used_nodes": case.workload.nodes,
            "relative_to_simple": row.relative}
