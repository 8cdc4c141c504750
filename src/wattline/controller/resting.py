"""Nodes that take no jobs and draw power all the same: drained ones, or kept for maintenance.

The books count a node that is down as switched off. What such nodes draw above that without jobs,
and what nodes draw above it that boot or shut down by Slurm's power saving, is kept from the cap by
reservations of watts, which an operator sees among the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from wattline.books import Books, Event, ReservationRemoved, Reserved
from wattline.controller.watching import Watcher

NAME = "nodes-without-jobs"
BOOTING = "nodes-booting"
KEPT = (NAME, BOOTING)
"""Reservations that follow the nodes; nobody else makes or removes one of these names."""
FOR_S = 10 * 365 * 86400.0
"""Longer than a controller runs: it is removed when the nodes are back."""


@dataclass(frozen=True)
class RestingNodes:
    """A source of events: reservations follow the nodes that Slurm shows."""

    watcher: Watcher
    books: Callable[[], Books]
    node_idle_w: float
    notes: list[str]

    def events(self, now_s: float) -> list[Event]:
        names = sorted(self.watcher.resting)
        watts = sum(max(self.watcher.resting_w(name, self.node_idle_w) - self.watcher.power.off_w,
                        0.0) for name in names)
        found = self._kept(NAME, watts, now_s)
        if found and watts > 0.0:
            who, drawn = (("a node takes", "it draws") if len(names) == 1
                          else (f"{len(names)} nodes take", "they draw"))
            self.notes.append(f"{who} no jobs ({', '.join(names[:4])}"
                              f"{' ...' if len(names) > 4 else ''}): {watts:,.0f} W that {drawn} "
                              "are kept from the cap")
        return found + self._kept(BOOTING, self.watcher.changing_w(self.node_idle_w), now_s)

    def _kept(self, name: str, watts: float, now_s: float) -> list[Event]:
        before_w = reserved_w(self.books(), name)
        if math.isclose(watts, before_w, abs_tol=1e-6):
            return []
        found: list[Event] = [ReservationRemoved(name)] if before_w > 0.0 else []
        return [*found, Reserved(name, now_s, FOR_S, watts=watts)] if watts > 0.0 else found


def reserved_w(books: Books, name: str) -> float:
    """Return the watts that a reservation of this name keeps from the cap."""
    row = books.reservations.get(name)
    return 0.0 if row is None else float(books.state.windows[row].watts)


def resting_w(books: Books) -> float:
    """Sum the watts kept from the cap for nodes that take no jobs, or boot, or shut down."""
    return sum(reserved_w(books, name) for name in KEPT)


def cap_now_w(books: Books) -> float:
    """The cap that holds now, less what is reserved."""
    return float(books.state.clock[0].cap_w)


def all_nodes_cap_w(books: Books) -> float:
    """The same for those who count nodes that take no jobs too."""
    return cap_now_w(books) + resting_w(books)
