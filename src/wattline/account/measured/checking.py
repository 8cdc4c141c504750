"""What a file tells that cannot be: joules of Slurm's that no hardware could draw in that time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from wattline.account.measured.records import Found, Life, LifeKey
from wattline.account.measured.slurm_facts import impossible_life, impossible_step
from wattline.model.units import format_power

IMPOSSIBLE = "joules of Slurm that no hardware could draw, taken as unknown"
_SHOWN = 5


def impossible(found: Found, highest_w: float) -> list[str]:
    """The jobs and steps of a file, as Slurm prints them, whose joules count for nothing."""
    return list(dict.fromkeys([*_lives(found, highest_w), *_steps(found, highest_w)]))


def said(names: Sequence[str], highest_w: float) -> Iterator[str]:
    """Which ones, in a line, where there are some."""
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield (f"jobs and steps of which Slurm tells more than {format_power(highest_w)} per node "
               f"(--highest-w), taken as unknown: {', '.join(names[:_SHOWN])}{more}")


def _lives(found: Found, highest_w: float) -> Iterator[str]:
    return (life.key.label for life in found.lives if impossible_life(life, highest_w))


def _steps(found: Found, highest_w: float) -> Iterator[str]:
    nodes: dict[tuple[str, str], int] = {}
    for life in found.lives:
        job = life.key.cluster, life.key.label
        nodes[job] = max(nodes.get(job, 0), life.nodes)
    for step in found.steps:
        job = step.cluster, step.label
        if not step.node_list and job not in nodes:
            continue  # on how many nodes it was, another file may say
        own = Life(LifeKey(*job, step.start_s), nodes=nodes.get(job, 1))
        if not math.isnan(step.end_s) and impossible_step(step, own, highest_w):
            yield f"{step.label}.{step.step}"
