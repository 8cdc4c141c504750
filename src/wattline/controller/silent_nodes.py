"""Nodes whose power nobody knows: said when they fall silent, and when all report again."""

from __future__ import annotations

from dataclasses import dataclass, field

from wattline.controller.metering import STALE_S, Meters
from wattline.model.units import fold_hosts


@dataclass
class SilentNodes:
    """Says which nodes have no reading, each once until it has one again."""

    meters: Meters
    notes: list[str]
    begun_s: float
    """Nodes have a while from then on to report for the first time."""
    _said: set[str] = field(default_factory=set)

    def look(self, now_s: float) -> None:
        if now_s - self.begun_s <= STALE_S:
            return
        silent = self.meters.silent(now_s)
        new = sorted(silent - self._said)
        if new:
            why = next((f" ({reason})" for node in new
                        if (reason := self.meters.why_silent.get(node))), "")
            self.notes.append(f"no reading of {fold_hosts(new)}{why}: what is booked there counts, "
                              "or what a node draws idle")
        elif self._said and not silent:
            self.notes.append("all nodes have readings again")
        self._said = silent
