"""Whose a mark is: prolog and epilog say the job's number, and a job may have several lives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wattline.account.measured.records import LifeKey, Stay
from wattline.controller.joules.gathering import Marked
from wattline.live.agent.marks import BEGIN

LATE_S = 60.0
"""So long after the end of its job an epilog may run, or a node's clock may be ahead."""
EARLY_S = 1.0
"""A prolog runs after the second in which its job began, by about the same clock."""


@dataclass(frozen=True)
class Begun:
    """A life that marks may be of."""

    key: LifeKey
    job_id: int
    nodes: frozenset[str]
    end_s: float
    """NaN while it runs."""


def match(
    marks: Iterable[Marked], lives: Mapping[int, Sequence[Begun]]
) -> tuple[list[Stay], list[Marked]]:
    """Stays that follow from marks, and the marks of jobs that nobody has told of yet."""
    stays, left = [], []
    for mark in marks:
        life = _life(mark, lives.get(mark.job_id, ()))
        if life is None:
            left.append(mark)
        elif mark.what == BEGIN:
            stays.append(Stay(life.key, mark.node, begin_s=mark.time_s))
        else:
            stays.append(Stay(life.key, mark.node, end_s=mark.time_s))
    return stays, left


def _life(mark: Marked, lives: Sequence[Begun]) -> Begun | None:
    """The last life that had begun and was not long over."""
    early_s = EARLY_S if mark.what == BEGIN else 0.0
    there = [life for life in lives if mark.node in life.nodes
             and (math.isnan(life.end_s) or mark.time_s <= life.end_s + LATE_S)]
    begun = [life for life in there if life.key.start_s <= mark.time_s + early_s]
    # A node whose clock is behind marks before the beginning: of one life alone that is no matter.
    if not begun and len(lives) == 1 and there:
        return there[0] if there[0].key.start_s <= mark.time_s + LATE_S else None
    return max(begun, key=lambda life: life.key.start_s, default=None)
