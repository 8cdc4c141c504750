"""A table of prices or intensities beside a log: where both have dates, by these."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.traces.tariffs import NoDates, read_tariff

SAY_OTHERWISE = "say otherwise with policy.power.start"


def tariff_beside(
    path: Path, first_unix_s: float | None, last_unix_s: float | None
) -> tuple[Signal, tuple[str, ...]]:
    """The table from the first submission on, and how the dates of both were put together.

    The log's first and last submission are Unix times, None where it has no date. A table that has
    no time in common with the log begins with it, as prices of one year beside jobs of another.
    """
    try:
        dated = read_tariff(path, unix=True)
    except NoDates:
        return read_tariff(path), ()
    begin_s, end_s = float(dated.time_s[0]), float(dated.time_s[-1])
    if first_unix_s is None or last_unix_s is None:
        return _from(dated, begin_s), (
            f"{path}: has dates and the log has none: its first row ({_date(begin_s)}) is taken "
            f"for the first submission; {SAY_OTHERWISE}",)
    log = f"the log ({_date(first_unix_s)} to {_date(last_unix_s)})"
    if end_s < first_unix_s or begin_s > last_unix_s:
        return _from(dated, begin_s), (
            f"{path}: has no time in common with {log}: its first row ({_date(begin_s)}) is taken "
            f"for the first submission; {SAY_OTHERWISE}",)
    if begin_s > first_unix_s:
        raise InputError(f"{path}: begins at {_date(begin_s)}, after the beginning of {log}; add "
                         "what holds before, or give policy.power.start, the date in the table "
                         "at which the first job is submitted")
    return _from(dated, first_unix_s), (
        f"{path}: read by the dates of the log, as UTC where they name no offset: the first "
        f"submission is at {_date(first_unix_s)}",)


def _from(dated: Signal, unix_s: float) -> Signal:
    return Signal(dated.time_s - unix_s, dated.value, dated.unit)


def _date(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")
