"""A curtailment event: for some hours the site must draw less, and hears of it shortly before.

How much less it drew is counted from a baseline: what it would have drawn, by a rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.grid.market import overlay
from wattline.model.errors import InputError
from wattline.model.signal import Signal

DAY_S = 86400.0
KEPT_LEAST = 0.99
"""Share of the limited time for which the power must keep the limit where no programme says it."""
NO_BREACH_W = 0.5
"""So little above the limit is none."""


def within(exceed_share: float, least: float) -> bool:
    """Whether a limit was kept for at least this share of its time."""
    return 1.0 - exceed_share >= least


@dataclass(frozen=True)
class Curtailment:
    """Draw `share` less than the baseline from `start_s` for `duration_s`."""

    start_s: float
    share: float = 0.25
    duration_s: float = 3 * 3600.0
    notice_s: float = 600.0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InputError(f"curtailment share is {self.share}, must be between 0 and 1")
        if not self.duration_s > 0 or self.notice_s < 0:
            raise InputError("a curtailment needs a duration above 0 and no negative notice")
        if self.start_s < self.notice_s:
            raise InputError(
                f"the curtailment starts at {self.start_s:.6g} s; a notice of "
                f"{self.notice_s:.6g} s would come before the beginning"
            )

    @property
    def end_s(self) -> float:
        return self.start_s + self.duration_s

    @property
    def heard_s(self) -> float:
        """When the site hears of it."""
        return self.start_s - self.notice_s

    def limit_w(self, baseline_w: float, free_w: float, step_s: float = 10.0) -> Signal:
        """The power not to exceed: free, then down in steps during the notice, then the limit.

        The notice is used to come down: a job that starts in it would still run in the event.
        """
        low_w = (1 - self.share) * baseline_w
        steps = [(0.0, free_w)]
        count = int(self.notice_s // step_s)
        for number in range(count):
            part = (number + 1) / (count + 1)
            time_s = self.start_s - self.notice_s + number * step_s
            steps.append((time_s, baseline_w + part * (low_w - baseline_w)))
        steps += [(self.start_s, low_w), (self.end_s, free_w)]
        return Signal.from_steps(steps, "W")


@dataclass(frozen=True)
class Compliance:
    """Whether the event was kept."""

    limit_w: float
    power_w_mean: float
    power_w_peak: float
    exceed_share: float
    """Share of the event above the limit."""
    exceed_energy_j: float
    least: float = KEPT_LEAST
    """Share of the event for which the limit must be kept."""

    @property
    def met(self) -> bool:
        return within(self.exceed_share, self.least)

    def violations(self, idle_w: float) -> list[str]:
        """What was not kept, by how much; a limit below the idle machine cannot be."""
        if self.met:
            return []
        why = ""
        if self.limit_w < idle_w:
            why = f"; the limit is {idle_w - self.limit_w:.6g} W below the idle machine"
        return [f"curtailment: the power is above the limit of {self.limit_w:.6g} W for "
                f"{self.exceed_share:.1%} of the event, by up to "
                f"{self.power_w_peak - self.limit_w:.6g} W{why}"]


def compliance(
    actual_w: Signal, event: Curtailment, baseline_w: float, least: float = KEPT_LEAST
) -> Compliance:
    """Compare what was drawn during the event with what was allowed (half a watt is no breach)."""
    limit_w = (1 - event.share) * baseline_w
    edges, (power_w,) = overlay((actual_w,), event.start_s, event.end_s)
    duration_s = np.diff(edges)
    over_w = np.maximum(0.0, power_w - limit_w)
    return Compliance(
        limit_w=limit_w,
        power_w_mean=float(power_w @ duration_s) / event.duration_s,
        power_w_peak=float(power_w.max()),
        exceed_share=min(1.0, float(duration_s @ (over_w > NO_BREACH_W)) / event.duration_s),
        exceed_energy_j=float(over_w @ duration_s),
        least=least,
    )


@dataclass(frozen=True)
class CapKept:
    """Whether a limit that changes with time was kept while it was within bounds."""

    limited_s: float
    limit_w_lowest: float | None
    exceed_share: float
    over_w_most: float
    least: float = KEPT_LEAST
    """Share of the limited time for which the limit must be kept."""

    @property
    def met(self) -> bool:
        return within(self.exceed_share, self.least)

    def violations(self, what: str, idle_w: float) -> list[str]:
        """What was not kept, by how much; a limit below the idle machine cannot be."""
        if self.met:
            return []
        lowest_w = self.limit_w_lowest or 0.0
        why = ""
        if lowest_w < idle_w:
            why = f"; the lowest is {idle_w - lowest_w:.6g} W below the idle machine"
        return [f"{what}: the power is above the cap for {self.exceed_share:.1%} of the time in "
                f"which one holds, by up to {self.over_w_most:.6g} W{why}"]


def cap_kept(
    actual_w: Signal, limit_w: Signal, start_s: float, end_s: float, *, below_w: float,
    from_w: float = 0.0,
) -> CapKept:
    """Compare what was drawn with a limit of many steps, where it is within these bounds."""
    edges, (power, limit) = overlay((actual_w, limit_w), start_s, end_s)
    low = (limit >= from_w) & (limit < below_w)
    span_s, over_w = np.diff(edges)[low], np.maximum(0.0, power - limit)[low]
    if span_s.size == 0:
        return CapKept(0.0, None, 0.0, 0.0)
    return CapKept(
        limited_s=float(span_s.sum()), limit_w_lowest=float(limit[low].min()),
        exceed_share=min(1.0, float(span_s @ (over_w > NO_BREACH_W)) / float(span_s.sum())),
        over_w_most=float(over_w.max()))


def lower_of(one: Signal | None, other: Signal) -> Signal:
    """The lower of two limits at each time."""
    if one is None:
        return other
    times_s = np.union1d(one.time_s, other.time_s)
    return Signal(times_s, np.minimum(one.sample(times_s), other.sample(times_s)), "W")


def load_before(power_w: Signal, event: Curtailment, window_s: float, first_s: float) -> float:
    """The mean power of so long before the event was heard of, as far as there is any."""
    start_s = max(first_s, event.heard_s - window_s)
    if not event.heard_s > start_s:
        raise InputError("the curtailment is heard of at the beginning: there is no load before it "
                         "to take a baseline from; let it start later, or give a warm-up")
    return power_w.integral(start_s, event.heard_s) / (event.heard_s - start_s)


def load_of_days(
    power_w: Signal, event: Curtailment, days: int, highest: int, first_s: float
) -> float | None:
    """The mean power at the event's hours on the highest of the days before it.

    None where fewer days than these are there.
    """
    found = []
    for number in range(1, days + 1):
        start_s = event.start_s - number * DAY_S
        if start_s >= first_s:
            found.append(power_w.integral(start_s, start_s + event.duration_s) / event.duration_s)
    if len(found) < highest:
        return None
    return float(np.mean(sorted(found)[-highest:]))
