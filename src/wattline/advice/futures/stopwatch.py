"""How long an answer took, apart from what is compiled once."""

from __future__ import annotations

import time

from wattline.model.waiting import waited_s


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._began_s, self._waited_s = time.monotonic(), waited_s()

    @property
    def compile_seconds(self) -> float:
        """The wait for the compiler, which happens once for each combination of policies."""
        return waited_s() - self._waited_s

    @property
    def seconds(self) -> float:
        """All but that."""
        return max(time.monotonic() - self._began_s - self.compile_seconds, 0.0)
