"""Which readings of a node have come, which are missing, and which are to be asked for again."""

from __future__ import annotations

from dataclasses import dataclass, field

from wattline.live.transport.messages import Batch

ASK_EVERY_S = 2.0


@dataclass
class Gaps:
    """Of one node. A reading is taken once, however often and in whichever order it comes."""

    life: int = 0
    next: int = 0
    """The number after the highest that came; 0 where none has."""
    missing: list[tuple[int, int]] = field(default_factory=list)
    """From first to last, lowest first."""
    asked_s: float = -ASK_EVERY_S
    lost: int = 0
    """Readings that the node no longer had when they were asked for."""
    back: int = 0
    """So many from before the first that came are asked for."""

    def begin(self, life: int) -> None:
        """A life that was not seen before: what came earlier in it is asked for no further than
        `back`."""
        self.life, self.next = life, 0
        self.lost += sum(last - first + 1 for first, last in self.missing)
        self.missing = []

    def take(self, number: int) -> bool:
        """Whether a reading is new."""
        if self.next == 0:
            self.next = max(number - self.back, 1) if self.back else number
        if number == self.next:
            self.next = number + 1
            return True
        if number > self.next:
            self.missing.append((self.next, number - 1))
            self.next = number + 1
            return True
        return self._fill(number)

    def forget(self, batch: Batch) -> None:
        """What lies before the oldest that a node keeps will never come."""
        kept = []
        for first, last in self.missing:
            self.lost += max(min(last, batch.oldest - 1) - first + 1, 0)
            if last >= batch.oldest:
                kept.append((max(first, batch.oldest), last))
        self.missing = kept

    def to_ask(self, now_s: float) -> tuple[int, int] | None:
        """The first gap, where it was not asked for a moment ago."""
        if not self.missing or now_s < self.asked_s + ASK_EVERY_S:
            return None
        self.asked_s = now_s
        return self.missing[0]

    def _fill(self, number: int) -> bool:
        for place, (first, last) in enumerate(self.missing):
            if first <= number <= last:
                rest = [(first, number - 1), (number + 1, last)]
                self.missing[place:place + 1] = [each for each in rest if each[0] <= each[1]]
                if not self.missing or number == last:
                    self.asked_s = -ASK_EVERY_S  # the next gap may be asked for at once
                return True
        return False
