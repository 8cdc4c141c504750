"""Jobs that wait, passed on to Slurm in guard mode, and taken back for decide mode.

Each job takes some commands, and there may be thousands: what is not done in the time that a cycle
has for it is done in the next ones, so that the lease is renewed between.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from wattline.books import Books
from wattline.books.waiting import waiting_rows
from wattline.controller.lease import pass_on
from wattline.controller.naming import label_of
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob

if TYPE_CHECKING:
    from wattline.controller.controller import Controller
    from wattline.controller.modes import ModeKeeper

LONGEST_S = 3.0
"""Of a cycle; less where the lease is short."""


def turns_of(books: Books) -> dict[str, int]:
    """By label which turn waiting jobs have by the order of the books' policy."""
    return {label_of(str(books.roll.key(row))): turn
            for turn, row in enumerate(waiting_rows(books))}


def pass_on_held(controller: Controller, modes: ModeKeeper) -> None:
    """Give held jobs of ours their watts as licences and release them: Slurm starts them when
    there are enough."""
    for job in _in_time(modes.held(), modes.site.lease):
        try:
            watts = pass_on(modes.site, controller.slurm, job,
                            anywhere=controller.watcher.names_nodes(job))
        except SlurmError as error:  # its user may have cancelled it: the next look will tell
            controller.notes.append(str(error))
            continue
        controller.watcher.freed.add(job.label)
        controller.notes.append(f"job {job.label} goes to Slurm with {watts} W as licences")


def let_go(controller: Controller, jobs: Sequence[SlurmJob]) -> list[str]:
    """Release what was held for us and is in a partition of Slurm's by now; what is said of it."""
    said = []
    for job in jobs if controller.act else ():
        try:
            controller.slurm.release(job.label, anywhere=controller.watcher.names_nodes(job))
            said.append(f"job {job.label} is in the partition {job.partition} by now, which is "
                        "left to Slurm: it is released")
        except SlurmError as error:  # the next look tells whether it is still held
            said.append(str(error))
    return said


def take_back(controller: Controller, modes: ModeKeeper) -> None:
    """Hold jobs of ours again that were left to Slurm and wait there."""
    waiting = modes.released()
    controller.watcher.freed.take_back(job.label for job in waiting)
    for job in _in_time(waiting, modes.site.lease):
        try:
            controller.slurm.withdraw(job.label)
        except SlurmError as error:  # it may have begun or gone: the next look will tell
            controller.notes.append(str(error))
    if not waiting:
        modes.took_back()


def _in_time(jobs: Sequence[SlurmJob], lease_s: float) -> Iterator[SlurmJob]:
    until_s = time.monotonic() + min(LONGEST_S, lease_s / 4)
    for job in jobs:
        if time.monotonic() > until_s:
            return
        yield job
