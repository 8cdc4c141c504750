"""A word now and then while the user waits for the compiler, with how long it has been.

A terminal shows a bar with a clock; a log of a batch job, a pipe and a notebook show nothing that
moves, and half a minute without a word looks like a hang. Who is told is `while_compiling` of
`wattline.model`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from wattline.model import while_compiling

EVERY_S = 10.0
_waited_s = [0.0]


def waited_s() -> float:
    """How long this process has waited for the compiler so far."""
    return _waited_s[0]


class Wait:
    """Says every so often how long it has lasted, and at the end how long it took.

    Kernels are compiled in one another, so it is begun and ended in pairs: the outermost counts.
    """

    def __init__(self, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._depth = 0
        self._began_s = 0.0
        self._over = threading.Event()
        self._speaker: threading.Thread | None = None

    def begin(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began_s = time.monotonic()
        if self._depth == 1 and while_compiling:
            self._over = threading.Event()
            self._speaker = threading.Thread(target=self._speak, daemon=True)
            self._speaker.start()

    def end(self) -> None:
        self._depth -= 1
        if self._depth > 0:
            return
        took_s = time.monotonic() - self._began_s
        _waited_s[0] += took_s
        if self._speaker is not None:
            self._over.set()
            self._speaker.join()  # its last word comes first
            self._speaker = None
            if took_s >= self._every_s:
                _say(f"compiled in {took_s:.0f} s")

    def _speak(self) -> None:
        while not self._over.wait(self._every_s):
            _say(f"compiling, {time.monotonic() - self._began_s:.0f} s so far")


@contextmanager
def waiting() -> Iterator[None]:
    """While another process compiles."""
    wait = Wait()
    wait.begin()
    try:
        yield
    finally:
        wait.end()


def _say(line: str) -> None:
    for tell in while_compiling:
        tell(line)
