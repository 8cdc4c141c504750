"""The lines of `sacct --parsable2` (or `-p`) as records: cells by column.

A user may put the separator, or the end of a line, into a job's name. A record with too many cells
is put together again in the one way in which its id, times and state make sense; one with too few
goes on in the next lines. A whole record between the lines of another one is part of that one's
name, and counts for nothing: whoever may name a job could write one of somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations_with_replacement

from wattline.model.errors import InputError
from wattline.model.states import STATES

SEPARATOR = "|"
FIELDS = (
    "JobID", "JobIDRaw", "JobName", "Cluster", "User", "Account", "Partition", "QOS", "Submit",
    "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "Timelimit", "ReqCPUS", "ReqMem",
    "ReqTRES", "AllocTRES", "AllocCPUS", "NNodes", "NodeList", "Constraints", "State",
    "ConsumedEnergyRaw", "TotalCPU", "AveCPUFreq", "ReqCPUFreqMin", "ReqCPUFreqMax", "Reservation",
    "SubmitLine")
"""All that is read of a dump by any command, for `sacct --format`."""
COMMAND = f"sacct -a -D -P -S 2025-03-01 -E 2025-04-01 --format={','.join(FIELDS)}"
"""Without -S and -E sacct prints the jobs of today alone."""
NOT_ENDED = frozenset({"RUNNING", "SUSPENDED", "PENDING", "COMPLETING", "CONFIGURING", "RESIZING",
                       "EXPEDITING", "SIGNALING", "STAGE_OUT", "STOPPED", "REQUEUE_HOLD",
                       "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
STATE_WORDS = NOT_ENDED | set(STATES.values()) | {"LAUNCH_FAILED", "RECONFIG_FAIL"}
_FREE_TEXT = ("JobName", "Constraints", "Comment", "AdminComment", "SystemComment", "WorkDir",
              "SubmitLine", "Reason", "WCKey")
_EXTRA_BARS = 6
_MOST_LINES = 50
"""Of one record."""
_PATTERNS = {"JobID": r"[0-9]+([_+.].*)?", "JobIDRaw": r"[0-9]+([_+.].*)?", "ElapsedRaw": r"[0-9]*",
             "Submit": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T.*|[0-9]+|Unknown|", "UID": r"[0-9]*",
             "NNodes": r"[0-9.]*[KMG]?", "Elapsed": r"[0-9:.-]*"}


@dataclass(frozen=True)
class Records:
    """What a dump holds: the line and the cells of each record, and the lines that are none."""

    rows: tuple[tuple[int, dict[str, str]], ...]
    unreadable: tuple[int, ...]
    last_line_ends: bool
    """Whether the last line has its end; without it the file may be cut off in its last cell."""
    inside: tuple[int, ...] = ()
    """Lines that are whole records inside the name of another one, which are not among the rows."""
    doubtful: tuple[int, ...] = ()
    """Lines of rows that stand after a record that never ended: they may be inside it."""


def read_records(text: str, source: str, columns: Sequence[str] = ()) -> Records:
    """All records of a dump; its first line names the columns unless they are given."""
    lines = text.split("\n")
    first = 0
    if not columns:
        columns, first = [name.strip() for name in lines[0].rstrip("\r").split(SEPARATOR)], 1
    found = sorted(_records(lines, first, columns), key=lambda record: record[0])
    rows = tuple((number, row) for number, row, where in found
                 if row is not None and where is not Standing.INSIDE)
    unreadable = tuple(number for number, row, _ in found if row is None)
    inside, doubtful = (tuple(number for number, _, where in found if where is wanted)
                        for wanted in (Standing.INSIDE, Standing.DOUBTFUL))
    ends = text.endswith("\n")
    if unreadable and unreadable[-1] == len(lines) and not ends:
        raise InputError(f"{source}:{len(lines)}: the file is cut off: its last line has "
                         f"{lines[-1].count(SEPARATOR) + 1} of {len(columns)} cells")
    if len(unreadable) > len(rows):
        raise InputError(f"{source}:{unreadable[0]}: most lines do not have the {len(columns)} "
                         "cells of the first line")
    return Records(rows, unreadable, ends, inside, doubtful)


class Standing(Enum):
    """Where a whole record stands."""

    ALONE = "alone"
    INSIDE = "inside"
    """Between the lines of another one, which is whole without it: its name has an end of line,
    and a record that its user wrote."""
    DOUBTFUL = "doubtful"
    """After a record that had begun and never ended."""


_Record = tuple[int, dict[str, str] | None, Standing]


@dataclass
class _Begun:
    """A record that has begun and not ended: its lines, and whole records between them."""

    columns: Sequence[str]
    first: int = 0
    """The number of its first line."""
    lines: list[str] = field(default_factory=list)
    inside: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    since: list[tuple[int, str]] = field(default_factory=list)
    """Its lines after the last of these."""

    def add(self, number: int, line: str) -> Iterator[_Record]:
        self.first = self.first if self.lines else number
        self.lines.append(line)
        self.since.append((number, line))
        row, full = self._joined(self.lines)
        if row is not None:
            yield self.first, row, Standing.ALONE
            yield from ((at, each, Standing.INSIDE) for at, each in self.inside)
            self._clear()
        elif full and self.inside:
            yield from self.give_up()
        elif full:
            yield self.first, None, Standing.ALONE
            self._clear()

    def between(self, number: int, row: dict[str, str]) -> Iterator[_Record]:
        self.inside.append((number, row))
        self.since = []
        if len(self.lines) + len(self.inside) >= _MOST_LINES:
            yield from self.give_up()

    def give_up(self) -> Iterator[_Record]:
        """It never ends; what came after the last whole record may begin another one."""
        yield self.first, None, Standing.ALONE
        yield from ((at, each, Standing.DOUBTFUL) for at, each in self.inside)
        rest = self.since if self.inside else []
        self._clear()
        for number, line in rest:
            yield from self.add(number, line)

    def _joined(self, lines: Sequence[str]) -> tuple[dict[str, str] | None, bool]:
        """The record of these lines where they make one, and whether they cannot any more."""
        cells = "\n".join(lines).split(SEPARATOR)
        full = len(cells) >= len(self.columns) or len(lines) >= _MOST_LINES
        return (as_row(self.columns, cells) if full else None), full

    def _clear(self) -> None:
        self.first, self.lines, self.inside, self.since = 0, [], [], []


def _records(lines: Sequence[str], first: int, columns: Sequence[str]) -> Iterator[_Record]:
    """Each record with its first line; None where none can be made of it."""
    begun = _Begun(columns)
    for number, raw in enumerate(lines[first:], first + 1):
        line = raw.rstrip("\r")
        if not begun.lines and not line:
            continue
        row = as_row(columns, line.split(SEPARATOR))
        if row is None:
            yield from begun.add(number, line)
        elif begun.lines:
            yield from begun.between(number, row)
        else:
            yield number, row, Standing.ALONE
    if any(line for _, line in begun.since):  # the file ends in it
        yield len(lines) if lines[-1] else len(lines) - 1, None, Standing.ALONE
    if begun.inside:
        begun.since = []
        yield from begun.give_up()


def as_row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str] | None:
    """The cells by column; None where they cannot be those of a record."""
    extra = len(cells) - len(columns)
    if extra == 0 or (extra == 1 and cells[-1] == "" and columns[-1] != ""):
        row = dict(zip(columns, cells, strict=False))
        whole = not extra and not any("\n" in cell for cell in cells)
        return row if whole or makes_sense(row) else None
    free = [columns.index(name) for name in _FREE_TEXT if name in columns]
    if not 0 < extra <= _EXTRA_BARS or not free:
        return None
    for chosen in combinations_with_replacement(free, extra):
        merged, at = [], 0
        for column in range(len(columns)):
            width = 1 + chosen.count(column)
            merged.append(SEPARATOR.join(cells[at : at + width]))
            at += width
        row = dict(zip(columns, merged, strict=True))
        if makes_sense(row):
            return row
    return None


def makes_sense(row: Mapping[str, str]) -> bool:
    """Whether id, times and state look like such."""
    words = row.get("State", "PENDING").split()
    return bool(words) and words[0].rstrip("+").upper() in STATE_WORDS and all(
        re.fullmatch(pattern, row[column]) for column, pattern in _PATTERNS.items()
        if column in row
    )
