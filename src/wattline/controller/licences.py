"""Watts as licences: the net below the controller, which Slurm itself keeps.

Every job asks for licences called `watts`. How many of them there are follows the cap by a
reservation that takes the others away: no file of Slurm's is touched, and nothing is reconfigured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WAITING, WATTS, SlurmJob

RESERVATION = "wattline-cap"


def allowed_w(
    jobs: Iterable[SlurmJob], nodes: int, idle_w: float, cap_w: float, *, active_w: float = 0.0
) -> float:
    """How many licences jobs may hold together where Slurm starts them.

    A job's licences are all that its nodes draw, and nodes without a job draw too: the cap less
    these. So do jobs that run without licences, `active_w` on each node. A job that starts takes
    idle nodes with it, so that only a part of its licences is new: the largest such part among
    those that may start says how many fit, whichever of them Slurm starts.
    """
    jobs = list(jobs)
    running = [job for job in jobs if job.node_list and job.state in (*ACTIVE, *STARTING, *ENDING)]
    waiting = [job for job in jobs if job.state in WAITING and job.licenses.get(WATTS, 0) > 0]
    free = max(nodes - sum(len(job.node_list) for job in running), 0)
    bare_w = active_w * sum(len(job.node_list) for job in running if WATTS not in job.licenses)
    used_w = sum(job.licenses.get(WATTS, 0) for job in running)
    room_w = cap_w - bare_w - used_w - idle_w * free
    # Jobs that come before the next look are taken to draw as much as usual.
    parts = [_new_part(job.licenses[WATTS], job.nodes * idle_w) for job in waiting]
    part = max([*parts, _new_part(active_w, idle_w)] if waiting else [1.0])
    if room_w <= 0.0 or part <= 0.0:
        return used_w + room_w
    for job in sorted(waiting, key=lambda job: (-job.priority, job.submit_s, job.job_id)):
        watts = job.licenses[WATTS]
        if job.nodes <= free and watts - job.nodes * idle_w <= room_w and _lacks_watts_alone(job):
            return used_w + max(room_w / part, watts)
    return used_w + room_w / part


def _new_part(licences_w: float, idle_w: float) -> float:
    """Of a job's licences what its nodes did not draw before it."""
    return max(licences_w - idle_w, 0.0) / licences_w if licences_w > 0.0 else 0.0


def _lacks_watts_alone(job: SlurmJob) -> bool:
    """Whether Slurm has tried it and would start it first: others must not use its licences."""
    return job.reason == "Licenses" and set(job.licenses) == {WATTS}


@dataclass
class LicenceNet:
    """Keeps as many licences in use as watts are allowed."""

    commands: Commands
    total: int = field(default=-1, init=False)
    taken: int = field(default=-1, init=False)
    """Those that the reservation holds; -1 where it is not known."""

    def allow(self, watts: float) -> None:
        """From now on jobs may hold so many; those that hold more keep what they have."""
        total = self.count()
        take = total - min(max(int(watts), 0), total)
        if take == self.taken:
            return
        self._take(take)
        self.taken = take

    def lift(self) -> None:
        """Leave Slurm all licences that it has."""
        self._take(0)
        self.taken = -1

    def count(self) -> int:
        """How many Slurm has in all, by its configuration."""
        if self.total < 0:
            said = self.commands.run("scontrol", "show", "licenses", WATTS)
            found = re.search(r"Total=([0-9]+)", said)
            if found is None:
                raise SlurmError(f"Slurm has no licences called {WATTS}: slurm.conf needs "
                                 f"Licenses={WATTS}:N with N as high as the highest cap")
            self.total = int(found[1])
        return self.total

    def _take(self, count: int) -> None:
        there = RESERVATION in self.commands.run("scontrol", "-o", "show", "reservation")
        if count == 0:
            if there:
                self.commands.run("scontrol", "delete", f"ReservationName={RESERVATION}")
        elif there:
            self.commands.run("scontrol", "update", f"ReservationName={RESERVATION}",
                              f"Licenses={WATTS}:{count}")
        else:
            self.commands.run("scontrol", "create", "reservation",
                              f"ReservationName={RESERVATION}", "Flags=LICENSE_ONLY",
                              f"Licenses={WATTS}:{count}", "StartTime=now", "Duration=infinite",
                              "Users=root")
