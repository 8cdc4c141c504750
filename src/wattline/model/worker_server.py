"""Workers that are forked from a process which has loaded what they need.

Each worker would load for a second what all of them load. That process is a fresh one without
threads of Python, of this pool alone (its environment is that of now, not of an earlier pool), and
it ends with the pool.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import forkserver, popen_forkserver, reduction, spawn, util
from multiprocessing.context import ForkServerContext, ForkServerProcess, set_spawning_popen
from typing import Any

from wattline.model.worker_start import interrupts_later, without_main


class _ForkedWorker(ForkServerProcess):
    """A process that no Ctrl-C reaches, and that does not run the program again."""

    def __init__(self, server: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._server = server

    def __getstate__(self) -> dict[str, Any]:
        """As it is sent to the process itself, which has no use for the server."""
        return {name: value for name, value in vars(self).items() if name != "_server"}

    @staticmethod
    def _Popen(process: Any) -> Any:
        return _Start(process)

    def start(self) -> None:
        with interrupts_later(), without_main():
            super().start()


class _Start(popen_forkserver.Popen):
    """Asks the server of the pool; that of `multiprocessing` is one for the whole program."""

    _fds: list[int]

    def _launch(self, process: Any) -> None:
        sent = io.BytesIO()
        set_spawning_popen(self)
        try:
            reduction.dump(spawn.get_preparation_data(process.name), sent)
            reduction.dump(process, sent)
        finally:
            set_spawning_popen(None)
        self.sentinel, data = process._server.connect_to_new_process(self._fds)
        parent = os.dup(data)  # open while this process lives, which the worker watches
        self.finalizer = util.Finalize(self, _close, (parent, self.sentinel))
        with open(data, "wb") as pipe:
            pipe.write(sent.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


def _close(*places: int) -> None:
    for place in places:
        os.close(place)


class ForkedWorkers(ForkServerContext):
    """Makes workers, and knows them and the process that they are forked from."""

    def __init__(self, loads: Sequence[str]) -> None:
        super().__init__()
        self._made: list[_ForkedWorker] = []
        self._server: Any = forkserver.ForkServer()
        self._server.set_forkserver_preload(list(loads))

    def Process(self, *args: Any, **kwargs: Any) -> _ForkedWorker:  # type: ignore[override]
        self._made.append(_ForkedWorker(self._server, *args, **kwargs))
        return self._made[-1]

    def begin(self, executor: ProcessPoolExecutor, workers: int, loads: Sequence[str]) -> None:
        """Start to load; only who asks for the first worker waits for it."""
        with interrupts_later(), without_main():
            self._server.ensure_running()

    def terminate(self) -> None:
        for worker in self._made:
            if worker.pid is not None:
                worker.terminate()

    def end(self) -> None:
        """It may be in the middle of its imports, and has nothing to put in order."""
        server = self._server._forkserver_pid
        if server is not None:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(server, signal.SIGKILL)
                self._server._stop()
