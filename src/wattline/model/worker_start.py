"""What a process that is started to work for this one must not inherit: Ctrl-C and main module."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import ModuleType


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Keep Ctrl-C from what is started here, and from this process until it is started.

    A terminal sends it to the workers too. They inherit the mask, so that this process alone is
    interrupted; and one that is left half started would complain.
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    # Other threads have no mask: what comes through them is put off until the end.
    ours = threading.current_thread() is threading.main_thread() and before is not None
    if ours:
        signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    resource_tracker.ensure_running()  # started with the first worker, it would take the mask off
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if ours:
            signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def without_main() -> Iterator[None]:
    """Keep the main module from what is started here: nothing that workers do is in it, and a
    script that starts workers without asking for its name would start them in each worker too."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
