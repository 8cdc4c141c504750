"""A curtailment event: for some hours the site must draw less, and hears of it shortly before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.grid.market import overlay
from wattline.model.errors import InputError
from wattline.model.signal import Signal


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

    @property
    def met(self) -> bool:
        return self.exceed_share < 0.01

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


def compliance(actual_w: Signal, event: Curtailment, baseline_w: float) -> Compliance:
    """Compare what was drawn during the event with what was allowed (half a watt is no breach)."""
    limit_w = (1 - event.share) * baseline_w
    edges, (power_w,) = overlay((actual_w,), event.start_s, event.end_s)
    duration_s = np.diff(edges)
    over_w = np.maximum(0.0, power_w - limit_w)
    return Compliance(
        limit_w=limit_w,
        power_w_mean=float(power_w @ duration_s) / event.duration_s,
        power_w_peak=float(power_w.max()),
        exceed_share=float(duration_s @ (over_w > 0.5)) / event.duration_s,
        exceed_energy_j=float(over_w @ duration_s),
    )
