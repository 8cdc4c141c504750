"""Events of a grid operator as steps of a cap and of a price: which hold, what is refused.

The rules: of caps that overlap the lowest holds, of prices that overlap the one told last; a later
version of an event takes the place of the earlier one, and an older one is not heard; of the same
version with other content the one told last holds, which is said; one that is cancelled holds no
more; of one that has begun the rest is followed, and one that is over is
refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from wattline.model.errors import InputError

REMEMBERED_S = 86400.0
"""For so long a cancelled event is known at least, so that an older version of it is refused."""


@dataclass(frozen=True)
class Step:
    """From a time on until another; times are seconds since 1970."""

    start_s: float
    end_s: float


@dataclass(frozen=True)
class CapStep(Step):
    """A cap that holds for a while."""

    cap_w: float


@dataclass(frozen=True)
class PriceStep(Step):
    """A price of energy that holds for a while, in money per kWh."""

    price: float
    currency: str = ""
    """As the event names it; empty where it does not."""


@dataclass(frozen=True)
class GridEvent:
    """One version of an event."""

    name: str
    version: int
    steps: tuple[CapStep, ...]
    cancelled: bool = False
    prices: tuple[PriceStep, ...] = ()

    def __post_init__(self) -> None:
        if self.cancelled:
            return
        if not self.steps and not self.prices:
            raise InputError(f"event {self.name} has no intervals")
        for step in self.steps:
            if not (math.isfinite(step.cap_w) and step.cap_w > 0):
                raise InputError(f"event {self.name} asks for {step.cap_w:g} W; a cap must be a "
                                 "finite power above 0 W")
        for priced in self.prices:
            if not math.isfinite(priced.price):
                raise InputError(f"event {self.name} has the price {priced.price:g}; it must be "
                                 "finite")
        if not all(each.end_s > each.start_s for each in self.all_steps):
            raise InputError(f"event {self.name} has an interval that does not last")

    @property
    def all_steps(self) -> tuple[Step, ...]:
        return (*self.steps, *self.prices)

    @property
    def currency(self) -> str:
        """Of its prices; empty where none of them names one."""
        return next((each.currency for each in self.prices if each.currency), "")

    @property
    def end_s(self) -> float:
        return max((each.end_s for each in self.all_steps), default=-math.inf)


@dataclass(eq=False)
class EventBook:
    """The events that are known, and the cap and the price that they leave of the usual ones."""

    usual_w: float
    known: dict[str, GridEvent] = field(default_factory=dict)
    """In the order in which they were told."""
    _cancelled_until_s: dict[str, float] = field(default_factory=dict)

    def take(self, event: GridEvent, now_s: float) -> str:
        """Note an event; why it is refused, empty where it is followed."""
        before = self.known.get(event.name)
        if before is not None and event.version < before.version:
            return f"event {event.name}: version {event.version} is older than {before.version}"
        if not event.cancelled and event.end_s <= now_s:
            self.known.pop(event.name, None)
            return f"event {event.name} was over before it arrived"
        if event != before:
            self.known.pop(event.name, None)
            self.known[event.name] = event
        if event.cancelled:
            ends_s = before.end_s if before is not None and before.end_s < math.inf else -math.inf
            self._cancelled_until_s[event.name] = max(
                ends_s, now_s + REMEMBERED_S, self._cancelled_until_s.get(event.name, -math.inf))
        return ""

    def told_anew(self, event: GridEvent) -> str:
        """What to say of a version that was told before with other content; empty otherwise.

        A change should have a later version. That the event is cancelled says itself.
        """
        before = self.known.get(event.name)
        if (before is None or event.cancelled or event.version != before.version
                or event == before):
            return ""
        return (f"event {event.name}: version {event.version} is told again with other content; "
                "what was told last holds")

    def holding(self, now_s: float) -> list[str]:
        """Which events have a cap or a price now."""
        return [event.name for event in self.known.values() if not event.cancelled
                and any(step.start_s <= now_s < step.end_s for step in event.all_steps)]

    def cap_w(self, now_s: float) -> float:
        """What may be drawn now: the lowest of what holds, never more than usual."""
        holding = [step.cap_w for step in self._steps() if step.start_s <= now_s < step.end_s]
        return min([self.usual_w, *holding])

    def price(self, now_s: float) -> float | None:
        """What energy costs now by the event told last that says it; None where none does."""
        for event in reversed(self.known.values()):
            for step in event.prices:
                if not event.cancelled and step.start_s <= now_s < step.end_s:
                    return step.price
        return None

    def forget_past(self, now_s: float) -> None:
        """Let go of events that are over, and of cancelled ones that nobody asks for any more."""
        self.known = {
            name: event for name, event in self.known.items()
            if (self._cancelled_until_s[name] if event.cancelled else event.end_s) > now_s}
        self._cancelled_until_s = {name: until_s for name, until_s
                                   in self._cancelled_until_s.items() if name in self.known}

    def _steps(self) -> Iterable[CapStep]:
        for event in self.known.values():
            if not event.cancelled:
                yield from event.steps
