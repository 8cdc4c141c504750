"""Reservations of Slurm's: nodes that are kept for some jobs for a time, now or later."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wattline.live.slurm.reading import hosts, moment_s


@dataclass(frozen=True)
class Reservation:
    """One that holds, or will; times are Unix seconds."""

    name: str
    start_s: float
    end_s: float
    nodes: frozenset[str] = frozenset()

    def meets(self, now_s: float, until_s: float) -> bool:
        """Whether it holds at any time between these."""
        return self.start_s < until_s and self.end_s > now_s

    def holds(self, now_s: float) -> bool:
        return self.start_s <= now_s < self.end_s


def read_reservations(text: str) -> tuple[Reservation, ...]:
    """As `scontrol -o show reservation` prints them; those of licences alone have no nodes."""
    found = []
    for line in text.splitlines():
        said = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if "ReservationName" in said:
            start_s, end_s = moment_s(said.get("StartTime", "")), moment_s(said.get("EndTime", ""))
            found.append(Reservation(
                said["ReservationName"], start_s if start_s > 0.0 else -math.inf,
                end_s if end_s > 0.0 else math.inf, frozenset(hosts(said.get("Nodes", "")))))
    return tuple(found)
