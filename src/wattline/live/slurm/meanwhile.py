"""What cannot wait for Slurm's commands, however slow they are.

It is done in the thread that waits for them, between two looks at the command's answer: nothing has
to be guarded against a second thread.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Meanwhile:
    """Something that is due so often after it was last done, whoever did it."""

    def __init__(self) -> None:
        self._do: Callable[[], None] | None = None
        self._every_s = self._due_s = math.inf
        self._thread = 0
        self._doing = False

    @contextmanager
    def doing(self, do: Callable[[], None], every_s: float) -> Iterator[None]:
        """From now on this is done while this thread waits for commands; not for those of its own.
        """
        self._do, self._every_s, self._thread = do, every_s, threading.get_ident()
        self.done()
        try:
            yield
        finally:
            self._do = None

    def done(self) -> None:
        """It was done just now: it is not due again before its time."""
        self._due_s = time.monotonic() + self._every_s

    def wait_s(self) -> float:
        """How long whoever waits may wait before it looks again."""
        return max(self._due_s - time.monotonic(), 0.0) if self._here() else math.inf

    def look(self) -> None:
        """Do it where it is due."""
        if self._do is None or not self._here() or time.monotonic() < self._due_s:
            return
        self._doing = True
        try:
            self._do()
        finally:
            self._doing = False
            self.done()

    def _here(self) -> bool:
        """Whether there is anything to do in this thread, beside what it is doing."""
        return (self._do is not None and not self._doing
                and threading.get_ident() == self._thread)
