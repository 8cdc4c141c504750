"""A power that the machine follows: from a file, or from a topic of the broker.

Starts are admitted under the cap; the target is followed by caps of nodes alone, each cycle. How
far the meters were from it is kept, for whoever pays for following.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wattline.grid.market import ERROR_LIMIT
from wattline.live.transport.link import BrokerSettings, Link
from wattline.model.errors import InputError
from wattline.model.units import parse_power

KEPT = 3600
"""Samples of how far the power was off: an hour, at one per second."""
SPAN_S = 1.0
"""A reading is of the second before it: agents read once per second."""
MOST_BYTES = 100

Said = tuple[str, float]
"""A text, and when it was said."""


class FileSource:
    """What a file says, since it was last written."""

    kept = False

    def __init__(self, file: Path) -> None:
        self.file, self.name = file, str(file)

    def last(self) -> Said | None:
        try:
            return (self.file.read_bytes()[:MOST_BYTES].decode("utf-8", "replace"),
                    self.file.stat().st_mtime)
        except OSError:
            return None

    def close(self) -> None:
        """Nothing is held open."""


class TopicSource:
    """What was last published on a topic, by the clock of this machine."""

    def __init__(self, broker: BrokerSettings, topic: str, client: str) -> None:
        self.name = topic
        self._lock = threading.Lock()
        self._last: Said | None = None
        self.kept = False
        """Whether the broker has sent what it kept: how old that is nobody knows."""
        self._link = Link(broker, client, [topic], self._hear, retained=self._hear_kept)

    def last(self) -> Said | None:
        with self._lock:
            return self._last

    def close(self) -> None:
        self._link.close()

    def _hear(self, topic: str, payload: bytes) -> None:
        with self._lock:
            self._last = payload[:MOST_BYTES].decode("utf-8", "replace"), time.time()

    def _hear_kept(self, topic: str, payload: bytes) -> None:
        self.kept = True


@dataclass
class Target:
    """The power to follow now, and how well that went."""

    source: FileSource | TopicSource
    highest_w: float
    age_s: float
    """What was said longer ago holds no more."""
    notes: list[str]
    measured: Callable[[float], tuple[float, float]] = lambda now_s: (math.nan, math.nan)
    """What the meters show, and of when that is."""
    reserve_w: float | None = None
    """What errors are a part of, as a contract counts them."""
    _errors_w: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    _steps: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=60))
    """When which target was said, the last ones."""
    _sampled_s: float = -math.inf
    _said: str = ""

    def watts(self, now_s: float) -> float:
        """Infinite where nothing is to be followed."""
        last = self.source.last()
        if last is None and self.source.kept:
            return self._none(f"{self.source.name}: what the broker has kept (retain) is of no "
                              "known age: no target is followed, the cap holds")
        if last is None or now_s - last[1] > self.age_s:
            return self._none(f"{self.source.name} has said nothing for {self.age_s:g} s: no "
                              "target is followed, the cap holds")
        if last[1] - now_s > self.age_s:
            return self._none(f"{self.source.name} was written {last[1] - now_s:,.0f} s ahead of "
                              "this machine's clock: no target is followed, the cap holds")
        try:
            watts = parse_power(last[0].strip())
        except InputError as error:
            return self._none(f"{self.source.name}: no target is followed: {error}")
        if not 0.0 < watts <= self.highest_w:
            return self._none(f"{self.source.name}: no target is followed: {watts:g} W is not "
                              f"between 0 and the site's {self.highest_w:g} W")
        self._said = ""
        if not self._steps or self._steps[-1] != (last[1], watts):
            self._steps.append((last[1], watts))
        return watts

    def sample(self, now_s: float) -> None:
        """Note how far new readings are from what was the target in the second that they are of."""
        power_w, at_s = self.measured(now_s)
        if math.isnan(power_w) or at_s - self._sampled_s < 0.9 * SPAN_S:
            return
        self._sampled_s = at_s
        if self.watts(now_s) < math.inf and self._steps[0][0] <= at_s - SPAN_S:
            self._errors_w.append(power_w - self._mean_w(at_s - SPAN_S, at_s))

    def _mean_w(self, start_s: float, end_s: float) -> float:
        """Of the targets between two times."""
        edges_s = [*(max(at_s, start_s) for at_s, _ in self._steps), end_s]
        spans = zip(self._steps, pairwise(edges_s), strict=True)
        return sum(watts * max(min(until_s, end_s) - from_s, 0.0)
                   for (_, watts), (from_s, until_s) in spans) / (end_s - start_s)

    def status(self, now_s: float) -> dict[str, Any]:
        """The target now, and the error of the last hour, without its sign."""
        watts = self.watts(now_s)
        off_w = np.abs(np.array(self._errors_w))
        found: dict[str, Any] = {
            "watts": watts, "samples": off_w.size,
            "error_w_mean": float(off_w.mean()) if off_w.size else None,
            "error_w_p90": float(np.quantile(off_w, 0.9)) if off_w.size else None,
            "error_of_reserve_p90": None, "score": None}
        if off_w.size and self.reserve_w is not None:
            found["error_of_reserve_p90"] = found["error_w_p90"] / self.reserve_w
            # As `wattline regulate` scores without a programme: time without a large error.
            found["score"] = float(np.mean(off_w <= ERROR_LIMIT * self.reserve_w))
        return found

    def _none(self, why: str) -> float:
        if why != self._said:
            self.notes.append(why)
            self._said = why
        return math.inf
