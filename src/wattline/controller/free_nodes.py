"""What nodes without jobs draw: little changes there, but each reading may be early or late.

A power is joules by the time between two readings. One that comes a tenth of a second late is a
tenth too low, as the next is too high; counted as they come, so many watts too many would be left
to the other nodes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from wattline.controller.metering import CLEARLY

SHARE = 0.25
"""Of a new reading in what is counted; of the first few, the same for each."""


class _Known(NamedTuple):
    heard_s: float
    readings: int
    watts: float


@dataclass
class FreeNodes:
    """By node what its readings say on average; more than that, where it is clear, at once."""

    _known: dict[str, _Known] = field(default_factory=dict)

    def forget(self, names: Collection[str]) -> None:
        """They have jobs: what comes after these is another matter."""
        for name in [name for name in self._known if name in names]:
            del self._known[name]

    def drawn_w(self, name: str, reading_w: float, heard_s: float) -> float:
        """With the last reading, and when it came; one that was told before counts once."""
        known = self._known.get(name)
        if known is not None and known.heard_s == heard_s:
            return known.watts
        watts, readings = reading_w, 1 if known is None else known.readings + 1
        # The first has a part of the job before, and says nothing beside the second.
        if known is not None and readings > 2 and reading_w <= (1.0 + CLEARLY) * known.watts:
            watts += (known.watts - reading_w) * (1.0 - max(1.0 / (readings - 1), SHARE))
        self._known[name] = _Known(heard_s, readings, watts)
        return watts
