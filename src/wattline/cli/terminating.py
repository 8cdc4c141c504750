"""SIGTERM as Ctrl-C, for commands that have daemons to end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM interrupt what is done here; a second one must not disturb the cleaning up."""

    def interrupt(number: int, frame: Any) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
