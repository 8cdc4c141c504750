"""QOS that preempt each other in a circle, which Slurm does not let be.

sacctmgr refuses a QOS whose Preempt would close a circle (ESLURM_QOS_PREEMPTION_LOOP), and a QOS
never preempts itself. With one, two jobs could take their nodes from each other without end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.shared_nodes.machine import BoolArray


@dataclass(frozen=True)
class Circle:
    """A row that would preempt another, which preempts it already."""

    one: int
    other: int
    way: tuple[int, ...]
    """From `other` to `one`, both included."""


def without_circles(preempts: BoolArray) -> tuple[BoolArray, list[Circle]]:
    """What is left of QOS x QOS when each row is told in turn, and what was refused."""
    kept = np.zeros_like(preempts)
    refused = []
    for one, other in np.argwhere(preempts).tolist():
        way = _way(kept, other, one)
        if way:
            refused.append(Circle(one, other, way))
        else:
            kept[one, other] = True
    return kept, refused


def _way(preempts: BoolArray, start: int, end: int) -> tuple[int, ...]:
    """The shortest way from a QOS to one that it preempts by way of others; empty: there is none.
    """
    ways: list[tuple[int, ...]] = [(start,)]
    seen = {start}
    for way in ways:
        if way[-1] == end:
            return way
        for following in np.flatnonzero(preempts[way[-1]]).tolist():
            if following not in seen:
                seen.add(following)
                ways.append((*way, following))
    return ()
