"""What the study found, as plain values, with the published figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wattline.model.machine import NodeClass
from wattline.network.placement import BASELINES
from wattline.studies.dragonfly import document
from wattline.studies.dragonfly.allocator import JOKANOVIC_CODE
from wattline.studies.dragonfly.comparison import PlacementComparison
from wattline.studies.dragonfly.endpoints import summarize_settings
from wattline.studies.dragonfly.rules import rule_rows
from wattline.studies.dragonfly.study import RandomWorkloads, Study
from wattline.studies.dragonfly.tables import RelativeTimes, reduction_range

GROUPING = ("simple", "slurm", "rdg")
SPREADING = ("rdn", "rdr", "rrn", "rrr")


def summary(study: Study) -> dict[str, Any]:
    """Everything as plain values: what `--json` prints."""
    found: dict[str, Any] = {"seed": study.plan.seed, "repeats": study.plan.repeats,
                             "parts": list(study.plan.parts)}
    if study.random is not None:
        found |= _random(study, study.random)
    if study.rules:
        found["rules"] = {"workloads": study.plan.packets, "runs": 1,
                          "rows": rule_rows(study.rules)}
    if study.homogeneous:
        found["homogeneous"] = [_row(row) for row in study.homogeneous]
        found["reductions"] = _reductions(study.homogeneous)
    if study.stepped:
        found["homogeneous_in_steps"] = [_row(row) for row in study.stepped]
        found["reductions_in_steps"] = _reductions(study.stepped)
    if study.heterogeneous:
        found["heterogeneous"] = [_row(row) for row in study.heterogeneous]
        found["message_sizes"] = [_row(row) for row in study.intensity]
        found["largest_machine"] = _largest(study.heterogeneous)
    if study.congestor:
        by_kind = {kind: {"stretch": result.stretch, "minimd_better": result.better,
                          "runs": result.repeats} for kind, result in study.congestor.items()}
        found["congestor"] = {**by_kind["all-to-all"], "one_to_all": by_kind["one-to-all"]}
    if study.settings:
        found["endpoints"] = summarize_settings(study.settings, study.canaries)
    return {**found, "published": document.FIGURES}


def _random(study: Study, random: RandomWorkloads) -> dict[str, Any]:
    plan = study.plan
    found: dict[str, Any] = {
        "workloads": plan.workloads,
        "model": "flow",
        **_against(random.small_first),
        "large_first": _against(random.large_first),
        "by_baseline": {name: random.small_first.against((name,)) for name in BASELINES},
        "by_pattern": {name: result.against(BASELINES)
                       for name, result in random.by_pattern.items()},
        "relative_time": random.small_first.relative(),
        "energy": energy(random.small_first),
    }
    if random.packets is not None and random.steps is not None:
        assert random.large_first_steps is not None
        assert random.ugal_steps is not None
        found["packets"] = {"workloads": plan.packets, "runs": 1, **_against(random.packets),
                            "flow_error": flow_error(random)}
        found["packets_in_steps_ugal"] = {"workloads": plan.packets, "runs": 1,
                                          **_against(random.ugal_steps)}
        found["packets_in_steps"] = {
            "workloads": plan.packets, "runs": plan.repeats, **_against(random.steps),
            "by_baseline": {name: random.steps.against((name,)) for name in BASELINES},
            "relative_time": random.steps.relative(),
            "energy": energy(random.steps),
            "large_first": {"workloads": plan.packets, "runs": 1,
                            **_against(random.large_first_steps)},
        }
    return found


def _against(comparison: PlacementComparison) -> dict[str, Any]:
    """Level-Spread against the baselines, Jokanovic's policy by its text, and by the code."""
    return {**comparison.against(BASELINES), "jokanovic": comparison.against(("jokanovic",)),
            "jokanovic_code": comparison.against((JOKANOVIC_CODE,))}


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


def flow_error(random: RandomWorkloads) -> dict[str, float] | None:
    """How far flow times are from packet times on the same workloads, job kinds and policies."""
    if random.packets is None or random.flows_of_packets is None:
        return None
    ratio = np.log(random.flows_of_packets.time_s / random.packets.time_s)
    return {
        "mean": float(np.expm1(ratio.mean())),
        "typical": float(np.expm1(np.sqrt((ratio**2).mean()))),
        "p95": float(np.expm1(np.quantile(np.abs(ratio), 0.95))),
        "mean_small": float(np.expm1(ratio[..., 0].mean())),
        "mean_large": float(np.expm1(ratio[..., 1].mean())),
    }


def _reductions(rows: Sequence[RelativeTimes]) -> dict[str, tuple[float, float]]:
    """The two ranges that were published for equal jobs, least and greatest over the cases."""
    full = [row for row in rows if row.case.utilization == 0.9]
    sixteen = [row for row in full if row.case.label == "16-node"]
    sixty_four = [row for row in full if row.case.label == "64-node" and row.case.ratio == 1.0]
    return {
        "sixteen_nodes": reduction_range(sixteen, ("level-spread", *GROUPING), SPREADING),
        "sixty_four_nodes": reduction_range(sixty_four, ("level-spread",), ("simple",)),
    }


def _largest(rows: Sequence[RelativeTimes]) -> tuple[float, float]:
    """Cuts of the 16-node jobs on the largest machine, against the mean of spreading placements."""
    cuts = []
    for row in rows:
        if row.case.nodes == document.LARGEST_NODES and row.case.pattern != "broadcast":
            apart = sum(row.relative[name][0] for name in SPREADING) / len(SPREADING)
            cuts.append(1.0 - row.relative["level-spread"][0] / apart)
    return min(cuts), max(cuts)


def _row(row: RelativeTimes) -> dict[str, Any]:
    case = row.case
    return {"nodes": case.nodes, "ratio": case.ratio, "jobs": case.label, "pattern": case.pattern,
            "utilization": case.utilization, "used_nodes": case.workload.nodes,
            "relative_to_simple": row.relative}
