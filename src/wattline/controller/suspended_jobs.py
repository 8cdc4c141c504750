"""Jobs that are suspended: what the books count for them, and how they go on.

A job that an operator, gang scheduling or preemption suspends draws nothing: it keeps its nodes in
the books, these count with their idle power, and the rest is free for others. When it is resumed it
counts at once with what it claims, as at a start. Where the cap has no room for that, nodes are
lowered first; where that is not enough the job is suspended again until there is room. One that
was suspended to keep the cap keeps its watts, as long as it fits under the cap at all: no job that
waits is started with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wattline.books import Event, Measured
from wattline.controller.told import Told
from wattline.controller.watching import ASIDE, Watcher
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import WATTS, SlurmJob

if TYPE_CHECKING:
    from wattline.controller.controller import Controller

GOES_ON = "goes on"
"""In the comment of a job that was suspended to keep the cap and is not any more."""


@dataclass
class SuspendedJobs:
    """Tells the books what a job counts with while it is suspended, and once it goes on."""

    controller: Controller
    node_idle_w: float
    node_least_w: float
    """Of a node that the watcher knows no idle power, or no lowest cap of; without node caps a job
    that goes on draws what it claims."""
    _new: bool = field(default=True, init=False)
    """True while nothing was told yet: before a restart a job may have been suspended."""

    def events(self, now_s: float) -> list[Event]:
        """Powers that are news: of jobs that were suspended or resumed since the last look."""
        watcher, found = self.controller.watcher, list[Event]()
        for name, told in watcher.told.items():
            if not (told.suspended or told.idles or self._new) or math.isnan(
                    booked_w := watcher.booked_w(name)):
                continue
            idle_w = watcher.suspended_w(told, self.node_idle_w)
            if self._new and not told.suspended:
                told.idles = told.resumed = booked_w <= idle_w < told.watts
            if told.suspended and not told.aside | told.idles:
                told.slowed = min(booked_w / counted_w, 1.0) if (
                    counted_w := watcher.counted_w(name)) > 0.0 else 1.0
            idles = told.suspended and not (told.aside and self._fits(told))
            watts = min(idle_w, told.watts) if idles else told.watts * told.slowed
            if idles != told.idles or (idles and not math.isclose(watts, booked_w, abs_tol=0.5)):
                self._say(name, told, idles, told.watts - watts)
                told.idles = idles
                found.append(Measured(watts, name))
        self._new = False
        return found

    def _fits(self, told: Told) -> bool:
        """Return True if a job could go on under the cap of now beside nodes without jobs."""
        watcher = self.controller.watcher
        own = set(watcher.node_names(told.nodes))
        idle_w = sum(watcher.idle_w(name, self.node_idle_w) for name in watcher.names
                     if name not in watcher.off and name not in watcher.down and name not in own)
        least_w = (told.watts if math.isnan(self.node_least_w)
                   else sum(watcher.least_w(own, self.node_least_w).values()))
        return idle_w + least_w <= float(self.controller.books.state.clock[0].cap_w)

    def _say(self, name: str, told: Told, idles: bool, free_w: float) -> None:
        if idles and not told.idles and free_w >= 1.0:
            self.controller.notes.append(
                f"job {name} is suspended: it keeps its nodes, and {free_w:,.0f} W of it are free "
                "for other jobs until it is resumed")

    def keep_cap(self) -> None:
        """Admit what was resumed, where no nodes are capped: by what the books count alone."""
        controller = self.controller
        clock, watcher = controller.books.state.clock[0], controller.watcher
        aside = jobs_aside(watcher)
        kept_w = [0.0 if told.idles else told.watts - watcher.suspended_w(told, self.node_idle_w)
                  for told in aside]
        room_w = float(clock.cap_w) - controller.books.power_w + sum(kept_w)
        resumed = jobs_resumed(watcher)
        if resumed and room_w < 0.0:
            if controller.act:
                controller.notes.append(suspend_again(controller.slurm, watcher, resumed[-1]))
            return
        for told in resumed:
            admit(controller.slurm, watcher, told)
        if aside and controller.act and not resumed:
            told = aside[0]
            if told.watts - watcher.suspended_w(told, self.node_idle_w) <= room_w:
                controller.notes.append(resume(controller.slurm, watcher, told))


def free_licences(watcher: Watcher) -> dict[str, int]:
    """By label the licences of suspended jobs whose watts are free: Slurm takes none back."""
    idling = {told.label for told in watcher.told.values() if told.idles}
    return {job.label: job.licenses.get(WATTS, 0) for job in watcher.seen
            if job.label in idling} if idling else {}


def jobs_aside(watcher: Watcher) -> list[Told]:
    """List the jobs suspended to keep the cap, the first to go on first."""
    return by_priority([told for told in watcher.told.values() if told.aside], watcher.seen)


def jobs_resumed(watcher: Watcher) -> list[Told]:
    """List the jobs that somebody resumed and that the cap has not been seen to have room for."""
    return by_priority([told for told in watcher.told.values() if told.resumed and told.draws],
                       watcher.seen)


def by_priority(jobs: Sequence[Told], seen: Iterable[SlurmJob]) -> list[Told]:
    """The highest of Slurm's priorities first; of equal ones, the job that came first."""
    priority = {job.label: job.priority for job in seen} if jobs else {}
    return sorted(jobs, key=lambda told: -priority.get(told.label, 0))


def suspend_aside(slurm: Slurm, watcher: Watcher, told: Told) -> None:
    """Suspend a job until the cap has room for it; Slurm keeps why, over our restarts."""
    slurm.suspend(told.label)
    told.suspended, told.aside, told.resumed = True, True, False
    slurm.explain(told.label, watcher.comment(ASIDE))


def suspend_again(slurm: Slurm, watcher: Watcher, told: Told) -> str:
    """Take back a resume for which the cap has no room; what is said of it."""
    try:
        suspend_aside(slurm, watcher, told)
    except SlurmError as error:
        return f"job {told.label} was resumed without room under the cap, and goes on: {error}"
    return (f"job {told.label} was resumed and the cap has no room for it: it is suspended again, "
            "and goes on before any other job starts")


def resume(slurm: Slurm, watcher: Watcher, told: Told) -> str:
    """Let a job go on that was suspended to keep the cap; what is said of it."""
    try:
        slurm.resume(told.label)
    except SlurmError as error:
        return f"job {told.label} could not be resumed: {error}"
    told.suspended = told.aside = False
    admit(slurm, watcher, told, marked=True)
    return f"job {told.label} goes on"


def admit(slurm: Slurm, watcher: Watcher, told: Told, *, marked: bool = False) -> None:
    """The cap has room for a job that goes on: whoever suspends it next, it was not for the cap."""
    told.resumed = False
    if marked or (told.row is not None and ASIDE in told.row.admin_comment):
        try:
            slurm.explain(told.label, watcher.comment(GOES_ON))
        except SlurmError:
            return  # it has ended, or the next resume writes it
