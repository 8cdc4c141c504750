"""Worker processes that end with the work: when it is done, interrupted, or its process killed."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from wattline.model.kernel import PLAIN
from wattline.model.user_cache import can_keep, user_cache
from wattline.model.worker_start import interrupts_later, without_main

FORKS = sys.platform == "linux"
"""Elsewhere libraries of the system do not bear to be forked."""


@contextmanager
def worker_pool(workers: int, loads: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """An executor whose processes are ended at once when its work ends in an exception.

    Its own `with` waits for the work in hand instead, which can be minutes after a Ctrl-C. Modules
    named by `loads` are loaded while the caller still prepares the work: once for all workers,
    where they can be forked from a process that has loaded them.
    """
    if not PLAIN:
        can_keep(user_cache())  # workers have to compile, and nobody hears what they say of it
    context = _context(loads)
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    try:
        try:
            context.begin(executor, workers, loads)
            yield executor
        except BaseException:
            context.terminate()
            # Nobody works any more: this is quick. Left to the end of Python, it can fail there.
            executor.shutdown(cancel_futures=True)
            raise
        executor.shutdown()
    finally:
        context.end()


def _context(loads: Sequence[str]) -> Any:
    if loads and FORKS:
        from wattline.model.worker_server import ForkedWorkers

        return ForkedWorkers(loads)
    return _FreshWorkers()


class _FreshWorker(SpawnProcess):
    """A process that no Ctrl-C reaches, neither at work nor while it loads its modules; and that
    does not run the program again which it works for."""

    def start(self) -> None:
        with interrupts_later(), without_main():
            super().start()


class _FreshWorkers(SpawnContext):
    """Makes workers, and knows them. They are fresh processes: forking one that has threads (a
    progress bar) can hang."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[_FreshWorker] = []

    def Process(self, *args: Any, **kwargs: Any) -> _FreshWorker:  # type: ignore[override]
        self._made.append(_FreshWorker(*args, **kwargs))
        return self._made[-1]

    def begin(self, executor: ProcessPoolExecutor, workers: int, loads: Sequence[str]) -> None:
        if loads:
            for _ in range(workers):
                executor.submit(_load, tuple(loads))

    def terminate(self) -> None:
        for worker in self._made:
            if worker.pid is not None:
                worker.terminate()

    def end(self) -> None:
        """There is nothing beside the workers."""


def _load(names: Sequence[str]) -> None:
    for name in names:
        importlib.import_module(name)


def _end_with_parent() -> None:
    """Watch the parent, and end when it is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
