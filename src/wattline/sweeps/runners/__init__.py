"""Where points are computed: executors of `concurrent.futures`, one way to call them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from wattline.model.errors import InputError, warn


@dataclass(frozen=True)
class Place:
    """What is asked of an executor."""

    workers: int
    folder: str
    """A folder that all workers see."""
    named: bool = True
    """Whether somebody said how many workers; else they are the processors here."""
    minutes: int | None = None
    """The time limit of a task; None: what the place itself has."""
    say: Callable[[str], None] = lambda line: warn((line,))
    """Told what must be known before the sweep is over."""


class Runner(Protocol):
    """Makes executors; makes another where workers of one have died."""

    in_one_go: bool
    """Whether each worker gets all its work at once, where that is a job of its own; many parts
    keep all of them busy until the end."""

    def workers(self) -> int:
        """How many are to be kept busy."""
        ...

    def executor(self) -> AbstractContextManager[Executor]: ...

    def begun(self) -> AbstractContextManager[None]:
        """While this is open, what takes time to start is on its way."""
        ...


def runner(on: str, place: Place) -> Runner:
    """`local`, `slurm`, or the address of a Dask scheduler."""
    if on == "local":
        from wattline.sweeps.runners.local import Local

        return Local(place)
    if on == "slurm":
        from wattline.sweeps.runners.slurm import SlurmArrays

        return SlurmArrays(place)
    if on.startswith("dask://"):
        from wattline.sweeps.runners.dask import Dask

        return Dask(place, on.removeprefix("dask://"))
    raise InputError(f"'{on}' is no place to run at; there are local, slurm and "
                     "dask://HOST:PORT")


def _let_go(executor: Executor) -> None:
    executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def lent(
    executor: Executor, let_go: Callable[[Executor], None] = _let_go
) -> Iterator[Executor]:
    """An executor that lets go of what is still to do, without waiting, where it is left early."""
    try:
        yield executor
    except BaseException:
        let_go(executor)
        raise
    executor.shutdown()
