"""The joules of a life by what Slurm says: of the whole job, and of its steps.

A step's joules are kept as well, to be looked at; of those that overlap on a node each time counts
once, because they read the same counter (see `site/slurm_energy`). Joules that no hardware could
draw in that time are unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from wattline.account.measured.records import Life, Source, StepSeen
from wattline.account.measured.rules import HIGHEST_W
from wattline.site.slurm_energy import Step, counted, hosts_of

Fact = dict[str, Any]


def until_s(life: Life) -> float:
    """The end of a life; of one that goes on, the time up to which it was seen."""
    told = [time_s for time_s in (life.end_s, life.seen_s) if not math.isnan(time_s)]
    return max(told[0], life.key.start_s) if told else float(life.key.start_s)


def node_seconds(life: Life) -> float:
    """Nodes times seconds so far."""
    return max(1, life.nodes) * (until_s(life) - life.key.start_s)


def steps_by_life(lives: Iterable[Life], steps: Iterable[StepSeen]) -> dict[int, list[StepSeen]]:
    """The steps of a job by the start of the life that they belong to.

    That is the last one that had begun when the step began. A step that began before all of them
    waits for a life that nobody has told of yet.
    """
    starts = sorted(life.key.start_s for life in lives)
    found: dict[int, list[StepSeen]] = {}
    for step in steps:
        begun = [start_s for start_s in starts if start_s <= step.start_s]
        if begun:
            found.setdefault(begun[-1], []).append(step)
    return found


def is_impossible(energy_j: float, node_s: float, nodes: int, highest_w: float) -> bool:
    """Whether nodes that draw so much at most cannot have drawn it: times are whole seconds."""
    return energy_j > highest_w * (node_s + nodes)


def impossible_life(life: Life, highest_w: float) -> bool:
    return is_impossible(life.energy_j, node_seconds(life), max(1, life.nodes), highest_w)


def slurm_facts(
    life: Life, steps: Sequence[StepSeen], highest_w: float = HIGHEST_W
) -> list[Fact]:
    """Rows of facts, without their life's number and whether they count."""
    whole = [] if math.isnan(life.energy_j) or impossible_life(life, highest_w) else [_fact(
        Source.SLURM_JOB, "", "", life.key.start_s, until_s(life), life.energy_j,
        node_seconds(life))]
    ended = [step for step in (_ended(step, life) for step in steps
                               if not math.isnan(step.energy_j))
             if not impossible_step(step, life, highest_w)]
    single = [_fact(Source.SLURM_STEPS, step.step, "", step.start_s, step.end_s, step.energy_j,
                    _hosts(step.node_list, life) * (step.end_s - step.start_s)) for step in ended]
    return [*whole, *_counted(ended, life), *single]


def impossible_step(step: StepSeen, life: Life, highest_w: float) -> bool:
    """The same of a step that has an end."""
    nodes = _hosts(step.node_list, life)
    return is_impossible(step.energy_j, nodes * (step.end_s - step.start_s), nodes, highest_w)


def _ended(step: StepSeen, life: Life) -> StepSeen:
    """A step that runs goes on as long as its job was seen."""
    end_s = until_s(life) if math.isnan(step.end_s) else step.end_s
    return replace(step, end_s=max(end_s, float(step.start_s)))


def _counted(steps: Sequence[StepSeen], life: Life) -> list[Fact]:
    """Per node what its steps cover together; one row where all steps have the same nodes."""
    if not steps:
        return []
    found: dict[tuple[str, float], Fact] = {}
    ordered = sorted(steps, key=lambda step: (step.start_s, step.step))
    parts = counted([Step(step.label, -1, step.start_s, step.end_s, step.node_list, step.energy_j)
                     for step in ordered])
    for part in parts:
        seconds = part.step.end_s - part.step.start_s
        nodes = 1 if part.nodes else _hosts(part.step.nodes, life)
        for node in part.nodes or ("",):
            fact = _fact(Source.SLURM_STEPS, "", node, part.step.start_s, part.step.end_s,
                         part.energy_j / max(1, len(part.nodes)), nodes * seconds)
            if part.by_time:
                fact["filled_j"] = fact["energy_j"]
            before = found.get((node, part.step.start_s))
            if before is not None:  # one of them began and ended in the same second
                fact = fact | {"end_s": max(fact["end_s"], before["end_s"]),
                               **{name: fact[name] + before[name]
                                  for name in ("energy_j", "covered_s", "filled_j")}}
            found[node, part.step.start_s] = fact
    return list(found.values())


def _hosts(node_list: str, life: Life) -> int:
    """How many nodes a step had; those of its job where it does not say."""
    return len(hosts_of(node_list)) if node_list else max(1, life.nodes)


def _fact(
    source: Source, step: str, node: str, start_s: float, end_s: float, energy_j: float,
    covered_s: float,
) -> Fact:
    return {"step": step, "node": node, "source": str(source), "start_s": float(start_s),
            "end_s": float(end_s), "energy_j": energy_j, "covered_s": covered_s,
            "filled_j": 0.0, "idle_j": 0.0}
