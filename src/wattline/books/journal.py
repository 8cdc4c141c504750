"""The journal: what happened to a machine and what was decided, line by line.

A file of lines, each with a checksum before a JSON value: a head that says what the books began
with, then one entry per step. It is only ever written at its end. Replaying its events gives its
decisions again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wattline.books.decision import Decision
from wattline.books.event_codes import (
    decision_from,
    decision_values,
    event_from,
    event_values,
)
from wattline.books.events import Event
from wattline.model.errors import InputError

MARK = "wattline journal"
VERSION = 1


@dataclass(frozen=True)
class Entry:
    """One step: its time, its events, and what was decided; without a decision, only applied."""

    time_s: float
    events: tuple[Event, ...]
    decisions: tuple[Decision, ...] | None
    policy: dict[str, Any] = field(default_factory=dict)
    """Where another policy decides from here on: its scenario."""


def head_line(about: dict[str, Any]) -> str:
    """The first line: what the books began with."""
    return _line({MARK: VERSION, **about})


def entry_line(
    time_s: float, events: Iterable[Event], decisions: Sequence[Decision] | None
) -> str:
    """A step as a line."""
    value: list[Any] = [time_s, [event_values(event) for event in events]]
    if decisions is not None:
        value.append([decision_values(decision) for decision in decisions])
    return _line(value)


def policy_line(time_s: float, scenario: dict[str, Any]) -> str:
    """The line from which on another policy decides."""
    return _line([time_s, {"policy": scenario}])


def _line(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x} {text}\n"


@dataclass
class Journal:
    """A journal that was read: its head, its entries, and lines that are damaged."""

    head: dict[str, Any]
    lines: Sequence[str]
    source: str
    damaged: list[int] = field(default_factory=list)
    """Numbers of lines whose checksum does not fit; they are read all the same if they can be."""

    def entries(self) -> Iterator[Entry]:
        for number, line in enumerate(self.lines, start=2):
            if number == len(self.lines) + 1 and not line.endswith("\n"):
                self.damaged.append(number)  # the writer was interrupted in the middle of it
                return
            value, whole = _read(line, f"{self.source}, line {number}")
            if not whole:
                self.damaged.append(number)
            yield _entry(value, f"{self.source}, line {number}")


def read_journal(text: str, source: str) -> Journal:
    """A journal from its text; what is none is refused."""
    lines = text.splitlines(keepends=True)
    if not lines:
        raise InputError(f"{source}: the file is empty; a journal begins with a line of its own")
    head, whole = _read(lines[0], f"{source}, line 1")
    if not isinstance(head, dict) or MARK not in head:
        raise InputError(f"{source}: this is no journal; `wattline simulate --journal` writes one")
    if head[MARK] != VERSION:
        raise InputError(f"{source}: a journal of version {head[MARK]}; this is {VERSION}")
    return Journal(head, lines[1:], source, [] if whole else [1])


def _read(line: str, place: str) -> tuple[Any, bool]:
    checksum, _, text = line.rstrip("\n").partition(" ")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{place}: this is no line of a journal") from None
    return value, checksum == f"{zlib.crc32(text.encode()):08x}"


def _entry(value: Any, place: str) -> Entry:
    try:
        time_s = float(value[0])
        if isinstance(value[1], dict):
            return Entry(time_s, (), None, dict(value[1]["policy"]))
        events = tuple(event_from(each) for each in value[1])
        decisions = tuple(decision_from(each) for each in value[2]) if len(value) > 2 else None
    except (InputError, TypeError, ValueError, KeyError, IndexError) as error:
        raise InputError(f"{place}: {error}") from None
    return Entry(time_s, events, decisions)
