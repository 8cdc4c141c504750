"""Worker processes that end with the work: when it is done, interrupted, or its process killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """An executor whose processes are ended at once when its work ends in an exception.

    Its own `with` waits for the work in hand instead, which can be minutes after a Ctrl-C.
    """
    context = _Workers()
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    try:
        yield executor
    except BaseException:
        context.terminate()
        # Nobody works any more: this is quick. Left to the end of Python, it can fail there.
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


class _Worker(SpawnProcess):
    """A process that no Ctrl-C reaches, neither at work nor while it loads its modules; and that
    does not run the program again which it works for."""

    def start(self) -> None:
        with _interrupts_later(), _without_main():
            super().start()


class _Workers(SpawnContext):
    """Makes workers, and knows them. They are fresh processes: forking one that has threads (a
    progress bar) can hang."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[_Worker] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Worker:  # type: ignore[override]
        self._made.append(_Worker(*args, **kwargs))
        return self._made[-1]

    def terminate(self) -> None:
        for worker in self._made:
            if worker.pid is not None:
                worker.terminate()


@contextmanager
def _interrupts_later() -> Iterator[None]:
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
def _without_main() -> Iterator[None]:
    """Keep the main module from what is started here: nothing that workers do is in it, and a
    script that starts workers without asking for its name would start them in each worker too."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _end_with_parent() -> None:
    """Watch the parent, and end when it is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
