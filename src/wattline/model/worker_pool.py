"""Worker processes that end with the work: when it is done, interrupted, or its process killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """An executor whose processes are ended at once when its work ends in an exception.

    Its own `with` waits for the work in hand instead, which can be minutes after a Ctrl-C.
    """
    # Fresh processes: forking a process that has threads (a progress bar) can hang.
    executor = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"),
                                   initializer=_end_with_parent)
    # A terminal sends Ctrl-C to the workers too. They inherit the mask, so that the parent alone
    # is interrupted, even while they are being started. The first call starts all of them.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        executor.submit(int)
    finally:
        processes = list((executor._processes or {}).values())
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        raise
    executor.shutdown()


def _end_with_parent() -> None:
    """Watch the parent, and end when it is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
