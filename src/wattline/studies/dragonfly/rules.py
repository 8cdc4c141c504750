"""Which part of a routing rule matters: threshold, channel or hops, each turned on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from wattline.network.packets import Rule
from wattline.network.placement import BASELINES
from wattline.studies.dragonfly.allocator import JOKANOVIC_CODE
from wattline.studies.dragonfly.checkpoint import Checkpoint
from wattline.studies.dragonfly.compare import Pool, WorkloadSettings, chunks_of, compare
from wattline.studies.dragonfly.comparison import PlacementComparison

THRESHOLDS = (1.0, 2.0)


@dataclass(frozen=True, eq=False)
class RuleResult:
    """A comparison of placements under one rule."""

    rule: Rule
    inside: bool
    """Whether packets may detour inside a group too."""
    found: PlacementComparison


def variants(seed: int) -> list[WorkloadSettings]:
    """All eight rules with detours inside groups, and the two that have names without them."""
    way = WorkloadSettings(seed=seed, packets=True, steps=True)
    every = [Rule(threshold, one_channel=one_channel, by_hops=by_hops)
             for threshold, one_channel, by_hops in product(THRESHOLDS, (True, False),
                                                            (False, True))]
    settings = [replace(way, rule=rule) for rule in every]
    # The paths of `ugal` have no detours inside groups.
    outside = [replace(way, routing="ugal", rule=rule)
               for rule in (Rule(), Rule(1.0, one_channel=False, by_hops=True))]
    return settings + outside


def run_rules(seed: int, workloads: int, pool: Pool,
              checkpoint: Checkpoint | None = None) -> list[RuleResult]:
    """The same workloads under every rule, packets in steps, one run each."""
    made = []
    for settings in variants(seed):
        assert settings.rule is not None
        made.append(RuleResult(settings.rule, settings.routing != "ugal",
                               compare(settings, workloads, pool, checkpoint)))
    return made


def rule_chunks(seed: int, workloads: int) -> int:
    """How many calls of its pool this makes, where nothing is known yet."""
    return sum(chunks_of(settings, workloads) for settings in variants(seed))


def rule_rows(results: Sequence[RuleResult]) -> list[dict[str, Any]]:
    """One row a rule, as plain values."""
    return [{
        "threshold": result.rule.threshold,
        "queue": "one channel" if result.rule.one_channel else "all channels",
        "hops": result.rule.by_hops,
        "detours_inside_groups": result.inside,
        "baselines": result.found.against(BASELINES),
        "jokanovic": result.found.against(("jokanovic",)),
        "jokanovic_code": result.found.against((JOKANOVIC_CODE,)),
        "large_jobs_of_jokanovic": result.found.relative()["jokanovic"][1],
    } for result in results]
