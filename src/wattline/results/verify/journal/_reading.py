"""The lines of a journal, read by the description of its format alone (docs/books.md)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError

MARK, ENTRIES = "wattline journal", "entries"


@dataclass(frozen=True)
class Told:
    """An event by its kind in small letters, and its fields."""

    kind: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Order:
    """A decision: what is to be done, to which job, and the power that is expected of it."""

    kind: str
    job: str | None
    power_w: float
    control: Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One entry; `decided` is false where events were only applied."""

    line: int
    time_s: float
    events: tuple[Told, ...]
    orders: tuple[Order, ...]
    decided: bool
    policy: Mapping[str, Any] = field(default_factory=dict)
    licences: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Lines:
    """The head of a journal and its steps; what is wrong with its lines is known at their end."""

    head: Mapping[str, Any]
    steps: list[Step]
    damaged: list[int]
    is_complete: bool


def is_journal(path: Path | str) -> bool:
    """True for a file that begins as a journal does."""
    try:
        with Path(path).open("rb") as file:
            return f'"{MARK}"'.encode() in file.read(200)
    except OSError:
        return False


def read(path: Path | str) -> Lines:
    """A journal, however it ends; a file that is none is an InputError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the journal {path}: {error}") from error
    values = list(_values(text, path))
    if not values or not isinstance(values[0][1], dict) or MARK not in values[0][1]:
        raise InputError(f"{path} is no journal of wattline's")
    damaged = [number for number, _, fits in values if not fits]
    body = values[1:]
    end = body[-1][1] if body and isinstance(body[-1][1], dict) else None
    is_complete = end is not None and end.get(ENTRIES) == len(body) - 1
    steps = [_step(number, value, path) for number, value, _ in body if isinstance(value, list)]
    return Lines(values[0][1], steps, damaged, is_complete)


def _values(text: str, path: Path | str) -> Iterator[tuple[int, Any, bool]]:
    """Number, value and whether the checksum of all lines up to there fits."""
    summed = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if not line.endswith("\n"):
            yield number, None, False  # its writer was interrupted
            return
        said, _, body = line.rstrip("\n").partition(" ")
        try:
            value, stated = json.loads(body), int(said, 16)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: this is no line of a journal") from error
        yield number, value, stated == zlib.crc32(body.encode(), summed)
        summed = stated


def _step(line: int, value: list[Any], path: Path | str) -> Step:
    try:
        time_s = float(value[0])
        if isinstance(value[1], dict) and "licences" in value[1]:
            licences = dict(value[1]["licences"])
            licences["held"] = {str(job): int(count) for job, count in licences["held"].items()}
            return Step(line, time_s, (), (), False, licences=licences)
        if isinstance(value[1], dict):
            return Step(line, time_s, (), (), False, value[1]["policy"])
        events = tuple(Told(str(kind), dict(given)) for kind, given in value[1])
        decided = value[2] if len(value) > 2 else None
        orders = tuple(Order(str(kind), None if job is None else str(job), float(power_w), control)
                       for kind, job, _, power_w, control in decided or ())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}, line {line}: this is no step of a journal") from error
    return Step(line, time_s, events, orders, decided is not None)
