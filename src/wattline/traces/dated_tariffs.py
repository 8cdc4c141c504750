"""A table of prices or intensities beside a log: where both have dates, by these.

One rule for everything that lays a table beside a log: budgets, accounts, advice and web pages.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.run_clock import NoDates, RunClock
from wattline.model.signal import Signal
from wattline.traces.rates import end_of, is_flat
from wattline.traces.tariffs import read_tariff

Read = Callable[..., Signal]
"""Reads a figure or a table; its option `unix` asks for Unix times."""


def tariff_beside(
    path: Path, log: RunClock, otherwise: str
) -> tuple[Signal, tuple[str, ...]]:
    """`rate_beside` for a table alone, of prices or of intensities, that `otherwise` moves."""
    return rate_beside(str(path), lambda _, **how: read_tariff(path, **how), log, otherwise)


def rate_beside(
    text: str, read: Read, log: RunClock, otherwise: str = ""
) -> tuple[Signal, tuple[str, ...]]:
    """A figure, or a table from the first submission on, and how the dates of both were joined.

    A table that has no time in common with the log begins with it, as prices of one year beside
    jobs of another; not where the clock of the log has dates itself, as that of a Slurm has.
    `otherwise` is the setting, if any, that names the first submission's date in the table.
    """
    moved = f"; {otherwise} says otherwise" if otherwise else ""
    try:
        dated = read(text, unix=True, zone=log.zone)
    except NoDates:
        if log.has_unix_clock:
            raise
        table = read(text)
        return table, () if is_flat(table) else (
            f"{text}: has no dates: its first row is taken for the first submission{moved}",)
    if is_flat(dated):
        return shifted(dated, -float(dated.time_s[0])), ()
    begin_s, end_s = float(dated.time_s[0]), end_of(dated)
    as_first = f"its first row ({_date(begin_s)}) is taken for the first submission{moved}"
    if log.epoch_s is None:
        return shifted(dated, -begin_s), (f"{text}: has dates and the log has none: {as_first}",)
    first_unix_s, last_unix_s = log.epoch_s + log.first_s, log.epoch_s + log.last_s
    said = f"the log ({_date(first_unix_s)} to {_date(last_unix_s)})"
    if end_s <= first_unix_s or begin_s > last_unix_s:
        if log.has_unix_clock:
            how = "ends before the first" if end_s <= first_unix_s else "begins after the last"
            raise InputError(f"{text}: {how} job of {said} is submitted; give another table"
                             + (f", or {otherwise}" if otherwise else ""))
        return shifted(dated, -begin_s), (f"{text}: has no time in common with {said}: {as_first}",)
    if begin_s > first_unix_s:
        told = (f", or give {otherwise}, the date in the table at which the first job is submitted"
                if otherwise else "")
        raise InputError(f"{text}: begins at {_date(begin_s)}, after the beginning of {said}; add "
                         f"what holds before{told}")
    return shifted(dated, -first_unix_s), (
        f"{text}: read by the dates of the log, as {log.zone} where they name no offset: the "
        f"first submission is at {_date(first_unix_s)}",)


def shifted(rate: Signal, by_s: float) -> Signal:
    """The same values so much later."""
    return Signal(rate.time_s + by_s, rate.value, rate.unit)


def _date(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")
