"""Rates: a bucket of tokens per client, which fills as time passes; and streams at once."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wattline.web.problems import Refused

MOST_CLIENTS = 20_000


@dataclass(frozen=True)
class Rate:
    """So many requests at once, and so many per second in the long run."""

    burst: float
    per_s: float


READING = Rate(1200, 600)
"""Hundreds of live pages behind one address ask for nodes and queue every third second each."""
ASKING = Rate(30, 6)
"""What takes a worker: a cap that is dragged asks a few times per second."""
LOGGING_IN = Rate(6, 0.1)
MOST_STREAMS = 256
"""Of events, for each client: each is a connection that stays."""


class Buckets:
    """One bucket per client and kind; the longest unused are forgotten."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, client: str) -> int:
        """0 where a request may pass, which takes one token; else whole seconds to wait."""
        with self._lock:
            at_s = self._clock()
            left, last_s = self._left.pop(client, (self.rate.burst, at_s))
            left = min(self.rate.burst, left + (at_s - last_s) * self.rate.per_s)
            passes = left >= 1.0
            self._left[client] = (left - 1.0 if passes else left, at_s)
            while len(self._left) > MOST_CLIENTS:
                self._left.popitem(last=False)
            return 0 if passes else max(1, math.ceil((1.0 - left) / self.rate.per_s))


class Streams:
    """How many streams each client has open."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    @contextmanager
    def one_more(self, client: str) -> Iterator[None]:
        """While one of a client's is open; refused where it has as many as it may."""
        if self._open[client] >= self.most:
            raise Refused(429, f"you have {self.most:,} streams of events open, which is the limit",
                          "close some of them", {"Retry-After": "10"})
        self._open[client] += 1
        try:
            yield
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]
