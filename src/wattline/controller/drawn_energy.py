"""Energy of each job by the meters of its nodes, put in place of what the books expected.

The books count a job with what it claims until it has been measured for a while, and then with the
highest of that while: what admission needs. Shares, and what users are told, go by what was drawn.
So the books are told the energy when a job ends, and of jobs that run now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from wattline.books import Ended, Event, Measured
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WAITING

EVERY_S = 60.0
"""So often it is told of a job that runs, where it has changed."""
NEWS = 0.03
"""Smaller differences, as parts of the energy, wait for the end."""
BEGUN_S = 10.0
"""A job that is first looked at later has begun under another controller: the books know what it
has drawn until then."""
WHOLE_S = 1.0
"""Slurm's times are whole seconds: a job ends up to this much later than it says."""


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
        over = {str(each.job) for each in events if isinstance(each, Ended)} & self._drawn.keys()
        ends_s = self._ends_s(over)
        found = [self._ended(each, now_s, ends_s) if isinstance(each, Ended) else each
                 for each in events]
        for name in self._drawn.keys() - self.watcher.told.keys():
            self._drawn.pop(name)
            self._told_s.pop(name, None)
        return found

    def _ends_s(self, names: Collection[str]) -> dict[str, float]:
        """Latest moments at which these jobs can have ended, where Slurm still shows their ends.

        A look may come long after the end of a job, on a slow Slurm or machine: until then its
        nodes draw for others.
        """
        if not names:
            return {}
        here = (*WAITING, *STARTING, *ACTIVE, *ENDING)
        return {name: job.end_s + WHOLE_S for job in self.watcher.seen
                if job.state not in here and not math.isnan(job.end_s)
                and (name := self.watcher.named.get(job.label, "")) in names}

    def _ended(self, event: Ended, now_s: float, ends_s: Mapping[str, float]) -> Ended:
        name = str(event.job)
        drawn = self._drawn.get(name)
        if drawn is None:
            return event
        until_s = min(now_s, ends_s.get(name, now_s))
        return replace(event, energy_j=max(drawn.at_j(until_s), 0.0))
