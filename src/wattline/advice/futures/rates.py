"""What joules of the next hours cost and emit: one figure, or a table laid on the log's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray, Signal
from wattline.traces.rates import is_flat
from wattline.traces.tariffs import FIRST_UNIX_S, NoDates

Read = Callable[..., Signal]


@dataclass(frozen=True)
class Clock:
    """The seconds that futures are counted in."""

    now_s: float
    epoch_s: float | None
    """Unix time of its second 0; None where nobody knows its dates."""

    @classmethod
    def of(cls, now_s: float, unix_start_s: float | None) -> Clock:
        """That of a log or of a live machine; large seconds are Unix times themselves."""
        # Logs whose beginning nobody knows say that it was in 1970.
        return cls(now_s, 0.0 if now_s >= FIRST_UNIX_S else unix_start_s or None)


@dataclass(frozen=True)
class Rate:
    """Money or grams per joule on that clock, and what they rest on."""

    signal: Signal
    name: str
    notes: tuple[str, ...] = ()

    def of_draws(self, start_s: FloatArray, used_s: FloatArray, power_w: float) -> FloatArray:
        """What each draw costs; not a number where a table is asked for one that never starts."""
        if is_flat(self.signal):
            costs: FloatArray = power_w * used_s * self.signal.value[0]
            return costs
        return power_w * (self.signal.accumulated(start_s + used_s)
                          - self.signal.accumulated(start_s))

    def remarks(self, start_s: FloatArray, used_s: FloatArray) -> Iterator[str]:
        """What must be known of these costs."""
        yield from self.notes
        if is_flat(self.signal):
            return
        started = np.isfinite(start_s)
        if not started.all():
            yield (f"{self.name}: counted for the {int(started.sum()):,} of {len(start_s):,} draws "
                   "that start by the horizon")
        if np.any((start_s + used_s)[started] > _covered(self.signal)[1]):
            yield f"{self.name}: ends before some draws do; its last value stands for the rest"


def rate_on(clock: Clock, given: float | str | None, read: Read, start: str = "") -> Rate | None:
    """One figure, or a table on the clock: by dates where both have them, else from second 0 on.

    `start` is the date in the table at which the clock stands at 0.
    """
    if given is None:
        return None
    text = str(given)
    if start:
        found = Rate(read(text, start=start), text)
        if is_flat(found.signal):
            raise InputError("--price-start goes with a table; one figure holds at any time")
    else:
        found = _dated(clock, text, read) or _from_zero(text, read)
    first_s, end_s = _covered(found.signal)
    if not first_s <= clock.now_s < end_s:
        raise InputError(f"{text}: has nothing of this instant; give another table, or with "
                         "--price-start the date in it at which the clock stands at 0")
    return found


def _dated(clock: Clock, text: str, read: Read) -> Rate | None:
    """By its dates; None where it has none of this time and another reading is possible."""
    if clock.epoch_s is None:
        return None
    must = clock.epoch_s == 0.0
    try:
        table = read(text, unix=True)
    except NoDates:
        if must:
            raise
        return None
    if is_flat(table):
        return Rate(table, text)
    first_s, end_s = _covered(table)
    if not must and not first_s <= clock.now_s + clock.epoch_s < end_s:
        return None
    on_clock = Signal(table.time_s - clock.epoch_s, table.value, table.unit)
    return Rate(on_clock, text, (f"{text}: by its dates, taken as UTC",))


def _from_zero(text: str, read: Read) -> Rate:
    table = read(text)
    notes = () if is_flat(table) else (
        f"the first row of {text} stands for second 0 of the log; --price-start DATE says "
        "otherwise",)
    return Rate(table, text, notes)


def _covered(rate: Signal) -> tuple[float, float]:
    """From when until when a table speaks; its last row holds as long as the one before it."""
    if is_flat(rate):
        return -np.inf, np.inf
    return float(rate.time_s[0]), float(2 * rate.time_s[-1] - rate.time_s[-2])
