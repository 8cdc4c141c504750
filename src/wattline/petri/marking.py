"""Tokens on a place: a counter for tokens without a value, a list in order of time for others."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any

from wattline.model.errors import InputError
from wattline.petri.inscriptions import Timed
from wattline.petri.net import UNIT, Colour

Token = tuple[float, int, Any]
"""When it is ready, its number (tokens of one time keep their order), its value."""


class Tokens:
    """The tokens of one place."""

    def __init__(self, name: str, colour: Colour) -> None:
        self.name = name
        self.colour = colour
        self.list: list[Token] = []
        self.next_number = 0

    def put(self, value: Any, time_s: float) -> None:
        if isinstance(value, Timed):
            value, time_s = value
        if not self.colour.holds(value):
            raise InputError(f"place '{self.name}' takes tokens of colour {self.colour.name}, "
                             f"not {value!r}")
        insort(self.list, (time_s, self.next_number, value), key=lambda token: token[:2])
        self.next_number += 1

    def take(self, token: Token) -> None:
        self.list.remove(token)

    def take_all(self) -> tuple[Any, ...]:
        values = tuple(token[2] for token in self.list)
        self.list.clear()
        return values

    def ready(self, now_s: float) -> Iterator[Token]:
        """Those that may be taken now, in order of their time."""
        for token in self.list:
            if token[0] > now_s:
                return
            yield token

    def next_time_s(self, now_s: float) -> float:
        """When the next token that is not ready yet becomes so; infinity if there is none."""
        index = bisect_right(self.list, now_s, key=lambda token: token[0])
        return self.list[index][0] if index < len(self.list) else float("inf")

    def count(self) -> int:
        return len(self.list)

    def values(self) -> list[Any]:
        return [token[2] for token in self.list]

    def copy(self) -> Tokens:
        twin = type(self)(self.name, self.colour)
        twin.list = list(self.list)
        twin.next_number = self.next_number
        return twin


class Counter(Tokens):
    """A place of colour UNIT that holds no delayed tokens: only their number is kept."""

    def __init__(self, name: str, colour: Colour = UNIT) -> None:
        super().__init__(name, colour)
        self.number = 0

    def count(self) -> int:
        return self.number

    def values(self) -> list[Any]:
        return [()] * min(self.number, 1)

    def copy(self) -> Counter:
        twin = Counter(self.name, self.colour)
        twin.number = self.number
        return twin
