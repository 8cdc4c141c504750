"""Events of a grid operator as steps of a cap: which hold, what is refused, what overlaps.

The rules: of events that overlap the lowest cap holds; a later version of an event takes the place
of the earlier one, and an older one is not heard; one that is cancelled holds no more; of one that
has begun the rest is followed, and one that is over is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from wattline.model.errors import InputError


@dataclass(frozen=True)
class CapStep:
    """A cap from a time on until another; times are seconds since 1970."""

    start_s: float
    end_s: float
    cap_w: float


@dataclass(frozen=True)
class GridEvent:
    """One version of an event."""

    name: str
    version: int
    steps: tuple[CapStep, ...]
    cancelled: bool = False

    def __post_init__(self) -> None:
        if self.cancelled:
            return
        if not self.steps:
            raise InputError(f"event {self.name} has no intervals")
        for step in self.steps:
            if not (math.isfinite(step.cap_w) and step.cap_w > 0):
                raise InputError(f"event {self.name} asks for {step.cap_w:g} W; a cap must be a "
                                 "finite power above 0 W")
            if not step.end_s > step.start_s:
                raise InputError(f"event {self.name} has an interval that does not last")

    @property
    def end_s(self) -> float:
        return max((step.end_s for step in self.steps), default=-math.inf)


@dataclass(eq=False)
class EventBook:
    """The events that are known, and the cap that they leave of the usual one."""

    usual_w: float
    known: dict[str, GridEvent] = field(default_factory=dict)

    def take(self, event: GridEvent, now_s: float) -> str:
        """Note an event; why it is refused, empty where it is followed."""
        before = self.known.get(event.name)
        if before is not None and event.version < before.version:
            return f"event {event.name}: version {event.version} is older than {before.version}"
        if not event.cancelled and event.end_s <= now_s:
            self.known.pop(event.name, None)
            return f"event {event.name} was over before it arrived"
        self.known[event.name] = event
        return ""

    def cap_w(self, now_s: float) -> float:
        """What may be drawn now: the lowest of what holds, never more than usual."""
        holding = [step.cap_w for step in self._steps() if step.start_s <= now_s < step.end_s]
        return min([self.usual_w, *holding])

    def forget_past(self, now_s: float) -> None:
        """Let go of events that are over."""
        self.known = {name: event for name, event in self.known.items()
                      if event.cancelled or event.end_s > now_s}

    def _steps(self) -> Iterable[CapStep]:
        for event in self.known.values():
            if not event.cancelled:
                yield from event.steps
