"""Energy of each job by the meters of its nodes, put in place of what the books expected.

The books count a job with what it claims until it has been measured for a while, and then with the
highest of that while: what admission needs. Shares, and what users are told, go by what was drawn.
So the books are told the energy when a job ends, and of jobs that run now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from wattline.books import Ended, Event, Measured
from wattline.controller.told import Told
from wattline.controller.watching import Watcher

EVERY_S = 60.0
"""So often it is told of a job that runs, where it has changed."""
NEWS = 0.03
"""Smaller differences, as parts of the energy, wait for the end."""
BEGUN_S = 10.0
"""A job that is first looked at later has begun under another controller: the books know what it
has drawn until then."""


class _Drawn(NamedTuple):
    energy_j: float
    until_s: float
    power_w: float

    def at_j(self, now_s: float) -> float:
        return self.energy_j + self.power_w * max(now_s - self.until_s, 0.0)


@dataclass
class DrawnEnergy:
    """Adds up readings of the nodes of jobs; where one is silent, what the books count."""

    watcher: Watcher
    booked_j: Callable[[str], float]
    """Energy that a job has drawn by the books; NaN where they do not know it."""
    _drawn: dict[str, _Drawn] = field(default_factory=dict)
    _told_s: dict[str, float] = field(default_factory=dict)

    def look(self, now_s: float, nodes_w: Mapping[str, float]) -> list[Event]:
        """Count what was drawn since the last look; what the books are to be told of it."""
        found: list[Event] = []
        for name, told in self.watcher.told.items():
            if not told.running or not told.nodes or not math.isnan(told.asked_s):
                continue
            booked_w, drawn_w = self.watcher.booked_w(name), self.watcher.drawn_w(told, nodes_w)
            if math.isnan(booked_w):
                continue
            power_w = booked_w if math.isnan(drawn_w) else drawn_w
            before = self._drawn.get(name)
            energy_j = (self._begun_j(name, told, now_s, power_w) if before is None
                        else before.energy_j + power_w * max(now_s - before.until_s, 0.0))
            self._drawn[name] = _Drawn(energy_j, now_s, power_w)
            since_s = self._told_s.setdefault(name, now_s)
            if now_s - since_s >= EVERY_S:
                self._told_s[name] = now_s
                if abs(energy_j - self.booked_j(name)) > NEWS * energy_j:
                    found.append(Measured(booked_w, name, energy_j))
        return found

    def _begun_j(self, name: str, told: Told, now_s: float, power_w: float) -> float:
        start_s = math.nan if told.row is None else told.row.start_s
        ran_s = now_s - start_s
        return power_w * ran_s if 0.0 <= ran_s <= BEGUN_S else self.booked_j(name)

    def ended(self, events: list[Event], now_s: float) -> list[Event]:
        """The same events, with what jobs have drawn that are over."""
        found = [self._ended(each, now_s) if isinstance(each, Ended) else each for each in events]
        for name in self._drawn.keys() - self.watcher.told.keys():
            self._drawn.pop(name)
            self._told_s.pop(name, None)
        return found

    def _ended(self, event: Ended, now_s: float) -> Ended:
        drawn = self._drawn.get(str(event.job))
        return event if drawn is None else replace(event, energy_j=max(drawn.at_j(now_s), 0.0))
