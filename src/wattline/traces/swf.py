"""Reading the Standard Workload Format: 18 fields a line, header directives in comments.

Fields beyond the 18th are tolerated. Two paths read the lines: a compiled one for large files,
and a plain one for small files and for the lines that the compiled one does not understand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.traces.frequencies import COLUMNS as FREQUENCIES
from wattline.traces.raw import NODE_RANGE, RawJobs, no_code, refuse_negative_power, unknown

FIELDS = 18
LARGE = 200_000
"""Bytes from which on it pays to load the compiled parser."""

EXTRA_FIELDS = "ExtraFields"
"""Our own directive: names the fields after the 18th, so that power survives a conversion."""

NAME_DIRECTIVES = {"User": "user", "Group": "group", "Queue": "queue", "Partition": "partition",
                   "Application": "application"}
"""Directives of the form `; Queue: 3 night` give the name of a code."""

MAX_CODE = 1_000_000
_WHOLE = [0, 4, 7, 10, 11, 12, 13, 14, 15, 16]
"""Fields that are whole numbers: ids, sizes, codes."""
_TOO_LARGE = float(2**53)
_LOGGED = {"wait_s": 3, "allocated_procs": 5, "cpu_s": 6, "memory_kb": 7, "requested_memory_kb": 10}
"""Fields that a simulation does not need and a conversion keeps."""


@dataclass(frozen=True)
class Header:
    """The directives of an SWF file."""

    values: dict[str, str]
    names: dict[str, tuple[str, ...]]
    extra: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lines:
    """The numbers of the readable lines, `values[field, row]`, and where they stand."""

    values: npt.NDArray[np.float64]
    line: IntArray
    unreadable: tuple[int, ...]


def parse(data: bytes, source: str, *, compiled: bool | None = None) -> RawJobs:
    """Read SWF text; `compiled` forces one of the two paths, which give the same."""
    header = parse_header(data)
    width = FIELDS + len(header.extra)
    if compiled is None:
        from wattline.model.kernel import PLAIN

        compiled = len(data) >= LARGE and not PLAIN
    lines = _drop_fractions(_fast(data, width) if compiled else _slow(data, width))
    _check(data, lines, source)
    return _raw(lines, header, source)


def parse_header(data: bytes) -> Header:
    """The comments before the first job line."""
    values: dict[str, str] = {}
    names: dict[str, dict[int, str]] = {}
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        text = data[at:end].decode("utf-8", "replace").strip()
        at = end + 1
        if not text:
            continue
        if not text.startswith(";"):
            break
        key, colon, value = text.lstrip("; \t").partition(":")
        key, value = key.strip(), value.strip()
        if not colon or not key or " " in key:
            continue
        if not _take_name(key, value, names):
            values[key] = f"{values[key]}\n{value}" if key in values else value
    extra = tuple(values.pop(EXTRA_FIELDS, "").split())
    return Header(values, {c: _name_tuple(found) for c, found in names.items()}, extra)


def _take_name(key: str, value: str, names: dict[str, dict[int, str]]) -> bool:
    column = NAME_DIRECTIVES.get(key)
    code, _, name = value.replace("\t", " ").partition(" ")
    if column is None or not (code.isascii() and code.isdigit() and len(code) < 8):
        return False
    if int(code) > MAX_CODE:
        return False
    name = name.strip()
    if name.startswith('"'):
        try:
            decoded = json.loads(name)
        except ValueError:
            decoded = name
        name = decoded if isinstance(decoded, str) else name
    names.setdefault(column, {})[int(code)] = name
    return True


def _name_tuple(found: dict[int, str]) -> tuple[str, ...]:
    return tuple(found.get(code, str(code)) for code in range(max(found) + 1))


def _fast(data: bytes, width: int) -> Lines:
    from wattline.traces.swf_kernel import parse_lines

    text = np.frombuffer(data, dtype=np.uint8)
    room = data.count(b"\n") + 1
    values = np.empty((width, room))
    line, offset = np.zeros((2, room), dtype=np.int64)
    good = np.zeros(room, dtype=np.bool_)
    rows = parse_lines(text, values, line, offset, good)
    unreadable = []
    for row in np.flatnonzero(~good[:rows]):
        end = data.find(b"\n", offset[row])
        numbers = parse_line(data[offset[row] : end if end >= 0 else len(data)], width)
        if numbers is None:
            unreadable.append(int(line[row]))
        else:
            values[:, row] = numbers
            good[row] = True
    if unreadable:
        return Lines(values[:, :rows][:, good[:rows]], line[:rows][good[:rows]], tuple(unreadable))
    return Lines(values[:, :rows], line[:rows], ())


def _slow(data: bytes, width: int) -> Lines:
    found: list[list[float]] = []
    line: list[int] = []
    unreadable: list[int] = []
    for number, whole_line in enumerate(data.split(b"\n"), start=1):
        text = whole_line.strip()
        if not text or text.startswith(b";"):
            continue
        numbers = parse_line(text, width)
        if numbers is None:
            unreadable.append(number)
        else:
            found.append(numbers)
            line.append(number)
    values = np.array(found, dtype=np.float64).reshape(-1, width).T
    return Lines(np.ascontiguousarray(values), np.array(line, dtype=np.int64), tuple(unreadable))


def parse_line(text: bytes, width: int = FIELDS) -> list[float] | None:
    """The numbers of one line, or None where it is not a job record."""
    words = text.split(None, width)[:width]
    if len(words) < width:
        return None
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return None
    if b"_" in b"".join(words) or not all(abs(n) < _TOO_LARGE for n in numbers):
        return None
    return numbers


def _drop_fractions(lines: Lines) -> Lines:
    """A line with a fraction where only a whole number makes sense is not a job record."""
    bad = np.zeros(lines.line.size, dtype=np.bool_)
    for field in _WHOLE:
        column = lines.values[field]
        bad |= column != np.floor(column)
    if not bad.any():
        return lines
    unreadable = sorted([*lines.unreadable, *lines.line[bad].tolist()])
    return Lines(lines.values[:, ~bad], lines.line[~bad], tuple(unreadable))


def _check(data: bytes, lines: Lines, source: str) -> None:
    """Refuse what is cut off, and what is no SWF at all."""
    last = data.count(b"\n") + 1
    if lines.unreadable and lines.unreadable[-1] == last and lines.line.size:
        fields = len(data.rsplit(b"\n", 1)[-1].split())
        if fields < FIELDS:
            raise InputError(f"{source}:{last}: the file is cut off: its last line has {fields} "
                             f"of {FIELDS} fields and no end")
    if not lines.line.size and not lines.unreadable:
        raise InputError(f"{source}: has no job lines, only comments")
    if len(lines.unreadable) > lines.line.size:
        raise InputError(f"{source}:{lines.unreadable[0]}: is not SWF: most lines are not "
                         f"{FIELDS} numbers")


def _raw(lines: Lines, header: Header, source: str) -> RawJobs:
    values = lines.values
    count = lines.line.size

    def optional(field: int) -> FloatArray:
        column = values[field - 1]
        return np.where(column < 0, np.nan, column)

    def whole(field: int) -> IntArray:
        numbers: IntArray = values[field - 1].astype(np.int64)
        return numbers

    power_w = unknown(count)
    extra = {name: FIELDS + 1 + place for place, name in enumerate(header.extra)}
    field = extra.pop("power_w", 0)
    status = whole(extra.get("status", 11))
    restart = whole(extra["restart"]) if "restart" in extra else None
    extra = {name: place for name, place in extra.items() if name in (*FREQUENCIES, *NODE_RANGE)}
    if field:
        refuse_negative_power(values[field - 1], lines.line, source)
        power_w = optional(field)
    return RawJobs(
        line=lines.line,
        job_id=whole(1),
        submit_s=optional(2),
        run_s=optional(4),
        requested_s=optional(9),
        requested_procs=optional(8),
        allocated_procs=optional(5),
        power_w=power_w,
        codes={"user": whole(12), "group": whole(13), "queue": whole(15), "partition": whole(16),
               "application": whole(14), "status": status},
        preceding=np.maximum(whole(17), no_code(count)),
        think_s=optional(18),
        names=header.names,
        header=header.values,
        logged={name: optional(field) for name, field in {**_LOGGED, **extra}.items()
                if (values[field - 1] >= 0).any()},
        restart=restart,
        unreadable=lines.unreadable,
    )
