"""What nodes would draw if they were left alone: each falls back to the safe cap of its own file.

The controller knows these caps from what agents say of themselves when they connect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from wattline.controller.controller import Cycle
from wattline.model.units import counted

EVERY_S = 5.0
"""Agents come and go, and caps change; there may be thousands of them to add up."""


def too_high(safe_w: Mapping[str, float], nodes: Collection[str], busy_w: Callable[[str], float],
             cap_w: float) -> str:
    """Why the safe caps of nodes do not keep a cap; empty where they do, or where none is known.

    Nodes that have none, or whose is not known, are counted with what they draw with a job: nothing
    lowers them.
    """
    known = {name: safe_w[name] for name in nodes if name in safe_w}
    others = [name for name in nodes if name not in known]
    total_w = sum(known.values()) + sum(map(busy_w, others))
    if not known or total_w <= cap_w:
        return ""
    beside = f", with {counted(len(others), 'other')} busy and without a cap" if others else ""
    return (f"the safe caps of {counted(len(known), 'node')} add up to {total_w:,.0f} W{beside}, "
            f"above the cap of {cap_w:,.0f} W: without a controller the cap is not kept")


MEND = ("lower `safe` in the [limits] of agents' files, to the cap by the number of nodes at most, "
        "and give agents without them knobs (limits.knobs)")


@dataclass
class SafeCaps:
    """Says it once for each cap that they do not keep."""

    safe_w: Callable[[], Mapping[str, float]]
    nodes: Collection[str]
    busy_w: Callable[[str], float]
    cap_w: Callable[[], float]
    notes: list[str]
    _said: str = ""
    _due_s: float = -math.inf

    def __call__(self, cycle: Cycle) -> None:
        if cycle.time_s < self._due_s:
            return
        self._due_s = cycle.time_s + EVERY_S
        said = too_high(self.safe_w(), self.nodes, self.busy_w, self.cap_w())
        if said and said != self._said:
            self.notes.append(f"{said} ({MEND})")
        self._said = said
