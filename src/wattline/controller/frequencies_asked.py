"""Frequencies that jobs ask for with `--cpu-freq`, as the policy is told them.

A policy with a table of frequencies takes the levels that a job allows: it counts with the power of
its highest there, and is slowed down to no less than its lowest. Without such a table nobody knows
what a job draws at its frequency: it is said, and full power counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wattline.books import Event
from wattline.traces.frequencies import COLUMNS, of_texts

if TYPE_CHECKING:
    from wattline.controller.controller import Controller

MOST_SAID = 10
"""Of so many jobs it is said that no level is known for what they ask for."""


@lru_cache(maxsize=1000)
def logged_frequencies(words: str) -> dict[str, float]:
    """The lowest and the highest frequency in Hz that a job allows; none where it says nothing that
    can be understood, or leaves it open (a governor alone)."""
    if not words:
        return {}
    columns, _ = of_texts([words])
    found = {name: float(columns[name][0]) for name in COLUMNS}
    return {} if any(map(math.isnan, found.values())) else found


def knows_levels(policy: Any) -> bool:
    """Return True if the policy's power has a table of frequencies, with levels for each job."""
    admission = getattr(policy.admission, "adaptive", policy.admission)
    return hasattr(getattr(admission, "memory", None), "low")


@dataclass
class FrequenciesAsked:
    """Says of jobs that ask for a frequency where no level can be told for it."""

    controller: Controller
    _said: set[str] = field(default_factory=set, init=False)

    def events(self, now_s: float) -> list[Event]:
        watcher, knows = self.controller.watcher, knows_levels(self.controller.books.policy)
        self._said &= watcher.told.keys()
        for name, told in watcher.told.items():
            words = "" if told.row is None else told.row.cpu_freq
            if not words or name in self._said or len(self._said) >= MOST_SAID:
                continue
            why = ("" if knows and logged_frequencies(words) else
                   "the power policy has no table of frequencies" if not knows else
                   "that cannot be understood")
            if why:
                self._said.add(name)
                self.controller.notes.append(f"job {name} asks for --cpu-freq={words}: {why}, so "
                                             "its full power counts")
        return []
