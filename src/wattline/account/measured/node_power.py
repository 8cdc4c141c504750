"""The power of an entity over a run of UTC days, from what its meters told in and around them.

Each day follows from its own samples, the last ones before it and the first ones after it, within a
day: so it comes out the same to the last bit whatever else is in the store or computed with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from wattline.account.measured.records import Kind
from wattline.account.measured.rules import LONGEST_S, Rules
from wattline.account.measured.series_store import DAY_S, Samples
from wattline.model.signal import FloatArray
from wattline.physics.metering.counters import from_counter
from wattline.physics.metering.reach import reaches
from wattline.physics.metering.samples import standing
from wattline.physics.metering.stretches import Stretches, joined, layered
from wattline.physics.metering.suspects import suspects

AROUND = 2
"""So many days before and after are looked at."""

Days = Mapping[tuple[str, Kind], Mapping[int, Samples]]


@dataclass(frozen=True, eq=False)
class NodePower:
    """Power over some days, the meters it comes from, and what these told that cannot be."""

    power: Stretches
    meters: tuple[str, ...]
    """Those that count."""
    several: bool
    """Whether there were others beside them."""
    impossible: int
    unsure: int = 0
    """Of them readings of counters that may have gone round more than once in between."""
    suspect: tuple[Stretches, ...] = ()
    """Power of readings far above those beside them, 0 elsewhere."""
    suspects: int = 0


def node_power(
    days: Days, first: int, last: int, rules: Rules, highest_w: float
) -> NodePower | None:
    """From the first to the last day; None where nothing is known of them.

    Of several meters one counts on each day: one with a counter before one that samples, then by
    name. Where a meter has both, the counter counts and the samples stand in its gaps.
    """
    parts, meters, several = [], set(), False
    impossible = unsure = strange = 0
    shown: list[Stretches] = []
    for meter, begin, end, others in _spans(days, first, last):
        several |= others
        kinds = [_counted(days, meter, begin, end, rules, highest_w),
                 _sampled(days, meter, begin, end, highest_w)]
        known = [found for found in kinds if found is not None]
        if not known:
            continue
        power = known[0][0] if len(known) == 1 else layered(known[0][0], known[1][0])
        whole = power.fill(rules.filling, rules.longest_gap_s).within(
            begin * DAY_S, (end + 1) * DAY_S)
        if whole is not None:
            parts.append(whole)
            meters.add(meter)
            impossible += sum(found[1] for found in known)
            unsure += sum(found[2] for found in known)
            odd = _suspects(known[0][0], begin * DAY_S, (end + 1) * DAY_S)
            if odd is not None:
                shown.append(odd)
                strange += int((odd.power_w > 0).sum())
    if not parts:
        return None
    return NodePower(joined(parts), tuple(sorted(meters)), several, impossible, unsure,
                     tuple(shown), strange)


def _suspects(measured: Stretches, start_s: float, end_s: float) -> Stretches | None:
    found = suspects(measured)
    part = found.within(start_s, end_s) if found is not None else None
    return part if part is not None and (part.power_w > 0).any() else None


def _spans(days: Days, first: int, last: int) -> Iterator[tuple[str, int, int, bool]]:
    """Runs of days on which the same meter counts, and whether there were others."""
    if len({meter for meter, _ in days}) == 1:
        yield next(iter(days))[0], first, last, False
        return
    before: tuple[str, int, int, bool] | None = None
    for day in range(first, last + 1):
        there = _meters(days, day)
        if before is not None and there and there[0] == before[0]:
            before = before[0], before[1], day, before[3] or len(there) > 1
            continue
        if before is not None:
            yield before
        before = (there[0], day, day, len(there) > 1) if there else None
    if before is not None:
        yield before


def _meters(days: Days, day: int) -> list[str]:
    """The meters of that day, best first; of a day without any those of the days beside it."""
    for near in (day, day - 1, day + 1):
        found = {meter for (meter, _), rows in days.items() if near in rows}
        if found:
            counted = {meter for meter in found if near in days.get((meter, Kind.JOULES), {})}
            return sorted(found, key=lambda meter: (meter not in counted, meter))
    return []


def _counted(
    days: Days, meter: str, first: int, last: int, rules: Rules, highest_w: float
) -> tuple[Stretches, int, int] | None:
    rows = days.get((meter, Kind.JOULES), {})
    parts = []
    for day in range(first - 1, last + 2):
        if day in rows:
            known = ~np.isnan(rows[day].value)
            # Two, as the stretch over midnight needs the one beside it to be judged.
            which = slice(-2, None) if day < first else slice(0, 2) if day > last else slice(None)
            parts.append((rows[day].time_s[known][which], rows[day].value[known][which]))
    times, joules = _joined(parts)
    if times.size < 2:
        return None
    power, seen = from_counter(times, joules, highest_w=highest_w, range_j=rules.range_j)
    # Joules of more than a day may have been drawn at any time of it.
    known_w = np.where(np.diff(times) > LONGEST_S, np.nan, power.power_w)
    return (Stretches(power.edge_s, known_w, power.filled), seen.impossible + seen.resets,
            seen.unsure)


def _sampled(
    days: Days, meter: str, first: int, last: int, highest_w: float
) -> tuple[Stretches, int, int] | None:
    rows = days.get((meter, Kind.WATTS), {})
    there = [day for day in range(first - 1, last + 2) if day in rows]
    if not there:
        return None
    reach_s = _reaches_s(rows, there)
    parts, intervals = [], []
    impossible = 0
    for day in there:
        watts = rows[day].value
        above = watts > highest_w
        if above.any():
            watts = np.where(above, np.nan, watts)
            impossible += int(above.sum()) if first <= day <= last else 0
        which = _around(watts, -1 if day < first else int(day > last))
        if np.isnan(reach_s[day]).any():
            continue  # a sample alone, and nobody says for how long it stands
        parts.append((rows[day].time_s[which], watts[which]))
        intervals.append(reach_s[day][which])
    times, watts = _joined(parts)
    if not times.size:
        return None
    return standing(times, watts, np.concatenate(intervals)), impossible, 0


def _reaches_s(rows: Mapping[int, Samples], there: list[int]) -> dict[int, FloatArray]:
    """How long each sample of these days stands, not less than the source told."""
    sizes = [len(rows[day]) for day in there]
    found = reaches(np.concatenate([rows[day].time_s for day in there]))
    told_s = np.array([rows[day].interval_s for day in there])
    if not np.isnan(told_s).all():
        found = np.fmax(found, np.repeat(told_s, sizes))
    # One sample alone on its day does not say for how long it stands: its neighbours may.
    return {day: np.where(np.isnan(each), _interval_s(rows, day), each)
            if np.isnan(each).any() else each
            for day, each in zip(there, np.split(found, np.cumsum(sizes)[:-1]), strict=True)}


def _around(watts: FloatArray, side: int) -> slice:
    """Of the day before, from its last two values on; of the day after, up to its first two."""
    if side == 0:
        return slice(None)
    known = np.flatnonzero(~np.isnan(watts))
    if side < 0:
        return slice(int(known[-2:][0]) if known.size else watts.size, None)
    return slice(0, int(known[:2][-1]) + 1 if known.size else 1)


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
