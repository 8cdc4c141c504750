"""What a simulated world decides beside what a journal says, while both go alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wattline.books.decision import Decision
from wattline.books.events import Key
from wattline.books.journal import JournalEntry
from wattline.books.replay import Difference, Replay
from wattline.engine.telling import Teller

SAME_S = 1e-6
"""Times that differ by less are the same: they are sums of others."""


class DecisionComparison:
    """Decisions by their times; steps in which nothing is decided do not count.

    A machine is looked at more often than anything happens to it, a simulated world is not.
    """

    def __init__(self, found: Replay, entries: Sequence[JournalEntry], teller: Teller) -> None:
        self._found = found
        self._theirs = [entry for entry in entries if entry.decisions]
        self._place = 0
        self._teller = teller

    def watch(self, now_s: float, events: Any, decisions: tuple[Decision, ...],
              answers: Any) -> None:
        self._found.steps += 1
        self._found.refused += self._teller.books.refused
        if decisions:
            self._compare(now_s, decisions)

    def end(self) -> Replay:
        """What came of it, when the world has come to its end."""
        self._compare(np.inf, ())
        return self._found

    def _compare(self, now_s: float, here: tuple[Decision, ...]) -> None:
        if self._found.first_difference is not None:
            return
        theirs = self._theirs[self._place] if self._place < len(self._theirs) else None
        at_s = np.inf if theirs is None else theirs.time_s
        there = () if theirs is None or theirs.decisions is None else theirs.decisions
        if at_s < now_s - SAME_S:
            self._differ(at_s, there, ())
        elif at_s > now_s + SAME_S:
            self._differ(now_s, (), here)
        elif there != here:
            self._differ(now_s, there, here)
        self._place += 1

    def _differ(
        self, time_s: float, there: tuple[Decision, ...], here: tuple[Decision, ...]
    ) -> None:
        self._found.different = 1
        self._found.first_difference = Difference(self._found.steps, time_s, there, here)


def starts(jobs: Sequence[Key], there_s: Mapping[Key, float], here_s: Any) -> dict[str, int]:
    """How many jobs start earlier here than there, later, and so on."""
    counted = Counter(_start(there_s.get(job, np.nan), start_s)
                      for job, start_s in zip(jobs, here_s.tolist(), strict=True))
    del counted[""]
    return dict(sorted(counted.items()))


def _start(there_s: float, here_s: float) -> str:
    if np.isnan(here_s):
        return "" if np.isnan(there_s) else "only_in_journal"
    if np.isnan(there_s):
        return "only_here"
    if abs(here_s - there_s) <= SAME_S:
        return "same"
    return "earlier" if here_s < there_s else "later"
