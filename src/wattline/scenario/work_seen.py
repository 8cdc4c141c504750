"""How much work jobs were seen to do, by a journal: it holds no run times, but starts and ends.

Also how long a machine took from the decision to the start, where starts were confirmed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from wattline.books import Ended, NotStarted, Paced, Started
from wattline.books.events import Event, Key
from wattline.books.journal import JournalEntry


class WorkSeen:
    """Seconds at full speed, from the beginning (`total_s`) and since the last `cut` (`left_s`)."""

    def __init__(self) -> None:
        self._before: dict[Key, float] = {}
        self._work: dict[Key, float] = {}
        self._pace: dict[Key, tuple[float, float]] = {}
        self.begun_s: dict[Key, float] = {}
        """When each job that began first did."""
        self.ended: set[Key] = set()
        self.delay_s: dict[Key, float] = {}
        """From the decision to the start that the machine confirmed."""
        self.asked_s: dict[Key, float] = {}
        """When jobs were told to start that were not seen to, up to now."""

    def read(self, entries: Iterable[JournalEntry]) -> None:
        for entry in entries:
            for event in entry.events:
                self._see(event, entry.time_s)
            for decision in entry.decisions or ():
                if decision.kind == "level":
                    for job in list(self._pace):
                        self._settle(job, entry.time_s, decision.rate)
                elif decision.job is not None and decision.kind in ("start", "resume", "speed"):
                    self.begun_s.setdefault(decision.job, entry.time_s)
                    if decision.kind == "start":
                        self.asked_s[decision.job] = entry.time_s
                    self._settle(decision.job, entry.time_s, decision.rate)
                elif decision.job is not None and decision.kind == "pause":
                    self._settle(decision.job, entry.time_s, None)

    def cut(self, time_s: float) -> None:
        """Count anew from here."""
        for job, (_, rate) in list(self._pace.items()):
            self._settle(job, time_s, rate)
        for job, work_s in self._work.items():
            self._before[job] = self._before.get(job, 0.0) + work_s
        self._work = {}

    def left_s(self, job: Key) -> float:
        return self._work.get(job, 0.0)

    def done_s(self, job: Key) -> float:
        """Up to the last cut."""
        return self._before.get(job, 0.0)

    def total_s(self, job: Key) -> float:
        return self._before.get(job, 0.0) + self._work.get(job, 0.0)

    def _see(self, event: Event, now_s: float) -> None:
        if isinstance(event, Ended):
            self._settle(event.job, now_s, None)
            self.ended.add(event.job)
        elif isinstance(event, Paced):
            self._settle(event.job, now_s, event.rate)
        elif isinstance(event, Started):
            self._begin(event.job, now_s)
        elif isinstance(event, NotStarted):
            self.asked_s.pop(event.job, None)
            self._pace.pop(event.job, None)
            self.begun_s.pop(event.job, None)

    def _begin(self, job: Key, now_s: float) -> None:
        """Only now did it begin, whenever that was decided."""
        _, rate = self._pace.get(job, (now_s, 1.0))
        self._pace[job] = (now_s, rate)
        self.begun_s[job] = now_s
        if job in self.asked_s:
            self.delay_s[job] = now_s - self.asked_s.pop(job)
            self._before.pop(job, None)  # a cut between the two counted waiting as work
            self._work.pop(job, None)

    def _settle(self, job: Key, now_s: float, rate: float | None) -> None:
        if job in self._pace:
            since_s, old = self._pace.pop(job)
            work_s = _work_s(since_s, now_s, old)
            self._work[job] = self._work.get(job, 0.0) + work_s
        if rate is not None:
            self._pace[job] = (now_s, rate)


def _work_s(since_s: float, now_s: float, rate: float) -> float:
    """The work between two times: such that a world that begins at one comes out at the other."""
    work_s = (now_s - since_s) * rate
    for near_s in (work_s, math.nextafter(work_s, math.inf), math.nextafter(work_s, -math.inf)):
        if since_s + near_s / rate == now_s:
            return near_s
    return work_s
