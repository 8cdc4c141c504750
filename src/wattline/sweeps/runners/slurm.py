"""Tasks of a Slurm job array, through submitit: few that do much each."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError, WattlineError
from wattline.sweeps.runners import Place, lent

LOOK_S = 1.0
"""From one look at the tasks to the next."""
GATHER_S = 0.5
"""Tasks that are handed in within so much time of one another become one array."""


class SlurmArrays:
    """Each part of the work is a task of an array; Slurm places it and says when it is lost."""

    in_one_go = True

    def __init__(self, place: Place) -> None:
        try:
            import submitit  # noqa: F401
        except ImportError:
            raise InputError("submitit is not installed; install wattline[slurm]") from None
        self._place = place

    def workers(self) -> int:
        return self._place.workers

    def begun(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        place = self._place
        made = ArrayExecutor(Path(place.folder), place.workers, place.minutes)
        with lent(made) as found:
            yield found


class ArrayExecutor(Executor):
    """Gathers what is submitted into arrays, and watches them from a thread."""

    def __init__(self, folder: Path, at_once: int, minutes: int | None) -> None:
        import submitit

        self._folder = folder
        self._slurm = submitit.SlurmExecutor(folder=folder / "slurm")
        # None: nothing is asked for, and the partition's own holds; left out it were 5 minutes.
        self._slurm.update_parameters(
            job_name="wattline-sweep", time=minutes, cpus_per_task=1, array_parallelism=at_once)
        self._lock = threading.Lock()
        self._waiting: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self._running: list[tuple[Future[Any], Any]] = []
        self._handed_in_s = time.monotonic()
        self._closing = False
        self._failed: BaseException | None = None
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            self._waiting.append((future, fn, args))
            self._handed_in_s = time.monotonic()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            with self._lock:
                dropped, self._waiting = self._waiting, []
                running = list(self._running)
            for future, *_ in dropped:
                future.set_exception(RuntimeError("the sweep was ended"))
            for _, job in running:
                with suppress(Exception):
                    job.cancel()
        self._closing = True
        if wait:
            self._watcher.join()

    def _watch(self) -> None:
        while not (self._closing and not self._waiting and not self._running):
            with self._lock:
                ripe = self._waiting and time.monotonic() > self._handed_in_s + GATHER_S
                handed, self._waiting = (self._waiting, []) if ripe else ([], self._waiting)
            if handed:
                self._hand_in(handed)
            self._look()
            time.sleep(LOOK_S if self._running and not self._waiting else GATHER_S / 5)

    def _hand_in(self, handed: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]]
                 ) -> None:
        try:
            jobs = self._slurm.map_array(_call, [fn for _, fn, _ in handed],
                                         [arguments for *_, arguments in handed])
        except Exception as error:
            refused = WattlineError(f"Slurm does not take the tasks of the sweep: {_cause(error)}; "
                                    f"what is done is kept: go on with --out {self._folder} "
                                    "--resume (resume=True)")
            for future, *_ in handed:
                future.set_exception(refused)
            return
        with self._lock:
            self._running += [(future, job) for (future, *_), job in zip(handed, jobs, strict=True)]

    def _look(self) -> None:
        still = []
        for future, job in self._running:
            if not job.done():
                still.append((future, job))
                continue
            try:
                future.set_result(job.result())
            except Exception as error:
                future.set_exception(_in_words(error))
        with self._lock:
            self._running = still


def _in_words(error: Exception) -> Exception:
    """Without a time that was asked for, submitit cannot say that one came to its limit."""
    if "has_timed_out" not in str(error):
        return error
    return RuntimeError("its task came to the partition's time limit, or was preempted; ask for "
                        "more with --time (time_limit), or for more tasks with --workers")


def _cause(error: Exception) -> str:
    """What sbatch said, without the lines of submitit around it."""
    said = [line.strip() for line in str(error).splitlines() if re.search("error:|fatal:", line)]
    return said[-1] if said else str(error)


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)
