"""Worker processes behind one door: so many at once, so many waiting, so long each."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from wattline.model.errors import InputError, WattlineError

GIB = 2**30
SOON_S, LATER_S = 2, 10
"""When to come again: where the queue is full, and where it did not move."""
MOST_ANSWER_BYTES = 16 * 2**20
_CHUNK = 2**18


class PoolBusy(WattlineError):
    """All workers work and as many requests as may wait are waiting."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__("the server has as many questions as it takes at once")
        self.retry_after_s = retry_after_s


class TooExpensive(InputError):
    """A question that takes more time or memory than a request may."""


class WorkerFailed(WattlineError):
    """Something of ours is broken: the kind of the error, and nothing else, goes to the client."""


@dataclass(frozen=True)
class WorkLimits:
    """What a request may take."""

    workers: int = 1
    waiting: int = 16
    """Requests that may wait for a worker; further ones are told to come again."""
    wait_s: float = 60.0
    time_s: float = 60.0
    """Of one task. It covers policies that are compiled for the first time."""
    memory_bytes: int = 3 * GIB
    file_bytes: int = GIB // 4
    """Of a log, unpacked."""


class Worker:
    """One process, asked one thing at a time."""

    def __init__(self, limits: WorkLimits) -> None:
        self.limits = limits
        self.process: subprocess.Popen[bytes] | None = None
        self.last_key = ""

    def ask(self, task: str, given: Mapping[str, Any], time_s: float) -> Any:
        """The answer; the process is ended and forgotten where none comes in time."""
        end_s = time.monotonic() + time_s
        try:
            process = self._started(end_s)
            assert process.stdin is not None
            process.stdin.write(json.dumps({"task": task, "given": given}).encode("ascii") + b"\n")
            process.stdin.flush()
            told = self._line(process, end_s)
        except BrokenPipeError:
            told = None
        if told is None:
            self.stop()
            if time.monotonic() < end_s:
                return _told({"memory": True}, self.limits)
            raise TooExpensive(f"it takes longer than the {time_s:g} s that a request may take; "
                               "fewer jobs or a simpler policy take less")
        return _told(told, self.limits)

    def stop(self) -> None:
        process, self.process, self.last_key = self.process, None, ""
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()

    def _started(self, end_s: float) -> subprocess.Popen[bytes]:
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.stop()
        limits = self.limits
        # Libraries of linear algebra would map memory for a thread on every core.
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        environment = os.environ | threads | {"WATTLINE_FILE_GIB": str(limits.file_bytes / GIB)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wattline.web.worker.process", str(limits.memory_bytes)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            process_group=0)  # a terminal sends Ctrl-C to the whole group: the server ends it
        if self._line(self.process, end_s) is None:
            raise BrokenPipeError
        return self.process

    @staticmethod
    def _line(process: subprocess.Popen[bytes], end_s: float) -> dict[str, Any] | None:
        """The next line; None where the process ends, says too much, or the time is over."""
        assert process.stdout is not None
        handle, read = process.stdout.fileno(), bytearray()
        waiting = select.poll()  # `select` knows no handle above 1023, of which a server has many
        waiting.register(handle, select.POLLIN)
        while not read.endswith(b"\n"):
            ready = waiting.poll(max(0.0, end_s - time.monotonic()) * 1000)
            chunk = os.read(handle, _CHUNK) if ready else b""
            if not chunk or len(read) > MOST_ANSWER_BYTES:
                return None
            read += chunk
        found: dict[str, Any] = json.loads(read)
        return found


def _told(told: Mapping[str, Any], limits: WorkLimits) -> Any:
    if "answer" in told:
        return told["answer"]
    if "refused" in told:
        raise InputError(str(told["refused"]))
    if "memory" in told:
        raise TooExpensive(f"it takes more than the {limits.memory_bytes / GIB:.3g} GiB of memory "
                           "that a request may take; a smaller machine or log takes less")
    raise WorkerFailed(str(told.get("failed", "unknown")))


class WorkerPool:
    """Hands tasks to workers; a question like the last one of a worker goes to that worker.

    It is asked by threads, each of which waits for its answer.
    """

    def __init__(self, limits: WorkLimits | None = None) -> None:
        self.limits = limits or WorkLimits()
        self._idle = [Worker(self.limits) for _ in range(self.limits.workers)]
        self._all = list(self._idle)
        self._changed = threading.Condition()
        self._waiting = 0
        self._closed = False
        self.warm = False

    def ask(
        self, task: str, given: Mapping[str, Any], *, key: str = "", time_s: float | None = None
    ) -> Any:
        """What the task answers; `PoolBusy`, `TooExpensive` or `InputError` where it does not."""
        worker = self._take(key)
        try:
            return worker.ask(task, given, time_s or self.limits.time_s)
        finally:
            worker.last_key = key or worker.last_key
            with self._changed:
                self._idle.append(worker)
                if self._closed:
                    worker.stop()
                self._changed.notify()

    def warm_up(self, questions: list[tuple[str, Mapping[str, Any]]], time_s: float) -> None:
        """Ask every worker these in the background: what it compiles, reads and keeps is there."""

        def run() -> None:
            for worker in self._all:
                with self._changed:
                    if worker not in self._idle or self._closed:
                        continue
                    self._idle.remove(worker)
                try:
                    for task, given in questions:
                        worker.ask(task, given, time_s)
                except WattlineError:
                    pass  # nobody asked for it; whoever does is told
                finally:
                    with self._changed:
                        self._idle.append(worker)
                        if self._closed:
                            worker.stop()
                        self._changed.notify()
            self.warm = True

        threading.Thread(target=run, daemon=True, name="wattline-warm-up").start()

    def close(self) -> None:
        """End the processes; those at work are killed, and whoever waits for them is told."""
        with self._changed:
            self._closed = True
            for worker in self._all:
                if worker in self._idle:
                    worker.stop()
                elif worker.process is not None:
                    worker.process.kill()
            self._changed.notify_all()

    def _take(self, key: str) -> Worker:
        end_s = time.monotonic() + self.limits.wait_s
        with self._changed:
            if not self._idle and self._waiting >= self.limits.waiting:
                raise PoolBusy(SOON_S)
            self._waiting += 1
            try:
                while not self._idle and not self._closed:
                    if not self._changed.wait(max(0.0, end_s - time.monotonic())):
                        raise PoolBusy(LATER_S)
                if self._closed:
                    raise PoolBusy(LATER_S)
                chosen = next((each for each in self._idle if key and each.last_key == key),
                              self._idle[0])
                self._idle.remove(chosen)
                return chosen
            finally:
                self._waiting -= 1
