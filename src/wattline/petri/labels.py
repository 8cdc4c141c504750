"""Finds a place for each text of a drawing, so that none lies on an arc, a shape or another text.

Each text has a list of places where it could stand, the dearest first. Texts are set one after
another, those with the least choice first; where every place is taken, the least bad one is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Point = tuple[float, float]
CHAR = 0.6
"""Width of a letter relative to its size; wider than most fonts have it."""
CLEAR = 3.0
"""Between a text and what is beside it."""
ROUNDS = 3
"""A text may go elsewhere once those after it have their places."""


@dataclass(frozen=True)
class Box:
    """A rectangle by its middle and half its width and height."""

    at: Point
    half: Point

    def meets(self, other: Box) -> bool:
        return (abs(self.at[0] - other.at[0]) < self.half[0] + other.half[0]
                and abs(self.at[1] - other.at[1]) < self.half[1] + other.half[1])


@dataclass(frozen=True)
class Text:
    """What is to be set, with its choice of places."""

    text: str
    size: int
    style: str
    """What it is: guard, note, tag, colour, value, arc; the drawing colours it by this."""
    places: tuple[Point, ...]

    @property
    def half(self) -> Point:
        return text_half(self.text, self.size)


@dataclass(frozen=True)
class Label:
    """A text that has its place."""

    text: str
    size: int
    style: str
    at: Point

    @property
    def box(self) -> Box:
        return Box(self.at, text_half(self.text, self.size))


def text_half(text: str, size: int) -> Point:
    """Half the width and height that a text takes, of one line or more."""
    lines = text.split("\n")
    return CHAR * size * max(map(len, lines)) / 2.0 + 1.0, len(lines) * (size + 2.0) / 2.0


def set_labels(texts: Sequence[Text], shapes: Sequence[Box],
               lines: Sequence[tuple[Point, Point]]) -> tuple[Label, ...]:
    """A place for each text."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number].places))
    done: dict[int, Label] = {}
    for _ in range(ROUNDS):
        trouble = 0
        for number in order:
            text = texts[number]
            taken = [*shapes, *(label.box for other, label in done.items() if other != number)]
            at, worst = _best(text, taken, lines)
            done[number] = Label(text.text, text.size, text.style, at)
            trouble += worst
        if not trouble:
            break
    return tuple(done[number] for number in range(len(texts)))


def _best(text: Text, taken: Sequence[Box],
          lines: Sequence[tuple[Point, Point]]) -> tuple[Point, int]:
    """The first place without trouble, else the one with the least; and how much that is."""
    best, least = text.places[0], 10**9
    for place in text.places:
        trouble = _trouble(Box(place, text.half), taken, lines)
        if trouble < least:
            best, least = place, trouble
        if not trouble:
            break
    return best, least


def beside(start: Point, end: Point, half: Point, shares: Iterable[float]) -> tuple[Point, ...]:
    """Places beside a line: along it by their share, on both sides, near before far."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    normal = (-dy / length, dx / length)
    apart = abs(normal[0]) * half[0] + abs(normal[1]) * half[1] + CLEAR
    return tuple(
        (start[0] + share * dx + side * (apart + far) * normal[0],
         start[1] + share * dy + side * (apart + far) * normal[1])
        for far in (0.0, 7.0, 16.0, 28.0, 42.0, 58.0) for share in shares for side in (-1.0, 1.0))


def around(at: Point, inner: Point, half: Point, *, below: bool) -> tuple[Point, ...]:
    """Places above or below a shape, straight and aside, then at its ends, then farther off.

    Touching its own shape, a text is not read as that of another one.
    """
    near = (0.0, -0.4, 0.4, -0.8, 0.8)

    def rows(far: int, sides: Iterable[float]) -> list[Point]:
        ways = (1.0, -1.0) if below else (-1.0, 1.0)
        return [(at[0] + side * (inner[0] + half[0]),
                 at[1] + way * (inner[1] + half[1] + CLEAR + 6.0 * far))
                for way in ways for side in sides]

    ends = [(at[0] + way * (inner[0] + half[0] + CLEAR), at[1]) for way in (1.0, -1.0)]
    farther = [place for far in range(1, 9) for place in rows(far, (*near, -1.2, 1.2))]
    return (*rows(0, near), *ends, *rows(0, (-1.2, 1.2)), *farther)


def crosses(box: Box, start: Point, end: Point) -> bool:
    """Whether a line goes through a box."""
    low, high = 0.0, 1.0
    for axis in (0, 1):
        step = end[axis] - start[axis]
        least, most = box.at[axis] - box.half[axis], box.at[axis] + box.half[axis]
        if abs(step) < 1e-12:
            if not least < start[axis] < most:
                return False
            continue
        a, b = sorted(((least - start[axis]) / step, (most - start[axis]) / step))
        low, high = max(low, a), min(high, b)
        if low >= high:
            return False
    return True


def _trouble(box: Box, taken: Sequence[Box], lines: Sequence[tuple[Point, Point]]) -> int:
    return (3 * sum(box.meets(other) for other in taken)
            + 2 * sum(crosses(box, start, end) for start, end in lines)
            + 9 * (box.at[0] - box.half[0] < 0 or box.at[1] - box.half[1] < 0))
