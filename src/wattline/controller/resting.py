"""Nodes that take no jobs and draw power all the same: drained ones, or kept for maintenance.

The books count nothing for a node that is down. What such nodes draw without jobs is kept from the
cap by a reservation of watts, which an operator sees among the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from wattline.books import Books, Event, ReservationRemoved, Reserved
from wattline.controller.watching import Watcher

NAME = "nodes-without-jobs"
FOR_S = 10 * 365 * 86400.0
"""Longer than a controller runs: it is removed when the nodes are back."""


@dataclass(frozen=True)
class RestingNodes:
    """A source of events: the reservation follows the nodes that Slurm shows."""

    watcher: Watcher
    books: Callable[[], Books]
    node_idle_w: float
    notes: list[str]

    def events(self, now_s: float) -> list[Event]:
        names = sorted(self.watcher.resting)
        watts = sum(self.watcher.resting_w(name, self.node_idle_w) for name in names)
        before_w = resting_w(self.books())
        if math.isclose(watts, before_w):
            return []
        found: list[Event] = [ReservationRemoved(NAME)] if before_w > 0.0 else []
        if watts > 0.0:
            found.append(Reserved(NAME, now_s, FOR_S, watts=watts))
            who, drawn = (("a node takes", "it draws") if len(names) == 1
                          else (f"{len(names)} nodes take", "they draw"))
            self.notes.append(f"{who} no jobs ({', '.join(names[:4])}"
                              f"{' ...' if len(names) > 4 else ''}): {watts:,.0f} W that {drawn} "
                              "are kept from the cap")
        return found


def resting_w(books: Books) -> float:
    """What is kept from the cap for such nodes."""
    row = books.reservations.get(NAME)
    return 0.0 if row is None else float(books.state.windows[row].watts)


def cap_now_w(books: Books) -> float:
    """The cap that holds now, less what is reserved."""
    return float(books.state.clock[0].cap_w)


def all_nodes_cap_w(books: Books) -> float:
    """The same for those who count nodes that take no jobs too."""
    return cap_now_w(books) + resting_w(books)
