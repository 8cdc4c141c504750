"""What joules of the next hours cost and emit: one figure, or a table laid on the log's clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wattline.model.errors import InputError
from wattline.model.run_clock import RunClock
from wattline.model.signal import FloatArray, Signal
from wattline.traces.dated_tariffs import Read, rate_beside, shifted
from wattline.traces.rates import is_flat


@dataclass(frozen=True)
class Clock:
    """The seconds that futures are counted in."""

    now_s: float
    log: RunClock | None
    """What it is the clock of; None on a live machine, whose seconds are Unix times."""


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
    """One figure, or a table on the clock: by dates where both have them.

    `start` is the date in the table at which the first job is submitted.
    """
    if given is None:
        return None
    text = str(given)
    found = _told(clock, text, read, start) if start else _laid(clock, text, read)
    first_s, end_s = _covered(found.signal)
    if not first_s <= clock.now_s < end_s:
        raise InputError(f"{text}: has nothing of this instant; give another table, or with "
                         "--price-start the date in it at which the first job is submitted")
    return found


def _told(clock: Clock, text: str, read: Read, start: str) -> Rate:
    table = read(text, start=start)
    if is_flat(table):
        raise InputError("--price-start goes with a table; one figure holds at any time")
    if clock.log is None:
        raise InputError("--price-start goes with a log; a live machine has its own dates")
    return Rate(shifted(table, clock.log.first_s), text)


def _laid(clock: Clock, text: str, read: Read) -> Rate:
    if clock.log is not None:
        table, notes = rate_beside(text, read, clock.log, "--price-start DATE")
        return Rate(shifted(table, clock.log.first_s), text, notes)
    table = read(text, unix=True)
    return Rate(table, text, () if is_flat(table) else (f"{text}: by its dates, taken as UTC",))


def _covered(rate: Signal) -> tuple[float, float]:
    """From when until when a table speaks; its last row holds as long as the one before it."""
    if is_flat(rate):
        return -np.inf, np.inf
    return float(rate.time_s[0]), float(2 * rate.time_s[-1] - rate.time_s[-2])
