"""The journal: what happened to a machine and what was decided, line by line.

A file of lines, each a JSON value behind a checksum of all lines up to it: a head that says what
the books began with, one entry per step, and where the writer came to its end a last line that
says how many there are. It is only ever written at its end. Replaying its events gives its
decisions again.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wattline.books.decision import Decision
from wattline.books.event_codes import (
    decision_from,
    decision_values,
    event_from,
    event_values,
)
from wattline.books.events import Event, Refused, Submitted
from wattline.model.errors import InputError

MARK = "wattline journal"
VERSION = 2
READABLE = (1, VERSION)
"""Version 1 has no lines about licences."""
BEGIN = "books"
"""In the head of a journal that goes on from another: the file, beside it, of saved books."""
ENTRIES = "entries"
"""In the last line of a journal that is complete: how many entries there are."""
_END = f'{{"{ENTRIES}"'
Position = tuple[int, int]
"""How many entries were written, and the checksum of all lines up to there."""


@dataclass(frozen=True)
class JournalEntry:
    """One step: its time, its events, and what was decided; without a decision, only applied."""

    time_s: float
    events: tuple[Event, ...]
    decisions: tuple[Decision, ...] | None
    policy: dict[str, Any] = field(default_factory=dict)
    """Where another policy decides from here on: its `axes`, and its `scenario` if it has one."""
    refused: tuple[str, ...] = ()
    """What the books were told as well and did not take, and why."""
    licences: dict[str, Any] = field(default_factory=dict)
    """Slurm's licences of watts as a controller saw them; the books hear nothing of them."""


class JournalLines:
    """The lines of one journal in the making: each carries on the checksum of those before it."""

    def __init__(self, position: Position = (0, 0)) -> None:
        self._entries, self._sum = position

    @property
    def position(self) -> Position:
        return self._entries, self._sum

    def head(self, about: dict[str, Any]) -> str:
        """The first line: what the books began with."""
        return self._line({MARK: VERSION, **about})

    def entry(
        self, time_s: float, events: Iterable[Event], decisions: Sequence[Decision] | None,
        refused: Sequence[Refused] = (),
    ) -> str:
        """A step; without decisions, what was only applied."""
        value: list[Any] = [time_s, [event_values(event) for event in events]]
        if decisions is not None or refused:
            value.append(None if decisions is None else
                         [decision_values(decision) for decision in decisions])
        if refused:
            value.append([f"{type(each.event).__name__}: {each.reason}" for each in refused])
        self._entries += 1
        return self._line(value)

    def policy(self, time_s: float, policy: Mapping[str, Any]) -> str:
        """From here on another policy decides: its `axes`, and its `scenario` if there is one."""
        self._entries += 1
        return self._line([time_s, {"policy": dict(policy)}])

    def licences(self, time_s: float, seen: Mapping[str, Any]) -> str:
        """Licences of watts that Slurm's jobs hold and may hold."""
        self._entries += 1
        return self._line([time_s, {"licences": dict(seen)}])

    def end(self) -> str:
        """The last line of a journal that is complete."""
        return self._line({ENTRIES: self._entries})

    def _line(self, value: Any) -> str:
        text = json.dumps(value, separators=(",", ":"))
        self._sum = zlib.crc32(text.encode(), self._sum)
        return f"{self._sum:08x} {text}\n"


class JournalWriter:
    """A journal that is handed to `write` line by line; books that have one tell it all they do.

    Books touch no file: `write` is a file's, or whatever sees to it that a line is kept.
    """

    def __init__(
        self, write: Callable[[str], object], *, keeps_work: bool = True,
        position: Position = (0, 0), version: int = VERSION,
    ) -> None:
        self._lines = JournalLines(position)
        self._has_licences = version >= VERSION
        self._write = write
        self._keeps_work = keeps_work
        """Whether the work of jobs is written: a simulation knows it, and no machine does."""

    @property
    def position(self) -> Position:
        """Where it stands: books that are saved keep it, to find the place again."""
        return self._lines.position

    def head(self, about: Mapping[str, Any]) -> None:
        self._write(self._lines.head(dict(about)))

    def entry(
        self, time_s: float, events: Iterable[Event], decisions: Sequence[Decision] | None,
        refused: Sequence[Refused] = (),
    ) -> None:
        told = events if self._keeps_work else [_without_work(event) for event in events]
        self._write(self._lines.entry(time_s, told, decisions, refused))

    def policy(self, time_s: float, policy: Mapping[str, Any]) -> None:
        self._write(self._lines.policy(time_s, policy))

    def licences(self, time_s: float, seen: Mapping[str, Any]) -> None:
        """Write down Slurm's licences of watts; a file that an earlier version began has none."""
        if self._has_licences:
            self._write(self._lines.licences(time_s, seen))

    def end(self) -> None:
        self._write(self._lines.end())


def _without_work(event: Event) -> Event:
    return replace(event, work_s=float("inf")) if isinstance(event, Submitted) else event


@dataclass
class Journal:
    """A journal that was read: its head, its entries, and what is wrong with its lines."""

    head: dict[str, Any]
    lines: Sequence[str]
    source: str
    complete: bool = False
    """Whether its writer came to the end; known when all entries were read."""
    damaged: list[int] = field(default_factory=list)
    """Numbers of lines whose checksum does not fit; they are read all the same if they can be."""
    torn: str = ""
    """The beginning of a last line, where the writer was interrupted in the middle of it."""
    skipped: int = 0
    """Entries at the beginning that are left out; see `after`."""
    _sum: int = 0
    _seen: int = 0

    def after(self, position: Position) -> Journal:
        """The rest behind a position where it was; what comes before is neither read nor checked.

        The whole journal where it has no such place.
        """
        entries, summed = position
        begins = f"{summed:08x} "
        if not 1 <= entries <= len(self.lines) or not self.lines[entries - 1].startswith(begins):
            return self
        return replace(self, lines=self.lines[entries:], _sum=summed, _seen=entries,
                       skipped=entries)

    @property
    def end_line(self) -> str:
        """Its last line, where that says that its writer came to the end; empty otherwise."""
        last = self.lines[-1] if self.lines else ""
        return last if last[9:].startswith(_END) else ""

    def reopened(self) -> Journal:
        """The same without such a line: whoever goes on with it cuts it off the file first."""
        return replace(self, lines=self.lines[:-1]) if self.end_line else self

    @property
    def position(self) -> Position:
        """Where it stands after the entry that was read last."""
        return self._seen, self._sum

    def entries(self) -> Iterator[JournalEntry]:
        self.complete = False
        for number, line in enumerate(self.lines, start=2 + self.skipped):
            place = f"{self.source}, line {number}"
            value, self._sum, whole = _read(line, self._sum, place)
            if not whole:
                self.damaged.append(number)
            if isinstance(value, dict) and ENTRIES in value:
                self.complete = value[ENTRIES] == self._seen
                if not self.complete:
                    self.damaged.append(number)
                continue
            self._seen += 1
            yield _entry(value, place)


def read_journal(text: str, source: str) -> Journal:
    """A journal from its text; what is none is refused."""
    lines = text.splitlines(keepends=True)
    if not lines:
        raise InputError(f"{source}: the file is empty; a journal begins with a line of its own")
    head, summed, whole = _read(lines[0], 0, f"{source}, line 1")
    if not isinstance(head, dict) or MARK not in head:
        raise InputError(f"{source}: this is no journal; `wattline simulate --journal` writes one")
    if head[MARK] not in READABLE:
        raise InputError(f"{source}: a journal of version {head[MARK]}; this is {VERSION}")
    torn = lines.pop() if len(lines) > 1 and not lines[-1].endswith("\n") else ""
    damaged = ([] if whole else [1]) + ([len(lines) + 1] if torn else [])
    return Journal(head, lines[1:], source, damaged=damaged, torn=torn, _sum=summed)


def _read(line: str, summed: int, place: str) -> tuple[Any, int, bool]:
    """The value of a line, the checksum up to it as the line says, and whether that fits."""
    checksum, _, text = line.rstrip("\n").partition(" ")
    try:
        value = json.loads(text)
        said = int(checksum, 16)
    except (ValueError, RecursionError):
        raise InputError(f"{place}: this is no line of a journal") from None
    return value, said, said == zlib.crc32(text.encode(), summed)


def _entry(value: Any, place: str) -> JournalEntry:
    if not isinstance(value, list) or len(value) < 2:
        raise InputError(f"{place}: this is neither a step of a journal nor its end")
    try:
        time_s = float(value[0])
        if not math.isfinite(time_s):
            raise ValueError(f"the time {time_s}")
        if isinstance(value[1], dict) and "licences" in value[1]:
            return JournalEntry(time_s, (), None, licences=dict(value[1]["licences"]))
        if isinstance(value[1], dict):
            return JournalEntry(time_s, (), None, dict(value[1]["policy"]))
        events = tuple(event_from(each) for each in value[1])
        decided = value[2] if len(value) > 2 else None
        decisions = None if decided is None else tuple(decision_from(each) for each in decided)
        refused = tuple(str(each) for each in value[3]) if len(value) > 3 else ()
    except (InputError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{place}: {error}") from None
    except KeyError:
        raise InputError(f"{place}: this is neither a step nor a change of the policy") from None
    return JournalEntry(time_s, events, decisions, refused=refused)
