"""Samples of meters that come again under another zone or cluster: a bill would have them twice.

The ledger knows a sample by its cluster, its meter and its time. A file whose times were read in
another zone has the same values, all off by the same quarters of an hour. It is known by stretches
of readings that occur once in the file and once in the ledger: readings that stay the same, or come
again and again, tell nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, delete, select

from wattline.account.measured.bulk import chunks
from wattline.account.measured.doubles import FARTHEST_S, QUARTER_S, Entered, refused
from wattline.account.measured.records import Kind, Series
from wattline.account.measured.sample_codec import IntArray, encode
from wattline.account.measured.series_store import DAY_S, US, Samples, checked, kept_days
from wattline.account.measured.tables import series as series_table
from wattline.account.measured.touched import Entity, Touched

STRETCH = 8
"""So many readings after each other are looked for; so many stretches, and values, are needed."""
_DAYS = -(-FARTHEST_S // DAY_S)
_HOUR_US = 3600 * US
_ROUNDED_US = 2
"""Times are kept as whole microseconds, which may be rounded otherwise in another zone."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
Keys = npt.NDArray[np.uint64]


def refuse_metered(
    connection: Connection, found: Collection[Series], replace: bool, replaced: list[str]
) -> Touched:
    """Refuse samples that are there under another zone or cluster, or take those out.

    Answers what was touched by that; what is to be said of it is added to `replaced`.
    """
    clusters = list(connection.scalars(select(series_table.c.cluster).distinct()))
    groups: dict[tuple[str, int], Entered] = {}
    for each in found if clusters else ():
        for cluster, by_s in _entered_before(connection, each, clusters):
            group = groups.setdefault((cluster, by_s), Entered("meter", cluster, by_s))
            group.own.add(each.cluster)
            group.names.add(each.entity)
    if not groups:
        return Touched()
    said = " and ".join(group.said() for _, group in sorted(groups.items()))
    if not replace:
        raise refused("samples that the ledger has already, with the same values and the same time "
                      "between them", said)
    replaced.append(f"replaced, as --replace says: {said}")
    days: dict[Entity, set[int]] = {}
    for cluster in {cluster for cluster, _ in groups}:
        shifts = [by_s for where, by_s in groups if where == cluster]
        for each in found:  # of meters that stand still too
            days.setdefault((cluster, each.entity), set()).update(
                _take_out(connection, each, cluster, shifts))
    return Touched({entity: frozenset(some) for entity, some in days.items() if some})


def _entered_before(
    connection: Connection, series: Series, clusters: Collection[str]
) -> Iterator[tuple[str, int]]:
    """The clusters that have these samples, and how many seconds later."""
    given = checked(series)[0]
    if len(given) < 2 * STRETCH:
        return
    there = {cluster: _together(_near(connection, series, given, cluster).values())
             for cluster in clusters}
    own = there.get(series.cluster)
    if own is not None:  # what comes again as it was
        given = _without(given, own, [0])
    for cluster, kept in there.items():
        for by_s in _shifts(given, kept, series.kind):
            if by_s or cluster != series.cluster:
                yield cluster, by_s


def _near(
    connection: Connection, series: Series, given: Samples, cluster: str
) -> dict[int, tuple[int, Samples]]:
    """Rows of the days where these samples may be in another zone."""
    first, last = (int(given.time_us[at]) // (DAY_S * US) for at in (0, -1))
    return kept_days(connection, series, first - _DAYS, last + _DAYS, cluster)


def _together(rows: Collection[tuple[int, Samples]]) -> Samples:
    parts = sorted((part for _, part in rows), key=lambda part: int(part.time_us[0]))
    return Samples(np.concatenate([np.empty(0, np.int64), *(part.time_us for part in parts)]),
                   np.concatenate([np.empty(0), *(part.value for part in parts)]))


def _shifts(given: Samples, kept: Samples, kind: Kind) -> list[int]:
    """By how many seconds samples are later in the ledger: several where clocks were changed.

    None where fewer than half of what both have at these hours is alike. A whole day is none: what
    is done each day looks alike.
    """
    if min(len(given), len(kept)) < 2 * STRETCH:
        return []
    readings = _readings(given, kind)
    keys, at = _once(readings)
    other_keys, other_at = _once(_readings(kept, kind))
    _, mine, theirs = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    by_us = kept.time_us[other_at[theirs]] - given.time_us[at[mine]]
    by_s = np.rint(by_us / (QUARTER_S * US)).astype(np.int64) * QUARTER_S
    fits = ((np.abs(by_us - by_s * US) <= _ROUNDED_US) & (np.abs(by_s) <= FARTHEST_S)
            & (np.abs(by_s) != DAY_S))
    hours = np.unique(kept.time_us // _HOUR_US)
    shifts, alike = [], 0
    common = np.zeros(at.size, dtype=np.bool_)
    for shift_s in np.unique(by_s[fits]).tolist():
        same = at[mine][fits & (by_s == shift_s)]
        if same.size >= STRETCH and np.unique(readings[same]).size >= STRETCH:
            shifts.append(int(shift_s))
            alike += same.size
            common |= np.isin((given.time_us[at] + shift_s * US) // _HOUR_US, hours)
    return shifts if 2 * alike >= common.sum() else []


def _readings(samples: Samples, kind: Kind) -> npt.NDArray[np.uint64]:
    """Values as whole numbers of 64 bits; of counters what they rose by."""
    value = np.diff(samples.value) if kind is Kind.JOULES else samples.value
    return np.where(np.isnan(value), np.nan, value + 0.0).view(np.uint64)


def _once(readings: Keys) -> tuple[Keys, IntArray]:
    """A number for each stretch of readings that occurs only once, and where it begins."""
    mixed = (readings ^ (readings >> np.uint64(29))) * _FACTOR
    mixed ^= mixed >> np.uint64(32)
    count = readings.size - STRETCH + 1
    found = np.zeros(count, dtype=np.uint64)
    for place in range(STRETCH):
        found = found * _FACTOR + mixed[place : place + count]
    keys, at, often = np.unique(found, return_index=True, return_counts=True)
    return keys[often == 1], at[often == 1]


def _without(samples: Samples, told: Samples, shifts_s: Collection[int]) -> Samples:
    """Samples but those that are told too, with the same value, by one of the shifts."""
    left = np.ones(len(samples), dtype=np.bool_)
    for shift_s in shifts_s if len(told) else ():
        time_us = told.time_us + shift_s * US
        near = np.minimum(np.searchsorted(time_us, samples.time_us - _ROUNDED_US), len(told) - 1)
        value = told.value[near]
        left &= ~((np.abs(time_us[near] - samples.time_us) <= _ROUNDED_US) & (
            (value == samples.value) | (np.isnan(value) & np.isnan(samples.value))))
    return Samples(samples.time_us[left], samples.value[left], samples.interval_s)


def _take_out(
    connection: Connection, series: Series, cluster: str, shifts_s: Collection[int]
) -> set[int]:
    """Take samples that are told again out of a cluster; answers the days."""
    given = checked(series)[0]
    if not len(given):
        return set()
    days, changed, empty = set(), [], []
    for day, (row_id, kept) in _near(connection, series, given, cluster).items():
        left = _without(kept, given, shifts_s)
        if len(left) == len(kept):
            continue
        days.add(day)
        if len(left):
            changed.append({"row_id": row_id, "samples": encode(left.time_us, left.value)})
        else:
            empty.append(row_id)
    if changed:
        connection.execute(
            series_table.update().where(series_table.c.id == bindparam("row_id")), changed)
    for some in chunks(empty):
        connection.execute(delete(series_table).where(series_table.c.id.in_(some)))
    return days
