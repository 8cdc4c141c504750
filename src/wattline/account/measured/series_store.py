"""Keeping what meters told: one row per meter and UTC day, merged so that order does not matter.

Samples are united by their time. Of two at one instant a value beats an empty one, and of two
values the larger one stays: any order of imports then leaves the same, and the contradiction is
counted and can be said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sqlalchemy import Connection, bindparam, select

from wattline.account.measured.records import Kind, Series
from wattline.account.measured.sample_codec import IntArray, decode, encode
from wattline.account.measured.tables import series as series_table
from wattline.account.measured.touched import Touched
from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

DAY_S = 86_400
US = 1_000_000
LONGEST_NAME = 255
LATEST_S = 7_258_118_400  # the year 2200: what is later is no time of a meter


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples in order of time, each instant once."""

    time_us: IntArray
    value: FloatArray
    interval_s: float = float("nan")

    @cached_property
    def time_s(self) -> FloatArray:
        return self.time_us / US

    @cached_property
    def stands_s(self) -> float:
        """How long a sample stands: as told, else the usual time between them, else NaN."""
        if self.interval_s > 0 or len(self) < 2:
            return self.interval_s
        return float(np.median(np.diff(self.time_us))) / US

    def __len__(self) -> int:
        return int(self.time_us.size)


@dataclass(frozen=True)
class Entered:
    """What became of some series."""

    touched: Touched
    samples: int
    """All that were given."""
    new: int
    """Of them those that the store did not have."""
    contradictions: int
    """Instants with two values, of which the larger one stays."""
    impossible: int
    """Below 0 or infinite: taken as empty."""

    @property
    def mended(self) -> dict[str, int]:
        """What was not taken as it was told, by reason."""
        found = {"two values at one instant, the larger kept": self.contradictions,
                 "impossible values, taken as empty": self.impossible}
        return {reason: count for reason, count in found.items() if count}


@dataclass
class _Counts:
    samples: int = 0
    new: int = 0
    contradictions: int = 0
    impossible: int = 0
    days: dict[tuple[str, str], set[int]] = field(default_factory=dict)


def enter_series(connection: Connection, series_list: Iterable[Series]) -> Entered:
    """Merge series into the store; what they touch is for `settle` to work out."""
    counts = _Counts()
    for series in series_list:
        _enter(connection, series, counts)
    days = {entity: frozenset(found) for entity, found in counts.days.items()}
    return Entered(Touched(days), counts.samples, counts.new, counts.contradictions,
                   counts.impossible)


def read_days(
    connection: Connection, cluster: str, entity: str, first_day: int, last_day: int
) -> Mapping[tuple[str, Kind], dict[int, Samples]]:
    """The samples of an entity from one day to another, by meter and kind, then by day."""
    table = series_table.c
    rows = connection.execute(
        select(table.meter, table.kind, table.day, table.interval_s, table.samples).where(
            table.cluster == cluster, table.entity == entity,
            table.day.between(first_day, last_day)))
    found: dict[tuple[str, Kind], dict[int, Samples]] = {}
    for meter, kind, day, interval_s, packed in rows:
        times, values = decode(packed)
        known_s = float("nan") if interval_s is None else float(interval_s)
        found.setdefault((meter, Kind(kind)), {})[day] = Samples(times, values, known_s)
    return found


def merge(samples: Iterable[Samples]) -> tuple[Samples, int]:
    """The union of samples, and at how many instants two of them contradict each other."""
    parts = list(samples)
    times = np.concatenate([part.time_us for part in parts])
    values = np.concatenate([part.value for part in parts])
    intervals = [part.interval_s for part in parts if part.interval_s == part.interval_s]
    interval_s = min(intervals, default=float("nan"))
    if times.size < 2 or (np.diff(times) > 0).all():
        return Samples(times, values, interval_s), 0
    # In order of time, then empty ones, then values from small to large: the last one stays.
    order = np.lexsort((np.where(np.isnan(values), -np.inf, values), times))
    times, values = times[order], values[order]
    again = times[1:] == times[:-1]
    differ = again & (values[1:] != values[:-1]) & ~np.isnan(values[:-1])
    last = np.append(~again, True)
    return Samples(times[last], values[last], interval_s), int(np.unique(times[1:][differ]).size)


def _enter(connection: Connection, series: Series, counts: _Counts) -> None:
    given, twice, impossible = checked(series)
    counts.samples += int(np.size(series.value))
    counts.contradictions += twice
    counts.impossible += impossible
    if not len(given):
        return
    parts = dict(_by_day(given))
    kept = kept_days(connection, series, min(parts), max(parts))
    new, changed = [], []
    for day, part in parts.items():
        row_id, before = kept.get(day, (None, None))
        together, contradictions = (part, 0) if before is None else merge([before, part])
        counts.contradictions += contradictions
        counts.new += len(together) - (0 if before is None else len(before))
        if before is not None and _same(before, together):
            continue
        known = together.interval_s == together.interval_s
        row = {"interval_s": together.interval_s if known else None,
               "samples": encode(together.time_us, together.value)}
        if row_id is None:
            new.append(row | {"cluster": series.cluster, "entity": series.entity, "day": day,
                              "meter": series.meter, "kind": str(series.kind)})
        else:
            changed.append(row | {"row_id": row_id})
        counts.days.setdefault((series.cluster, series.entity), set()).add(day)
    if new:
        connection.execute(series_table.insert(), new)
    if changed:
        connection.execute(
            series_table.update().where(series_table.c.id == bindparam("row_id")), changed)


def checked(series: Series) -> tuple[Samples, int, int]:
    """Samples in order; how many instants came twice, and how many values cannot be."""
    times = np.asarray(series.time_s, dtype=np.float64)
    values = np.array(series.value, dtype=np.float64)
    where = f"the series of {series.entity}"
    for name in (series.cluster, series.entity, series.meter):
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(f"a name of a series has more than {LONGEST_NAME} characters, or one "
                             "that cannot be printed")
    if not series.entity:
        raise InputError("a series needs the name of the node, or of what else it is of")
    if times.shape != values.shape or times.ndim != 1:
        raise InputError(f"{where} needs as many times as values")
    if not ((times >= 0) & (times < LATEST_S)).all():
        raise InputError(f"{where} has times that are no Unix times in seconds")
    impossible = (values < 0) | np.isinf(values)
    values[impossible] = np.nan
    values += 0.0  # -0 is 0
    told_s = series.interval_s if series.interval_s > 0 else float("nan")
    found, twice = merge([Samples(np.rint(times * US).astype(np.int64), values, told_s)])
    return found, twice, int(impossible.sum())


def _by_day(samples: Samples) -> Iterator[tuple[int, Samples]]:
    day = samples.time_us // (DAY_S * US)
    bounds = np.flatnonzero(np.diff(day, prepend=-1))
    for begin, end in zip(bounds, np.append(bounds[1:], day.size), strict=True):
        yield int(day[begin]), Samples(samples.time_us[begin:end], samples.value[begin:end],
                                       samples.interval_s)


def kept_days(
    connection: Connection, series: Series, first_day: int, last_day: int,
    cluster: str | None = None,
) -> dict[int, tuple[int, Samples]]:
    """The rows of a series by day, in its own or in another cluster: their numbers and samples."""
    table = series_table.c
    rows = connection.execute(
        select(table.id, table.day, table.interval_s, table.samples).where(
            table.cluster == (series.cluster if cluster is None else cluster),
            table.entity == series.entity, table.meter == series.meter,
            table.kind == str(series.kind), table.day.between(first_day, last_day)))
    return {day: (row_id, Samples(*decode(packed), np.nan if told is None else float(told)))
            for row_id, day, told, packed in rows}


def _same(one: Samples, other: Samples) -> bool:
    return (np.array_equal(one.time_us, other.time_us)
            and np.array_equal(one.value, other.value, equal_nan=True)
            and np.array_equal([one.interval_s], [other.interval_s], equal_nan=True))
