"""A controller that goes on until it is told to stop: one per folder, a journal per start."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller, Cycle
from wattline.controller.desk import open_desk
from wattline.controller.watching import Watcher, watts_of_licences
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import Commands
from wattline.model.errors import InputError, WattlineError
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books


@contextmanager
def serving(
    site: SiteConfig, *, act: bool, clock: Callable[[], float] = time.time
) -> Iterator[Controller]:
    """A controller with its journal open; the books begin with what Slurm shows.

    What was decided before is not needed for it: running jobs are seen to run. A policy that
    remembers begins anew.
    """
    folder = Path(site.folder)
    with _alone(folder), _journal(folder, clock()) as write:
        books = open_books(
            machine=Machine(nodes=len(site.node_names), node_idle_w=site.node_idle_w,
                            node_active_w=site.node_active_w),
            order=site.policy.order, backfill=site.policy.backfill, power=site.policy.power,
            placement=site.policy.placement, cap=site.cap, start_s=clock(), journal=write)
        watcher = Watcher(site.node_names, site.partitions, watts=watts_of_licences())
        controller = Controller(books, Slurm(Commands(site.environment)), watcher, act=act,
                                clock=clock)
        open_desk(controller, site)
        yield controller
        if books.journal is not None:
            books.journal.end()


def run(
    controller: Controller, cycle_s: float, say: Callable[[Cycle], None], *,
    cycles: int | None = None, stop: Callable[[], bool] = lambda: False,
) -> int:
    """Cycle until told to stop, or so many times; how many times it was."""
    done = 0
    while not stop() and (cycles is None or done < cycles):
        start_s = time.monotonic()
        say(controller.cycle())
        done += 1
        if cycles is None or done < cycles:
            time.sleep(max(cycle_s - (time.monotonic() - start_s), 0.0))
    return done


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which goes with the process whatever happens to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WattlineError(f"another controller holds {folder}: two would start the same "
                                "jobs") from None
        yield


@contextmanager
def _journal(folder: Path, now_s: float) -> Iterator[Callable[[str], None]]:
    """A journal of its own for each start, named by the time."""
    stamp = datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
    with (folder / f"{stamp}.journal").open("x", encoding="utf-8") as file:
        yield lambda line: synced(file, line)


def synced(file: IO[str], line: str) -> None:
    """Write a line that is on disk when it returns: the journal comes before the act."""
    file.write(line)
    file.flush()
    os.fsync(file.fileno())
