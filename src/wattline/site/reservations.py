"""Reservations of nodes: the text of `scontrol show reservation`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import pairwise
from pathlib import Path

from wattline.model.errors import InputError
from wattline.site.lines import site_text
from wattline.site.moments import is_date, is_local, span_s

_NONE = ("", "(null)", "n/a")
_BESIDE = ("Groups", "Licenses", "BurstBuffer", "Watts", "MaxStartDelay")


@dataclass(frozen=True)
class Reservation:
    """Times as the text has them, in seconds of Unix time; None: it does not end."""

    name: str
    nodes: str
    """A host list, or ALL."""
    start_s: float
    end_s: float | None
    users: tuple[str, ...] = ()
    """With - before the name: may not use it."""
    accounts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    cores: bool = False
    """Of parts of nodes."""
    beside: tuple[str, ...] = ()
    """What else it says of who may use it or of what it keeps, as `Groups=wheel`."""
    where: str = ""
    local: bool = False
    """Whether its times are those of a clock without a zone."""
    by_calendar: bool = False
    """Whether a time of it is a date, and not plain seconds."""


def read_reservations(path: str | Path, zone: tzinfo = UTC) -> list[Reservation]:
    """Each record begins with `ReservationName=`, on one line or over several."""
    text = site_text(path)
    starts = [match.start() for match in re.finditer(r"(?m)^\s*ReservationName=", text)]
    if not starts and text.strip() and "No reservations" not in text:
        raise InputError(f"{path}: has no reservation; write it with scontrol show reservation")
    return [_record(text[start:end], f"{path}:{text.count(chr(10), 0, start) + 1}", zone)
            for start, end in pairwise([*starts, len(text)])]


def _record(text: str, where: str, zone: tzinfo) -> Reservation:
    cells = {key: "" if value.lower() in _NONE else value
             for key, value in re.findall(r"(\w+)=(\S*)", text)}
    start_s, end_s = span_s(cells.get("StartTime", ""), cells.get("EndTime", ""), where, zone)
    if start_s is None:
        raise InputError(f"{where}: reservation '{cells['ReservationName']}' has no StartTime")
    if end_s is not None and end_s < start_s:
        end_s = None  # how Slurm shows one without end
    times = [cells.get(key, "") for key in ("StartTime", "EndTime")]
    return Reservation(cells["ReservationName"], cells.get("Nodes", ""), start_s, end_s,
                       _list(cells, "Users"), _list(cells, "Accounts"), _list(cells, "Flags"),
                       "CoreIDs" in cells,
                       tuple(f"{key}={cells[key]}" for key in _BESIDE if cells.get(key)),
                       where, any(map(is_local, times)), any(map(is_date, times)))


def _list(cells: dict[str, str], key: str) -> tuple[str, ...]:
    return tuple(filter(None, cells.get(key, "").split(",")))
