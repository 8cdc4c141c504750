"""The power rules: may this job start now, and what does it mean for the others where it may not.

Each is asked in the order of the queue about a job that has its units; the rules are those of
docs/model.md, docs/puppet.md and docs/policies.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tests.support.definitions.plan import Claim, Plan
from tests.support.definitions.world import SLACK, World


class Verdict(Enum):
    """`STOP`: neither this job nor one behind it; `ASIDE`: it leaves the queue; `WAIT`: it waits
    as one does that lacks units."""

    START = 1
    STOP = 2
    ASIDE = 3
    WAIT = 4


def drawn_w(world: World, least: float = 1.0) -> float:
    """The machine's power where each job counts at least what its units idle; `least` is a factor
    on the power that jobs have at full speed."""
    return world.idle_on_w + sum(
        max(run.power_w if least == 1.0 else world.watts[run.job] * least, run.idle_w)
        for run in world.running)


class Unlimited:
    """Power is measured, not limited."""

    plans_watts = False
    """Does backfilling plan watts beside units?"""
    keeps_windows = False
    """Does no job start that would run into a reservation of watts?"""

    def refuses(self, world: World, job: int) -> bool:
        return False

    def sets_aside(self, world: World, job: int, planning: bool) -> bool:
        """Has the cap no room for the job, even alone on the machine? `planning`: the end of a
        reservation of watts is known and waited for."""
        return False

    def begin(self, world: World) -> bool:
        """May the queue be tried at all?"""
        return True

    def admits(self, world: World, job: int) -> Verdict:
        return Verdict.START

    def claim(self, world: World, job: int) -> Claim:
        """Return what the job takes of the plan, if it started now."""
        return Claim(world.lasts_s(job), world.units[job])

    def reserves(self, world: World, job: int) -> Claim:
        """Claim that is reserved for the job that waits."""
        return Claim(world.kept_s(job), world.units[job])

    def limit_w(self, world: World, time_s: float) -> float:
        """What the machine may draw at a time, as far as is known."""
        return world.cap_at(time_s)

    def expected_s(self, world: World, plan: Plan, job: int) -> float:
        """When the first job that waits has what is reserved for it."""
        return plan.earliest_s(self.reserves(world, job))

    def start(self, world: World, job: int) -> None:
        world.start(job)

    def settle(self, world: World) -> None:
        """After the decision."""


class Block(Unlimited):
    """A job that would take the machine over the cap does not start, and nobody behind it does."""

    def refuses(self, world: World, job: int) -> bool:
        """It could never start, not even alone on the whole machine under the highest cap."""
        alone_w = world.idle_of_w(world.total) + self.adds_w(world, job)
        return alone_w > world.highest_cap_w * (1 + SLACK)

    def adds_w(self, world: World, job: int) -> float:
        """Return what the cap must have for the job at least, beside the idle power of its
        units."""
        return world.least_above_idle_w(job)

    def alone_w(self, world: World, job: int) -> float:
        """The machine's power with this job and nothing else, as many units as are in order."""
        return world.idle_of_w(max(world.in_order, world.units[job])) + self.adds_w(world, job)

    def fits(self, world: World, job: int) -> bool:
        return drawn_w(world) + world.above_idle_w(job) <= world.cap_w * (1 + SLACK)

    def admits(self, world: World, job: int) -> Verdict:
        return Verdict.START if self.fits(world, job) else Verdict.STOP


@dataclass
class Wait(Block):
    """A job over the cap goes aside, up to `slots` of them; one that has stood there longer than
    `wait_s` lets nobody pass until it starts."""

    wait_s: float
    slots: int
    aside: list[tuple[int, float]] = field(default_factory=list)

    def begin(self, world: World) -> bool:
        for job, since_s in list(self.aside):
            if (world.units[job] <= world.free and self.fits(world, job)
                    and Plan(world).has_units(world.now_s, self.claim(world, job))):
                self.aside.remove((job, since_s))
                world.start(job)
            elif world.now_s > since_s + self.wait_s:
                return False
        return True

    def sets_aside(self, world: World, job: int, planning: bool) -> bool:
        return any(job == other for other, _ in self.aside)

    def admits(self, world: World, job: int) -> Verdict:
        if self.fits(world, job):
            return Verdict.START
        if len(self.aside) >= self.slots:
            return Verdict.STOP
        self.aside.append((job, world.now_s))
        world.wakes.add(world.now_s + self.wait_s)
        return Verdict.ASIDE


class Watts(Block):
    """Watts are a resource beside units: who lacks them waits, with a reservation in both."""

    plans_watts = True

    def sets_aside(self, world: World, job: int, planning: bool) -> bool:
        cap_w = world.cap_w
        if planning:
            ends = [r.end_s for r in world.case.reservations if r.watts and r.end_s > world.now_s]
            cap_w = max([cap_w, *(world.cap_at(end_s) for end_s in ends)])
        return self.alone_w(world, job) > cap_w * (1 + SLACK)

    def admits(self, world: World, job: int) -> Verdict:
        return Verdict.START if self.fits(world, job) else Verdict.WAIT

    def claim(self, world: World, job: int) -> Claim:
        return Claim(world.lasts_s(job), world.units[job], world.above_idle_w(job))

    def reserves(self, world: World, job: int) -> Claim:
        return Claim(world.kept_s(job), world.units[job], world.kept_above_idle_w(job))


@dataclass
class Dvfs(Block):
    """A job may start if the machine can carry it at the lowest level; then all processors go at
    the highest level that stays under the cap."""

    speed: list[float]
    factor: list[float]
    latency_s: float = 0.0
    level: int = -1

    def adds_w(self, world: World, job: int) -> float:
        return max(world.watts[job] * self.factor[0] - world.units[job] * world.idle_w, 0.0)

    def sets_aside(self, world: World, job: int, planning: bool) -> bool:
        return self.alone_w(world, job) > world.cap_w * (1 + SLACK)

    def fits(self, world: World, job: int) -> bool:
        with_job_w = drawn_w(world, self.factor[0]) + self.adds_w(world, job)
        return with_job_w <= world.cap_w * (1 + SLACK)

    def claim(self, world: World, job: int) -> Claim:
        return Claim(world.requested_s[job] / self.speed[self.level], world.units[job])

    reserves = claim

    def start(self, world: World, job: int) -> None:
        world.start(job, self.speed[self.level], world.watts[job] * self.factor[self.level])

    def settle(self, world: World) -> None:
        fitting = [level for level in range(len(self.speed))
                   if self._drawn_at_w(world, level) <= world.cap_w * (1 + SLACK)]
        level = max(fitting, default=0)
        if self.speed[level] != self.speed[self.level]:
            self.level = level
            for run in world.running:
                world.set_rate(run, self.speed[level], world.watts[run.job] * self.factor[level])

    def _drawn_at_w(self, world: World, level: int) -> float:
        on = world.free + sum(world.held)
        return on * world.idle_w + sum(
            world.watts[run.job] * self.factor[level] for run in world.running)


@dataclass
class Adaptive(Watts):
    """A job starts at its highest frequency if the cap allows it, else at the optimal one, else at
    its lowest (docs/energy.md), or lower where a reservation of watts asks for it."""

    speed: list[float]
    dynamic: list[float]
    """Power above idle at each level, relative to that at full speed."""

    keeps_windows = True

    def adds_w(self, world: World, job: int) -> float:
        return world.above_idle_w(job) * self.dynamic[0]

    def at_level(self, world: World, job: int, level: int) -> Claim:
        return Claim(world.requested_s[job] / self.speed[level], world.units[job],
                     world.above_idle_w(job) * self.dynamic[level])

    def optimal(self, world: World) -> int:
        """The highest level at which all idle units could be given to jobs under the cap."""
        above_w = world.free * (world.unit_w - world.idle_w)
        fitting = [level for level, part in enumerate(self.dynamic)
                   if drawn_w(world) + above_w * part <= world.cap_w * (1 + SLACK)]
        return max(fitting, default=0)

    def level(self, world: World, job: int) -> int | None:
        """None: it waits."""
        for level in (len(self.speed) - 1, self.optimal(world), 0):
            claim = self.at_level(world, job, level)
            if drawn_w(world) + claim.watts <= world.cap_w * (1 + SLACK):
                keeps = Plan(world).keeps_windows_with
                return next((lower for lower in range(level, -1, -1)
                             if keeps(world.now_s, self.at_level(world, job, lower))), None)
        return None

    def admits(self, world: World, job: int) -> Verdict:
        return Verdict.WAIT if self.level(world, job) is None else Verdict.START

    def claim(self, world: World, job: int) -> Claim:
        level = self.level(world, job)
        return self.at_level(world, job, level or 0)

    def reserves(self, world: World, job: int) -> Claim:
        return self.at_level(world, job, 0)

    def start(self, world: World, job: int) -> None:
        level = self.level(world, job) or 0
        idle_w = world.units[job] * world.idle_w
        world.start(job, self.speed[level],
                    idle_w + (world.watts[job] - idle_w) * self.dynamic[level])
