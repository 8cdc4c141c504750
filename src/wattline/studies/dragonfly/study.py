"""The whole study: what is run. What is said of it stands in `figures`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.network.traffic import PATTERNS
from wattline.studies.dragonfly import congestor, endpoints
from wattline.studies.dragonfly.beside import KINDS
from wattline.studies.dragonfly.checkpoint import Checkpoint
from wattline.studies.dragonfly.compare import Pool, WorkloadSettings, chunks_of, compare
from wattline.studies.dragonfly.comparison import PlacementComparison
from wattline.studies.dragonfly.rules import RuleResult, rule_chunks, run_rules
from wattline.studies.dragonfly.tables import (
    RATIOS,
    PlacedCase,
    RelativeTimes,
    heterogeneous_cases,
    homogeneous_cases,
    intensity_cases,
    run_cases,
    stepped_cases,
)

PARTS = ("random", "rules", "equal", "mixed", "congestor", "endpoints")
RUNS = 5
"""Runs beside a congestor, and of each setting of nodes; ten in the whole study."""


@dataclass(frozen=True)
class StudyPlan:
    """How much of the study to run."""

    workloads: int = 1000
    seed: int = 1
    repeats: int = 2
    """Runs, with other mappings, of random workloads (small jobs first; by flows and by packets in
    steps) and of equal jobs; the rest runs once."""
    quick: bool = False
    packets: int = 20
    """Random workloads to run packet by packet as well, 0 for none."""
    workers: int = 2
    node_gbit_s: float = 8.0
    parts: tuple[str, ...] = PARTS
    checkpoint: Path | None = None
    """Where runs of random workloads are written, and from where they are not made again."""

    @classmethod
    def fast(cls, seed: int = 1, packets: int = 5, workers: int = 2) -> StudyPlan:
        """50 random workloads, and only the tables of one machine."""
        return cls(workloads=50, seed=seed, quick=True, packets=packets, workers=workers,
                   parts=("random", "equal", "congestor"))


def plan_of(part: str = "all", *, quick: bool = False, checkpoint: str | Path | None = None,
            **settings: Any) -> StudyPlan:
    """One part of the study or all of it; settings that are None keep their defaults."""
    if part not in ("all", *PARTS):
        raise InputError(f"the study has no part '{part}'; there are all, {', '.join(PARTS)}")
    if part == "rules" and settings.get("packets") == 0:
        raise InputError("the rules are compared packet by packet; packets is 0")
    plan = StudyPlan.fast() if quick else StudyPlan()
    given = {name: value for name, value in settings.items() if value is not None}
    return replace(plan, **given, parts=plan.parts if part == "all" else (part,),
                   checkpoint=None if checkpoint is None else Path(checkpoint))


@dataclass(frozen=True, eq=False)
class RandomWorkloads:
    """Random workloads under all policies, by flows and by packets."""

    small_first: PlacementComparison
    large_first: PlacementComparison
    by_pattern: Mapping[str, PlacementComparison]
    packets: PlacementComparison | None
    steps: PlacementComparison | None
    """The same workloads as `packets`, tasks waiting for each other step by step."""
    ugal_steps: PlacementComparison | None
    """The same as `steps`, under the other routing that looks at queues; one run."""
    large_first_steps: PlacementComparison | None
    flows_of_packets: PlacementComparison | None
    """The same workloads as `packets`, by flows: what the flow model gets wrong."""


@dataclass(frozen=True, eq=False)
class Study:
    """All results; parts that were not asked for are empty."""

    plan: StudyPlan
    random: RandomWorkloads | None
    rules: Sequence[RuleResult]
    homogeneous: Sequence[RelativeTimes]
    stepped: Sequence[RelativeTimes]
    """16-node and 64-node jobs by packets, step by step."""
    heterogeneous: Sequence[RelativeTimes]
    intensity: Sequence[RelativeTimes]
    congestor: Mapping[str, congestor.CongestorResult]
    """By kind of congestor."""
    settings: Sequence[Sequence[endpoints.SettingRun]]
    canaries: Sequence[Sequence[endpoints.CanaryRun]]


def run_study(plan: StudyPlan, advance: Callable[[float], None] | None = None) -> Study:
    """Run the parts of the plan, on as many processes as it says."""
    kept = Checkpoint(plan.checkpoint) if plan.checkpoint else None
    asked = comparisons(plan) if "random" in plan.parts else {}
    tables = _tables(plan)
    rules = plan.packets if "rules" in plan.parts else 0
    seeds = [plan.seed * 1000 + k for k in range(RUNS if plan.quick else 2 * RUNS)]
    beside = [(seed, kind) for kind in KINDS for seed in seeds
              if "congestor" in plan.parts]
    ends = [(seed,) for seed in seeds if "endpoints" in plan.parts]
    with Pool(plan.workers, advance) as pool:
        pool.plan(sum(chunks_of(*way) for way in asked.values()) + rule_chunks(plan.seed, rules)
                  + sum(map(len, tables.values())) + len(beside) + 2 * len(ends))
        made = {name: compare(*way, pool, kept) for name, way in asked.items()}
        ruled = run_rules(plan.seed, rules, pool, kept) if rules else []
        rows = {name: run_cases(cases, pool, seed=plan.seed,
                                repeats=plan.repeats if name in ("equal", "stepped") else 1)
                for name, cases in tables.items()}
        stretched = pool.map(congestor.run_once, beside)
        shifted = pool.map(endpoints.run_settings, ends)
        canaries = pool.map(endpoints.run_canaries, ends)
    stretch = {kind: congestor.summarize([run for call, run in zip(beside, stretched, strict=True)
                                          if call[1] == kind])
               for kind in KINDS if beside}
    return Study(plan, _random(made), ruled, rows["equal"], rows["stepped"], rows["mixed"],
                 rows["sizes"], stretch, shifted, canaries)


def comparisons(plan: StudyPlan) -> dict[str, tuple[WorkloadSettings, int]]:
    """The comparisons of random workloads by name: how, and how many."""
    once = WorkloadSettings(seed=plan.seed, node_gbit_s=plan.node_gbit_s)
    steps = replace(once, packets=True, steps=True)
    found = {"small_first": (replace(once, repeats=plan.repeats), plan.workloads),
             "large_first": (replace(once, large_first=True), plan.workloads)}
    if not plan.quick:
        found |= {name: (replace(once, pattern=name), 100) for name in PATTERNS}
    if plan.packets:
        found |= {"packets": (replace(once, packets=True), plan.packets),
                  "steps": (replace(steps, repeats=plan.repeats), plan.packets),
                  "ugal_steps": (replace(steps, routing="ugal"), plan.packets),
                  "large_first_steps": (replace(steps, large_first=True), plan.packets),
                  "flows_of_packets": (once, plan.packets)}
    return found


def _random(made: Mapping[str, PlacementComparison]) -> RandomWorkloads | None:
    if not made:
        return None
    return RandomWorkloads(
        made["small_first"], made["large_first"],
        {name: made[name] for name in PATTERNS if name in made},
        *(made.get(name) for name in ("packets", "steps", "ugal_steps", "large_first_steps",
                                      "flows_of_packets")))


def _tables(plan: StudyPlan) -> dict[str, list[PlacedCase]]:
    """The cases of each table that is asked for."""
    equal, mixed = "equal" in plan.parts, "mixed" in plan.parts
    homogeneous = homogeneous_cases(ratios=(1.0,) if plan.quick else RATIOS)
    if not plan.quick:
        homogeneous += homogeneous_cases(ratios=(1.0,), utilization=0.7)
    return {"equal": homogeneous if equal else [],
            "stepped": stepped_cases() if equal and plan.packets and not plan.quick else [],
            "mixed": heterogeneous_cases() if mixed else [],
            "sizes": intensity_cases() if mixed else []}
