"""Watts as licences: the net below the controller, which Slurm itself keeps.

Every job asks for licences called `watts`. How many of them there are follows the cap by a
reservation that takes the others away: no file of Slurm's is touched, and nothing is reconfigured.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wattline.controller.elsewhere import part_here
from wattline.controller.node_power import NodePower
from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WAITING, WATTS, SlurmJob

RESERVATION = "wattline-cap"
LASTS = "EndTime=now+365days"
"""Slurm has none without an end; each change of the number moves it."""
LOOK_S = 5.0
"""So often it is seen whether the reservation is still there."""


def allowed_w(
    jobs: Iterable[SlurmJob], power: NodePower, cap_w: float, *, coming: int = 0
) -> float:
    """How many licences jobs may hold together where Slurm starts them.

    A job's licences are all that its nodes draw, and nodes without a job draw too: the cap less
    these. So do jobs that run without licences, what is usual on each node, those that are about
    to start without (on `coming` nodes), and what jobs with fewer licences than their nodes draw
    idle draw beyond those. Of a job that has other nodes too, the part on these counts; what it
    holds for the others is given to it beside. A job that starts takes
    idle nodes with it, so that only a part of its licences is new: the largest such part among
    those that may start says how many fit, whichever of them Slurm starts, and wherever.
    """
    jobs = list(jobs)
    running = _running(jobs, power)
    waiting = [job for job in jobs if job.state in WAITING and job.licenses.get(WATTS, 0) > 0]
    busy = {name for job in running for name in job.node_list}
    free = [name for name in power.idle_w if name not in busy]
    bare = [name for job in running if WATTS not in job.licenses for name in job.node_list]
    bare += power.thirstiest(free, coming)
    taken = set(bare)
    idle = [name for name in free if name not in taken]
    used_w = sum(job.licenses.get(WATTS, 0) for job in running)
    beyond_w = sum(max(power.idle_of(job.node_list) - job.licenses[WATTS], 0.0)
                   for job in running if WATTS in job.licenses)
    room_w = cap_w - power.active_of(bare) - used_w - beyond_w - power.idle_of(idle)
    held_w = _held_w(jobs)
    # Jobs that come before the next look are taken to draw as much as usual.
    parts = [_new_part(job.licenses[WATTS], job.nodes * power.least_idle_w) for job in waiting]
    usual = [_new_part(active_w, idle_w) for idle_w, active_w in power.kinds_w]
    part = max([*parts, *usual] if waiting else [1.0])
    if room_w <= 0.0 or part <= 0.0:
        return held_w + room_w
    for job in sorted(waiting, key=lambda job: (-job.priority, job.submit_s, job.job_id)):
        watts = job.licenses[WATTS]
        if (job.nodes <= len(idle) and watts - job.nodes * power.least_idle_w <= room_w
                and _lacks_watts_alone(job)):
            return held_w + max(room_w / part, watts)
    return held_w + room_w / part


def unattended_w(jobs: Iterable[SlurmJob], power: NodePower, cap_w: float) -> float:
    """How many licences jobs may hold together once nobody follows what they do.

    What the cap leaves above a machine without jobs: however jobs come and go, nodes beside them
    draw no more than that. Of jobs that run without licences, what is usual counts on each node,
    and licences for other nodes than these are given to their jobs beside.
    """
    jobs = list(jobs)
    running = _running(jobs, power)
    bare = {name for job in running if WATTS not in job.licenses for name in job.node_list}
    elsewhere_w = _held_w(jobs) - sum(job.licenses.get(WATTS, 0) for job in running)
    return (cap_w - power.idle_of(name for name in power.idle_w if name not in bare)
            - power.active_of(bare) + elsewhere_w)


def _running(jobs: Iterable[SlurmJob], power: NodePower) -> list[SlurmJob]:
    """Those that have nodes of ours, each as its part there."""
    return [job for job in (part_here(job, power.idle_w) for job in jobs
                            if job.state in (*ACTIVE, *STARTING, *ENDING)) if job.node_list]


def _held_w(jobs: Iterable[SlurmJob]) -> int:
    """All that Slurm has given out, wherever its jobs run."""
    return sum(job.licenses.get(WATTS, 0) for job in jobs
               if job.node_list and job.state in (*ACTIVE, *STARTING, *ENDING))


def _new_part(licences_w: float, idle_w: float) -> float:
    """Of a job's licences what its nodes did not draw before it."""
    return max(licences_w - idle_w, 0.0) / licences_w if licences_w > 0.0 else 0.0


def _lacks_watts_alone(job: SlurmJob) -> bool:
    """Whether Slurm has tried it and would start it first: others must not use its licences."""
    return job.reason == "Licenses" and set(job.licenses) == {WATTS}


@dataclass
class LicenceNet:
    """Keeps as many licences in use as watts are allowed, whoever removes what keeps them."""

    commands: Commands
    remarks: list[str] = field(default_factory=list)
    """What somebody should know, until it is taken away."""
    clock: Callable[[], float] = time.monotonic
    failed: str = ""
    """Why they do not follow the cap, as it was last said."""
    total: int = field(default=-1, init=False)
    taken: int = field(default=-1, init=False)
    """Those that the reservation holds; -1 where it is not known."""
    _looked_s: float = field(default=-math.inf, init=False)
    _short: bool = field(default=False, init=False)

    def allow(self, watts: float) -> None:
        """From now on jobs may hold so many; those that hold more keep what they have."""
        self._look_after()
        total = self.count()
        take = total - min(max(int(watts), 0), total)
        if take == self.taken:
            return
        self._take(take)
        self.taken = take

    def say_too_few(self, watts: float) -> None:
        """Once, where there are fewer of them than the cap leaves watts."""
        short = watts > self.count()
        if short and not self._short:
            self.remarks.append(
                f"the cap is {watts:,.0f} W and Slurm has {self.total:,} licences called {WATTS}: "
                f"some jobs will not start; slurm.conf needs Licenses={WATTS}:N, as high as the "
                "highest cap")
        self._short = short

    def left(self) -> int:
        """How many jobs may hold now, by what Slurm itself says."""
        return max(self.count() - (self._there() or 0), 0)

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

    def _look_after(self) -> None:
        """Others can remove the reservation, or configure another number: both are looked at."""
        now_s = self.clock()
        if now_s - self._looked_s < LOOK_S:
            return
        there = self._there()
        if self.taken >= 0 and (there or 0) != self.taken:
            self.remarks.append(
                f"somebody {'removed' if there is None else 'changed'} the reservation "
                f"{RESERVATION}, which keeps licences under the cap: it is put back")
            self.taken = -1
        self.total = -1
        self._looked_s = now_s

    def _there(self) -> int | None:
        """How many licences the reservation holds; None where there is no such reservation."""
        for line in self.commands.run("scontrol", "-o", "show", "reservation").splitlines():
            if f"ReservationName={RESERVATION}" in line.split():
                found = re.search(rf" Licenses=(?:\S*,)?{WATTS}:([0-9]+)", line)
                return 0 if found is None else int(found[1])
        return None

    def _take(self, count: int) -> None:
        there = self._there()
        if count == 0:
            if there is not None:
                self.commands.run("scontrol", "delete", f"ReservationName={RESERVATION}")
        elif there is not None:
            self.commands.run("scontrol", "update", f"ReservationName={RESERVATION}",
                              f"Licenses={WATTS}:{count}", LASTS)
        else:
            self.commands.run("scontrol", "create", "reservation",
                              f"ReservationName={RESERVATION}", "Flags=LICENSE_ONLY",
                              f"Licenses={WATTS}:{count}", "StartTime=now", LASTS, "Users=root")
