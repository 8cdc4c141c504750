"""The power of an entity over one UTC day, from what its meters told around it.

A day is worked out from its own samples, the last ones of the day before and the first ones of
the day after, and from nothing else: so it comes out the same whatever else is in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wattline.account.measured.records import Kind
from wattline.account.measured.rules import LONGEST_S, Rules
from wattline.account.measured.series_store import DAY_S, Samples
from wattline.model.signal import FloatArray
from wattline.physics.metering.counters import from_counter
from wattline.physics.metering.samples import standing
from wattline.physics.metering.stretches import Stretches, layered

AROUND = 2
"""So many days before and after are looked at."""

Days = Mapping[tuple[str, Kind], Mapping[int, Samples]]


@dataclass(frozen=True, eq=False)
class DayPower:
    """Power over a day, the meter it comes from, and what that meter told that cannot be."""

    power: Stretches
    meter: str
    meters: int
    """How many meters the entity had that day."""
    impossible: int


def day_power(days: Days, day: int, rules: Rules, highest_w: float) -> DayPower | None:
    """None where nothing is known of that day.

    Of several meters one counts: one with a counter before one that samples, then by name. Where
    a meter has both, the counter counts and the samples stand in its gaps.
    """
    there = _meters(days, day)
    if not there:
        return None
    meter = there[0]
    kinds = [_counted(days, meter, day, rules, highest_w), _sampled(days, meter, day, highest_w)]
    known = [found for found in kinds if found is not None]
    if not known:
        return None
    power = known[0][0] if len(known) == 1 else layered(known[0][0], known[1][0])
    whole = power.fill(rules.filling, rules.longest_gap_s).within(day * DAY_S, (day + 1) * DAY_S)
    if whole is None:
        return None
    return DayPower(whole, meter, len(there), sum(found[1] for found in known))


def _meters(days: Days, day: int) -> list[str]:
    """The meters of that day, best first; of a day without any those of the days beside it."""
    for near in (day, day - 1, day + 1):
        found = {meter for (meter, _), rows in days.items() if near in rows}
        if found:
            counted = {meter for meter in found if near in days.get((meter, Kind.JOULES), {})}
            return sorted(found, key=lambda meter: (meter not in counted, meter))
    return []


def _counted(
    days: Days, meter: str, day: int, rules: Rules, highest_w: float
) -> tuple[Stretches, int] | None:
    rows = days.get((meter, Kind.JOULES), {})
    parts = []
    for near, which in ((day - 1, slice(-1, None)), (day, slice(None)), (day + 1, slice(0, 1))):
        if near in rows:
            known = ~np.isnan(rows[near].value)
            parts.append((rows[near].time_s[known][which], rows[near].value[known][which]))
    times, joules = _joined(parts)
    if times.size < 2:
        return None
    power, seen = from_counter(times, joules, highest_w=highest_w, range_j=rules.range_j)
    # Joules of more than a day may have been drawn at any time of it.
    known_w = np.where(np.diff(times) > LONGEST_S, np.nan, power.power_w)
    return Stretches(power.edge_s, known_w, power.filled), seen.impossible + seen.resets


def _sampled(
    days: Days, meter: str, day: int, highest_w: float
) -> tuple[Stretches, int] | None:
    rows = days.get((meter, Kind.WATTS), {})
    parts, intervals = [], []
    impossible = 0
    for near in (day - 1, day, day + 1):
        interval_s = _interval_s(rows, near)
        if near not in rows or np.isnan(interval_s):
            continue
        above = rows[near].value > highest_w
        watts = np.where(above, np.nan, rows[near].value)
        which = _around(watts, near - day)
        impossible += int(above.sum()) if near == day else 0
        parts.append((rows[near].time_s[which], watts[which]))
        intervals.append(np.full(parts[-1][0].size, interval_s))
    times, watts = _joined(parts)
    if not times.size:
        return None
    return standing(times, watts, np.concatenate(intervals)), impossible


def _around(watts: FloatArray, side: int) -> slice:
    """Of the day before, from its last value on; of the day after, up to its first."""
    if side == 0:
        return slice(None)
    known = np.flatnonzero(~np.isnan(watts))
    if side < 0:
        return slice(int(known[-1]) if known.size else watts.size, None)
    return slice(0, int(known[0]) + 1 if known.size else 1)


def _interval_s(rows: Mapping[int, Samples], day: int) -> float:
    """How long a sample of that day stands, NaN where nobody knows."""
    for near in (day, day - 1, day + 1):
        # One sample alone does not say for how long it stands: its neighbours may.
        if near in rows and not np.isnan(rows[near].stands_s):
            return rows[near].stands_s
    return float("nan")


def _joined(parts: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    if not parts:
        return np.zeros(0), np.zeros(0)
    times, values = zip(*parts, strict=True)
    return np.concatenate(times), np.concatenate(values)
