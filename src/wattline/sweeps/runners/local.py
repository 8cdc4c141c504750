"""Processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress

from wattline.model.worker_pool import worker_pool
from wattline.sweeps.runners import Place

LOADS = ("wattline.sweeps.preload",)
"""What workers load, which takes as long as to make a thousand points."""


class Local:
    """A pool of processes that end with this one."""

    in_one_go = False

    def __init__(self, place: Place) -> None:
        self._workers = place.workers
        self._begun: Executor | None = None

    def workers(self) -> int:
        return self._workers

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Load what workers need while the points are still being made."""
        with suppress(_Unused), worker_pool(self._workers, LOADS) as pool:
            self._begun = pool
            yield
            if self._begun is not None:  # all was known: nobody waits for what is loaded
                raise _Unused

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        pool, self._begun = self._begun, None
        if pool is not None:
            yield pool
            return
        with worker_pool(self._workers, LOADS) as fresh:
            yield fresh


class _Unused(Exception):
    """No work was given to the processes."""
