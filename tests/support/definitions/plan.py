"""Units and watts over time: what running jobs and reservations leave of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from tests.support.definitions.world import SLACK, World


class Claim(NamedTuple):
    """Units for a time, and watts beside what the units idle."""

    lasts_s: float
    units: int
    watts: float = 0.0


class _Span(NamedTuple):
    from_s: float
    to_s: float
    units: int
    watts: float

    def holds_at(self, time_s: float) -> bool:
        """A reservation of no length holds at its instant."""
        return self.from_s <= time_s < self.to_s or self.from_s == time_s == self.to_s


class Plan:
    """Expected ends are those of the requested times; an overdue job may end at any moment.

    `of_watts`: watts are planned beside units. What a job takes then is asked at its start, at the
    start of the job that waits, and with `keeps_windows` at those of reservations of watts.
    """

    def __init__(self, world: World, of_watts: bool = False, keeps_windows: bool = False,
                 limit_w: Callable[[float], float] | None = None) -> None:
        self.world, self.of_watts, self.keeps_windows = world, of_watts, keeps_windows
        self.limit_w = limit_w or world.cap_at
        """What the machine may draw at a time."""
        now_s = world.now_s
        self.spans = [
            _Span(now_s, run.expected_s, run.units,
                  max(run.power_w - run.idle_w, 0.0))
            for run in world.running if run.expected_s > now_s]
        self.spans += [_Span(max(r.start_s, now_s), r.end_s, r.nodes, 0.0)
                       for r in world.case.reservations if r.nodes and r.end_s > now_s]
        self.planned_s: list[float] = []
        """Starts of jobs that wait."""

    def add(self, from_s: float, claim: Claim, waits: bool = False) -> None:
        if waits or claim.lasts_s > 0:
            self.spans.append(_Span(from_s, from_s + claim.lasts_s, claim.units, claim.watts))
        if waits:
            self.planned_s.append(from_s)

    def has_units(self, from_s: float, claim: Claim) -> bool:
        """From its start to its end; one that takes no time only needs them then."""
        edges = {from_s, *(t for span in self.spans for t in span[:2]
                           if from_s < t < from_s + claim.lasts_s)}
        return all(self._units_used(edge) + claim.units <= self.world.in_order for edge in edges)

    def has_watts(self, from_s: float, claim: Claim, admitted: bool = False) -> bool:
        """`admitted`: it may have them at its start."""
        if not self.of_watts:
            return True
        asked_s = {t for t in self.planned_s if from_s <= t < from_s + claim.lasts_s}
        if not admitted:
            asked_s.add(from_s)
        return (not self.keeps_windows or self.keeps_windows_with(from_s, claim)) and all(
            self._power_w(time_s, claim) <= self.limit_w(time_s) * (1 + SLACK)
            for time_s in asked_s)

    def keeps_windows_with(self, from_s: float, claim: Claim) -> bool:
        """May a job start and leave every reservation of watts under the cap of its time? For
        these an overdue job counts as running on."""
        world = self.world
        overdue_w = sum(max(run.power_w - run.idle_w, 0.0)
                        for run in world.running if run.expected_s < world.now_s)
        return all(
            self._power_w(r.start_s, claim) + overdue_w <= world.cap_at(r.start_s) * (1 + SLACK)
            for r in world.case.reservations
            if r.watts and from_s < r.start_s < from_s + claim.lasts_s)

    def earliest_s(self, claim: Claim, not_before_s: float = -math.inf) -> float:
        """The first time with room for it; never where it needs what no time has."""
        world = self.world
        first_s = max(world.now_s, not_before_s)
        times = {first_s, *(t for span in self.spans for t in span[:2]),
                 *(r.end_s for r in world.case.reservations)}
        return next((t for t in sorted(times) if t >= first_s
                     and self.has_units(t, claim) and self.has_watts(t, claim)), math.inf)

    def _units_used(self, time_s: float) -> int:
        return sum(span.units for span in self.spans if span.holds_at(time_s))

    def _power_w(self, time_s: float, claim: Claim) -> float:
        on = max(self.world.in_order, self._units_used(time_s) + claim.units)
        above_w = sum(span.watts for span in self.spans if span.holds_at(time_s))
        return self.world.idle_of_w(on) + above_w + claim.watts
