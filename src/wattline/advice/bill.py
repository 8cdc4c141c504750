"""The bill of a period: joules, money and carbon by account, and what closes it to the meter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.measured.doubts import apart_said, suspects_said
from wattline.account.measured.entities import is_above
from wattline.account.measured.meters_seen import Metered, metered_by, metered_together
from wattline.account.measured.periods import Period, period_of
from wattline.account.measured.quarters import HOUR_S, even_said
from wattline.account.measured.questions import (
    Conditions,
    Total,
    contradicted,
    crossing,
    spread,
    totals,
    unseen,
)
from wattline.account.measured.remarking import (
    filled_by_mean,
    set_aside,
    suspect_j_by,
    too_much,
    too_much_said,
)
from wattline.account.measured.seen_time import NEARLY, seen_shares
from wattline.account.measured.seen_time import said as short_said
from wattline.account.store import Store
from wattline.advice.measured import check_clusters, evenness, open_ledger
from wattline.advice.meters import chosen_meters, refuse_nested, unknown_order
from wattline.model.errors import InputError, warn
from wattline.model.local_time import zone_of
from wattline.model.shown import Shown
from wattline.model.signal import Signal

if TYPE_CHECKING:
    import pandas as pd

    from wattline.model.views.view import MachineView


@dataclass(frozen=True, eq=False, repr=False)
class Bill(Shown):
    """What accounts owe for a period, and where all joules of the meter went.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|Account|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|phys|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> told = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> bill = wl.account_bill(folder / "site.db", "2026-10", zone="UTC")
    >>> bill.accounts[0]["account"], bill.jobs_j
    ('phys', 720000.0)
    """

    period: Period
    accounts: tuple[dict[str, Any], ...]
    """Account, jobs, joules, its part of the idle joules, money and grams where rates are given."""
    jobs_j: float
    idle_j: float | None
    """What nodes drew while no job held them; None where no node was metered."""
    overhead_j: float
    """What the building needs on top, by the PUE that was given."""
    unattributed_j: float | None
    metered_j: float | None
    residual: float | None
    """The share of the meter that no line explains; below 0 where the lines have more."""
    meter: str
    currency: str | None
    money: float | None
    carbon_g: float | None
    coverage: float | None
    views: tuple[dict[str, Any], ...] = ()
    """Per meter above nodes what it saw, and what was assigned to the nodes beneath it."""
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        found = {name: value for name, value in vars(self).items() if name != "period"}
        return {**found, "accounts": list(self.accounts), "views": list(self.views),
                "remarks": list(self.remarks),
                "start_s": self.period.start_s, "end_s": self.period.end_s,
                "zone": self.period.zone.name}

    def to_pandas(self) -> pd.DataFrame:
        """A row per account."""
        import pandas as pd

        return pd.DataFrame(list(self.accounts))


def account_bill(
    store: str | Path, period: str, *, price: float | str | None = None,
    carbon: float | str | None = None, pue: float = 1.0, zone: str = "", meter: str = "",
    views: str | Path | None = None, clusters: Iterable[str] = (),
) -> Bill:
    """Say what each account owes for a period: joules, money, carbon; and close it to the meter.

    The period (`2026-10`, `2026-Q4`, `2026-10-05..2026-10-11`) is of `zone`; jobs that cross its
    ends are cut. `price` and `carbon` are one figure per kWh or a table with dates; `pue` adds what
    the building needs per joule. `meter` names the feeds that were imported (`feed:A,feed:B`), else
    the nodes' meters are added up. With `views`, a file of views, each meter above nodes stands
    beside what was assigned beneath it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|Account|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|phys|COMPLETED|2026-10-31T23:00:00|2026-11-01T01:00:00|1|n1|energy=7200000\\n")
    >>> _ = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> bill = wl.account_bill(folder / "site.db", "2026-10", price="0.30EUR", zone="UTC")
    >>> bill.accounts[0]["account"], bill.jobs_j, round(bill.money, 3)
    ('phys', 3600000.0, 0.3)
    """
    if not pue >= 1:
        raise InputError(f"--pue: {pue:g} is below 1; a building needs at least what its machines "
                         "draw")
    found = period_of(period, zone_of(zone))
    asked = Conditions(clusters=tuple(clusters), start_s=found.start_s, end_s=found.end_s)
    rates, notes = _rates(price, carbon, found)
    with closing(open_ledger(store)) as opened:
        check_clusters(opened, asked.clusters)
        owed = totals(opened, "account", asked)
        seen = metered_by(opened, asked)
        feeds = chosen_meters(meter, seen)
        trees = _trees(views)
        refuse_nested(feeds, trees)
        nodes, feed = metered_together(seen, feeds)
        above = [name for name in seen if is_above(name)] if trees else feeds
        shares = seen_shares(opened, asked, above) if above else {}
        notes += [*_left_out(seen, feeds, views), "" if trees else unknown_order(feeds),
                  *short_said(shares), *_doubts(opened, asked)]
        told = unseen(opened, asked) if nodes or feed else 0
        notes += [f"jobs whose joules Slurm tells and no meter of their nodes: {told}; the meter "
                  "may not see them, and what it sees of them is in the residual"] if told else []
        notes += [set_aside(opened, asked).said()] if told else []
        notes.append(filled_by_mean(opened, asked))
        rows, said = _beneath(opened, asked, views, trees, seen, shares)
        sums = {name: _by_account(opened, rate, asked, owed) for name, rate in rates.items()}
        cuts = [asked.start_s, asked.end_s, *(at for rate in rates.values()
                                              for at in rate.time_s[1:].tolist())]
        notes = [evenness(crossing(opened, asked)), even_said(cuts), *notes, *said]
    bill = replace(_closed(found, owed, nodes, feed, pue, ", ".join(feeds), sums, rates, notes),
                   views=tuple(rows))
    if any(shares.get(name, 1.0) < NEARLY for name in feeds):
        bill = replace(bill, residual=None)
    warn(bill.remarks)
    return bill


def _trees(views: str | Path | None) -> list[MachineView]:
    if views is None:
        return []
    from wattline.model.views.build import read_views  # it loads the compiler

    return list(read_views(Path(views)).values())


def _beneath(
    store: Store, asked: Conditions, views: str | Path | None, trees: list[MachineView],
    seen: Mapping[str, Metered], shares: Mapping[str, float],
) -> tuple[list[dict[str, Any]], list[str]]:
    if views is None:
        return [], []
    from wattline.advice.view_closure import view_closure  # views load the compiler

    jobs_j = {total.name: total.energy_j for total in totals(store, "node", asked)}
    return view_closure(views, trees, seen, jobs_j, shares)


def _doubts(store: Store, asked: Conditions) -> list[str]:
    """On joules that cannot be, jobs whose meters and Slurm disagree, readings like faults."""
    apart = contradicted(store, asked)
    suspect_j = suspect_j_by(store, asked)
    return [*too_much_said(too_much(store, asked)), *([apart_said(apart)] if apart else []),
            *([suspects_said(suspect_j)] if suspect_j else [])]


def _left_out(
    seen: Mapping[str, Metered], feeds: Iterable[str], views: str | Path | None
) -> list[str]:
    names = [name for name in seen if is_above(name) and name not in set(feeds)]
    if not names or views is not None:
        return []
    return [f"meters above nodes that are not in this bill: {', '.join(names[:3])}"
            + (f" and {len(names) - 3} more" if names[3:] else "")
            + "; --meter NAME closes it to them, --views FILE shows them beside what lies beneath"]


def _rates(
    price: float | str | None, carbon: float | str | None, period: Period
) -> tuple[dict[str, Signal], list[str]]:
    """What a joule costs and weighs over time, and what to say of tables."""
    from wattline.model.run_clock import NoDates
    from wattline.traces.rates import carbon_from, end_note, is_flat, price_from

    rates: dict[str, Signal] = {}
    notes = []
    for name, given, read in (("money", price, price_from), ("carbon_g", carbon, carbon_from)):
        if given is None:
            continue
        try:
            rate = rates[name] = read(str(given), unix=True, zone=period.zone.info)
        except NoDates:
            raise InputError(f"{given}: its times are no dates, which a bill needs") from None
        if is_flat(rate):
            continue
        assert period.start_s is not None
        assert period.end_s is not None
        last_s = float(2 * rate.time_s[-1] - rate.time_s[-2])
        if period.start_s >= last_s or period.end_s <= rate.time_s[0]:
            raise InputError(f"{given}: has nothing of this period; give a table with its dates")
        if period.start_s < rate.time_s[0]:
            notes.append(f"{given} begins after the period; its first value stands for what is "
                         "before it")
        if end_note(str(given), rate, period.end_s):
            notes.append(f"{given} ends before the period; its last value stands for the rest")
    return rates, notes


def _by_account(
    store: Store, rate: Signal, asked: Conditions, owed: list[Total]
) -> Mapping[str, float]:
    """The sum of joules times rate; power is even within a row."""
    import numpy as np

    if len(rate.value) == 1:
        per_j = float(rate.value[0])
        return {total.name: total.energy_j * per_j for total in owed}
    even = bool((rate.time_s % HOUR_S == 0).all())
    rows = spread(store, "account", asked, even_in_hours=even)
    if not rows.names:
        return {}
    first, last = rows.start_s, rows.end_s
    length = last - first
    whole = rate.accumulated(last) - rate.accumulated(first)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(length > 0, whole / length, rate.sample(first))
    names, place = np.unique(rows.names, return_inverse=True)
    return dict(zip(names.tolist(), np.bincount(place, rows.energy_j * mean).tolist(),
                    strict=True))


def _closed(
    period: Period, owed: list[Total], nodes: Metered | None, feed: Metered | None, pue: float,
    meter: str, sums: Mapping[str, Mapping[str, float]], rates: Mapping[str, Signal],
    notes: list[str],
) -> Bill:
    from wattline.traces.tariffs import currency_of

    jobs_j = sum(total.energy_j for total in owed)
    idle_j = nodes.idle_j if nodes else None
    unattributed_j = nodes.unattributed_j if nodes else None
    machines_j = jobs_j + (idle_j or 0.0) + (unattributed_j or 0.0)
    overhead_j = (pue - 1) * machines_j
    seen = feed or nodes
    # A feed sees the overhead too; the nodes' own meters do not.
    lines_j = machines_j + (overhead_j if feed else 0.0)
    residual = (seen.metered_j - lines_j) / seen.metered_j if seen and seen.metered_j else None
    node_s = sum(total.node_s for total in owed)
    rows = tuple(_account_row(total, jobs_j, idle_j, pue, sums) for total in owed)
    return Bill(
        period=period, accounts=rows, jobs_j=jobs_j, idle_j=idle_j, overhead_j=overhead_j,
        unattributed_j=unattributed_j, metered_j=seen.metered_j if seen else None,
        residual=residual, meter=meter or ("the nodes' meters" if nodes else ""),
        currency=currency_of(rates.get("money")),
        money=sum(row["money"] for row in rows) if "money" in sums else None,
        carbon_g=sum(row["carbon_g"] for row in rows) if "carbon_g" in sums else None,
        coverage=sum(total.covered_s for total in owed) / node_s if node_s else None,
        remarks=tuple(line for line in _remarks(owed, nodes, feed, pue, sums, period, notes)
                      if line))


def _account_row(
    total: Total, jobs_j: float, idle_j: float | None, pue: float,
    sums: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    share = total.energy_j / jobs_j if jobs_j else 0.0
    row = {"account": total.name, "jobs": total.jobs, "energy_j": total.energy_j,
           "coverage": total.coverage, "without_joules": total.without_joules,
           "held_idle_j": total.idle_j, "idle_share": share,
           "idle_share_j": None if idle_j is None else share * idle_j}
    return row | {name: pue * amounts.get(total.name, 0.0) for name, amounts in sums.items()}


def _remarks(
    owed: list[Total], nodes: Metered | None, feed: Metered | None, pue: float,
    sums: Mapping[str, Mapping[str, float]], period: Period, notes: list[str],
) -> list[str]:
    without = sum(total.without_joules for total in owed)
    return [
        period.zone.note() if not period.zone.asked_for else "",
        f"jobs without joules: {without}; they owe nothing here" if without else "",
        "" if nodes or feed else "nothing was metered in this period: these are Slurm's figures "
        "alone, and idle joules are not known",
        "no node was metered in this period: idle joules are not known" if feed and not nodes
        else "",
        "the overhead of --pue is computed; no meter saw it" if pue > 1 and not feed else "",
        "money and carbon are those of the jobs' joules" + (
            ", each with the overhead of --pue" if pue > 1 else "")
        + "; what nodes drew without a job is charged to nobody" if sums else "",
        *notes,
    ]
