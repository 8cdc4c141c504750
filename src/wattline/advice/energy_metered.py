"""An energy budget beside what meters saw: the joules of a ledger, period by period."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wattline.account.measured.meters_seen import (
    Metered,
    last_metered_s,
    metered_by,
    metered_together,
    nodes_metered,
)
from wattline.account.measured.periods import between
from wattline.account.measured.questions import Conditions, totals
from wattline.account.store import Store
from wattline.advice.measured import check_clusters, open_ledger
from wattline.advice.meters import chosen_meters
from wattline.model.errors import InputError, warn
from wattline.model.local_time import Zone, zone_of
from wattline.model.shown import Shown
from wattline.model.units import parse_duration, parse_energy

if TYPE_CHECKING:
    import pandas as pd

MOST_PERIODS = 10_000
WHOLE = 0.99
"""Meters that have readings of less of a period are said."""


@dataclass(frozen=True)
class MeteredPeriod:
    """One period of a budget, and what meters saw in it."""

    period: int
    start_s: float
    end_s: float
    budget_j: float
    """With what earlier periods left, where that is carried on."""
    drawn_j: float
    seen: float
    """The share of the period that lies before the last reading."""

    @property
    def left_j(self) -> float:
        """Below 0 by what was drawn beyond the budget."""
        return self.budget_j - self.drawn_j

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "left_j": self.left_j}


@dataclass(frozen=True, eq=False, repr=False)
class MeteredBudget(Shown):
    """All periods from the first on, up to the last reading."""

    periods: tuple[MeteredPeriod, ...]
    zone: Zone
    source: str
    """Which meters: the nodes', those that were named, or none but the jobs' own joules."""
    remarks: tuple[str, ...] = ()

    @property
    def over(self) -> tuple[MeteredPeriod, ...]:
        return tuple(each for each in self.periods if each.left_j < 0)

    def to_dict(self) -> dict[str, Any]:
        return {"periods": [each.to_dict() for each in self.periods], "zone": self.zone.name,
                "source": self.source, "over": [each.period for each in self.over],
                "excess_j": -sum(each.left_j for each in self.over),
                "remarks": list(self.remarks)}

    def to_pandas(self) -> pd.DataFrame:
        """A row per period."""
        import pandas as pd

        return pd.DataFrame([each.to_dict() for each in self.periods])


def energy_metered(
    store: str | Path, *, energy: float | str, start: str, period: float | str = "7d",
    end: str = "", unspent: Literal["expire", "carry"] = "expire", meter: str = "",
    zone: str = "", clusters: Iterable[str] = (),
) -> MeteredBudget:
    """Hold a budget of joules per period against what the meters of a ledger saw.

    The first period begins at `start`, a date of `zone`; they follow each other up to `end` or to
    the last reading. `meter` names feeds that were imported; otherwise the nodes' meters are added
    up, and where nodes have none, the joules of jobs.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> hours = [f"2026-10-{5 + hour // 24:02}T{hour % 24:02}:00:00Z" for hour in range(36)]
    >>> rows = ["time,node,power_w", *(f"{time},n1,500" for time in hours)]
    >>> _ = (folder / "nodes.csv").write_text("\\n".join(rows))
    >>> _ = wl.account_import(folder / "nodes.csv", store=folder / "site.db", zone="UTC")
    >>> found = wl.energy_metered(folder / "site.db", energy="10kWh", period="1d",
    ...                           start="2026-10-05", zone="UTC")
    >>> [(each.drawn_j / 3.6e6, each.left_j / 3.6e6) for each in found.periods]
    [(12.0, -2.0), (6.0, 4.0)]
    """
    budget_j = parse_energy(energy) if isinstance(energy, str) else float(energy)
    length_s = parse_duration(period) if isinstance(period, str) else float(period)
    if not (budget_j > 0 and length_s >= 1):
        raise InputError("a budget needs joules above 0 and a period of 1 s at least")
    if unspent not in ("expire", "carry"):
        raise InputError(f"--unspent: '{unspent}' is unknown; write expire or carry")
    span = between(start, end, zone_of(zone))
    if span.start_s is None:
        raise InputError("--start is missing: the date at which the first period begins")
    with closing(open_ledger(store)) as opened:
        named = tuple(clusters)
        check_clusters(opened, named)
        last_s = last_metered_s(opened, named)
        until_s = span.end_s if span.end_s is not None else last_s
        if until_s is None or until_s <= span.start_s:
            raise InputError(f"{store}: no joules were measured after {start}")
        seen_s = until_s if last_s is None else min(until_s, last_s)
        drawn = _drawn(opened, list(_edges(span.start_s, until_s, length_s)), meter, named, seen_s)
    rows = tuple(_rows(drawn.joules, span.start_s, length_s, budget_j, seen_s, unspent))
    warn(drawn.remarks)
    return MeteredBudget(rows, span.zone, drawn.source, drawn.remarks)


@dataclass(frozen=True)
class _Drawn:
    joules: tuple[float, ...]
    source: str
    remarks: tuple[str, ...] = ()


def _edges(start_s: float, until_s: float, length_s: float) -> Iterator[tuple[float, float]]:
    count = -int(-(until_s - start_s) // length_s)
    if count > MOST_PERIODS:
        raise InputError(f"{count:,} periods are more than {MOST_PERIODS:,}; choose a longer one "
                         "or a later start")
    for place in range(count):
        yield start_s + place * length_s, start_s + (place + 1) * length_s


def _drawn(
    store: Store, edges: list[tuple[float, float]], meter: str, clusters: tuple[str, ...],
    last_s: float,
) -> _Drawn:
    whole = metered_by(
        store, Conditions(clusters=clusters, start_s=edges[0][0], end_s=edges[-1][1]))
    feeds = chosen_meters(meter, whole)
    seen = [metered_together(metered_by(store, asked), feeds)[bool(feeds)]
            for asked in _asked(edges, clusters)]
    if any(each is not None for each in seen):
        source = ", ".join(feeds) if feeds else "the nodes' meters"
        return _Drawn(tuple(0.0 if each is None else each.metered_j for each in seen), source,
                      _gaps(edges, seen, len(feeds or nodes_metered(whole)), last_s))
    joules = tuple(sum(total.energy_j for total in totals(store, "account", asked))
                   for asked in _asked(edges, clusters))
    return _Drawn(joules, "jobs", (
        "no meter of a node or feed lies in these periods: what jobs drew is counted, and not what "
        "nodes drew without one",))


def _gaps(
    edges: list[tuple[float, float]], seen: Sequence[Metered | None], meters: int, last_s: float
) -> tuple[str, ...]:
    """What to say of periods in which meters have no readings, for all or part of the time."""
    short = []
    for place, ((start_s, end_s), found) in enumerate(zip(edges, seen, strict=True), start=1):
        whole_s = meters * (min(end_s, last_s) - start_s)
        covered = 0.0 if found is None else found.covered_s
        if whole_s > 0 and covered < WHOLE * whole_s:
            short.append(f"{place} ({covered / whole_s:.0%})")
    return () if not short else (
        f"the meters have readings of less than {WHOLE:.0%} of the time in {len(short)} of "
        f"{len(edges)} periods, which may have drawn more than is told: "
        f"{', '.join(short[:5])}{' ...' if short[5:] else ''}",)


def _asked(edges: list[tuple[float, float]], clusters: tuple[str, ...]) -> Iterator[Conditions]:
    for start_s, end_s in edges:
        yield Conditions(clusters=clusters, start_s=start_s, end_s=end_s)


def _rows(
    joules: tuple[float, ...], start_s: float, length_s: float, budget_j: float, last_s: float,
    unspent: str,
) -> Iterator[MeteredPeriod]:
    saved_j = 0.0
    for place, drawn_j in enumerate(joules):
        begin_s = start_s + place * length_s
        seen = min(max((last_s - begin_s) / length_s, 0.0), 1.0)
        row = MeteredPeriod(place + 1, begin_s, begin_s + length_s, budget_j + saved_j, drawn_j,
                            seen)
        yield row
        saved_j = max(row.left_j, 0.0) if unspent == "carry" else 0.0
