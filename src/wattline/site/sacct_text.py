"""The lines of `sacct --parsable2` (or `-p`) as records: cells by column.

A user may put the separator, or the end of a line, into a job's name. A record with too many cells
is put together again in the one way in which its id, times and state make sense; one with too few
goes on in the next lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from wattline.model.errors import InputError
from wattline.model.states import STATES

SEPARATOR = "|"
NOT_ENDED = frozenset({"RUNNING", "SUSPENDED", "PENDING", "COMPLETING", "CONFIGURING", "RESIZING",
                       "SIGNALING", "STAGE_OUT", "STOPPED", "REQUEUE_HOLD", "REQUEUE_FED",
                       "SPECIAL_EXIT"})
STATE_WORDS = NOT_ENDED | set(STATES.values()) | {"LAUNCH_FAILED", "RECONFIG_FAIL"}
_FREE_TEXT = ("JobName", "Constraints", "Comment", "AdminComment", "SystemComment", "WorkDir",
              "SubmitLine", "Reason", "WCKey")
_EXTRA_BARS = 6
_MOST_LINES = 50
"""Of one record."""
_PATTERNS = {"JobID": r"[0-9]+([_+.].*)?", "JobIDRaw": r"[0-9]+([_+.].*)?", "ElapsedRaw": r"[0-9]*",
             "Submit": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T.*|[0-9]+|Unknown|", "UID": r"[0-9]*",
             "NNodes": r"[0-9]*", "Elapsed": r"[0-9:.-]*"}


@dataclass(frozen=True)
class Records:
    """What a dump holds: the line and the cells of each record, and the lines that are none."""

    rows: tuple[tuple[int, dict[str, str]], ...]
    unreadable: tuple[int, ...]
    last_line_ends: bool
    """Whether the last line has its end; without it the file may be cut off in its last cell."""


def read_records(text: str, source: str, columns: Sequence[str] = ()) -> Records:
    """All records of a dump; its first line names the columns unless they are given."""
    lines = text.split("\n")
    first = 0
    if not columns:
        columns, first = [name.strip() for name in lines[0].rstrip("\r").split(SEPARATOR)], 1
    found = list(_records(lines, first, columns))
    rows = tuple((number, row) for number, row in found if row is not None)
    unreadable = tuple(number for number, row in found if row is None)
    ends = text.endswith("\n")
    if unreadable and unreadable[-1] == len(lines) and not ends:
        raise InputError(f"{source}:{len(lines)}: the file is cut off: its last line has "
                         f"{lines[-1].count(SEPARATOR) + 1} of {len(columns)} cells")
    if len(unreadable) > len(rows):
        raise InputError(f"{source}:{unreadable[0]}: most lines do not have the {len(columns)} "
                         "cells of the first line")
    return Records(rows, unreadable, ends)


def _records(
    lines: Sequence[str], first: int, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str] | None]]:
    """Each record with its first line; None where none can be made of it."""
    begun: list[str] = []
    for number, raw in enumerate(lines[first:], first + 1):
        line = raw.rstrip("\r")
        if not begun and not line:
            continue
        row = as_row(columns, line.split(SEPARATOR))
        if row is not None:
            if begun:  # what had begun never ended
                yield number - len(begun), None
            yield number, row
            begun = []
            continue
        begun.append(line)
        cells = "\n".join(begun).split(SEPARATOR)
        if len(cells) >= len(columns) or len(begun) >= _MOST_LINES:
            yield number - len(begun) + 1, as_row(columns, cells)
            begun = []
    while begun and not begun[-1]:
        begun.pop()
    if begun:
        yield len(lines) if lines[-1] else len(lines) - 1, None


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
