"""Processes on this machine."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import AbstractContextManager

from wattline.model.worker_pool import worker_pool
from wattline.sweeps.runners import Place


class Local:
    """A pool of processes that end with this one."""

    chunks_per_worker = 16

    def __init__(self, place: Place) -> None:
        self._workers = place.workers

    def executor(self) -> AbstractContextManager[Executor]:
        return worker_pool(self._workers)
