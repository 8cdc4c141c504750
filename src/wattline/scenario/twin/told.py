"""What was made of a site's files, in lists: understood, assumed, not modelled, and more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lists:
    """A sentence or a setting in each entry."""

    understood: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    """What no file says and figures rest on, with its value."""
    not_modelled: tuple[str, ...] = ()
    """What a file says and the twin does not follow, with what it would change."""
    unknown: tuple[str, ...] = ()
    """Keys that nobody here knows."""
    contradictions: tuple[str, ...] = ()
    """Two lines that do not go together, and which of them counts."""


@dataclass
class Told:
    """The same while it is written."""

    understood: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    not_modelled: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)

    def lists(self) -> Lists:
        def once(entries: Iterable[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(entries))

        return Lists(once(self.understood), once(self.assumed), once(self.not_modelled),
                     once(self.unknown), once(self.contradictions))
