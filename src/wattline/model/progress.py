"""How long work says how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
TOLD = 400
"""How often at most what is gone through says how far it is: to say it takes time too."""


class Advance(Protocol):
    """Call it with how far the work has come, from 0 to 1."""

    def __call__(self, fraction: float) -> None: ...


class Stages:
    """Tells how far work has come whose later stages are not known before: it never falls back.

    Each stage gets a share of what is left. So the whole is never done before the last.
    """

    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self._done = 0.0

    def stage(self, share: float) -> Callable[[float], None]:
        """What the next stage calls, which takes this share of what is left."""
        first, span = self._done, share * (1.0 - self._done)

        def advance(fraction: float) -> None:
            self._done = max(self._done, first + span * min(1.0, fraction))
            self._progress(self._done)

        return advance


def telling(items: Iterable[T], count: int, progress: Callable[[float], None]) -> Iterator[T]:
    """The same items, some `count` of them, that say as they are taken how far they are."""
    every = max(1, count // TOLD)
    for at, item in enumerate(items):
        if at % every == 0:
            progress(min(1.0, at / max(count, 1)))
        yield item


def silent(fraction: float) -> None:
    """Nobody wants to know."""
