"""Order of starts: in order, EASY and conservative, as docs/model.md has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.definitions.admissions import Unlimited, Verdict
from tests.support.definitions.plan import Claim, Plan
from tests.support.definitions.world import SLACK, World

Key = Callable[[World, int], float]


def fcfs(world: World, job: int) -> float:
    return world.submit_s[job]


def sjf(world: World, job: int) -> float:
    return world.requested_s[job]


@dataclass(frozen=True)
class Multifactor:
    """A weighted sum of age and size; the age counts up to `age_max_s`."""

    age: float
    size: float
    age_max_s: float

    def __call__(self, world: World, job: int) -> float:
        age = min((world.now_s - world.submit_s[job]) / self.age_max_s, 1.0)
        return -(self.age * age + self.size * (world.units[job] / world.total))


@dataclass
class Easy:
    """The first job that has to wait gets a reservation (with `backfill`); later ones may start
    where they do not delay it. Without, nobody passes it."""

    power: Unlimited
    order: Key = fcfs
    backfill: bool = True

    def decide(self, world: World) -> None:
        if self.power.begin(world):
            self._pass(world)
        self.power.settle(world)

    def _pass(self, world: World) -> None:
        power = self.power
        plan = Plan(world, power.plans_watts and self.backfill, power.keeps_windows,
                    lambda time_s: power.limit_w(world, time_s))
        head = False
        for job in sorted(world.waiting, key=lambda job: (self.order(world, job), job)):
            if power.sets_aside(world, job, self.backfill):
                continue
            if world.units[job] > world.in_order and self.backfill:
                continue
            claim = power.claim(world, job)
            verdict = Verdict.WAIT
            at_once = claim.lasts_s == 0  # it delays nobody
            if world.units[job] <= world.free and (
                    at_once or plan.has_units(world.now_s, claim)):
                verdict = power.admits(world, job)
            if verdict is Verdict.START and (at_once or plan.has_watts(world.now_s, claim, True)):
                power.start(world, job)
                plan.add(world.now_s, claim)
            elif verdict is Verdict.STOP or (verdict is Verdict.WAIT and not self.backfill):
                return
            elif verdict is not Verdict.ASIDE and not head:
                head = True
                plan.add(power.expected_s(world, plan, job), power.reserves(world, job),
                         waits=True)


@dataclass
class Conservative:
    """Every job has a reservation of units from its arrival on, and none is made later but where
    what runs is not what was planned. Watts are asked for at a start; the first job whose time has
    come and that lacks them gets a reservation of both as EASY makes it.
    """

    power: Unlimited = field(default_factory=Unlimited)
    planned: dict[int, float] = field(default_factory=dict)
    ends: dict[int, float] = field(default_factory=dict)
    """Expected ends of running jobs at the last decision."""
    cap_w: float = math.inf
    units: int = -1
    """The cap, and units in order, at the last decision."""
    aside: set[int] = field(default_factory=set)

    def decide(self, world: World) -> None:
        queue = [job for job in world.waiting if not self.power.sets_aside(world, job, True)]
        self._plan(world, queue)
        self._start_due(world)
        self.ends = {run.job: run.expected_s for run in world.running}
        self.cap_w, self.units = world.cap_w, world.in_order
        self._wake_at_next_start(world)

    def _plan(self, world: World, queue: list[int]) -> None:
        in_order = sorted(self.planned.keys() & set(queue), key=self._place)
        running = {run.job for run in world.running}
        early = any(end_s > world.now_s for job, end_s in self.ends.items() if job not in running)
        late = any(start_s < world.now_s for start_s in self.planned.values())
        back = [job for job in queue if job in self.aside]
        if late or (self.units != -1 and self._changed(world)):
            self.planned = {}
            for job in sorted(queue) if back else in_order:
                self._reserve(world, job)
        elif early:
            for job in in_order:
                if self.planned[job] > world.now_s:
                    before_s = self.planned.pop(job)
                    self._reserve(world, job)
                    self.planned[job] = min(self.planned[job], before_s)
        for job in sorted(set(queue) - set(self.planned)):
            self._reserve(world, job)
        self.aside = set(world.waiting) - set(queue)

    def _changed(self, world: World) -> bool:
        return self.units != world.in_order or (
            self.power.plans_watts and self.cap_w != world.cap_w)

    def _place(self, job: int) -> tuple[float, int]:
        return self.planned[job], job

    def _reserve(self, world: World, job: int) -> None:
        plan = Plan(world)
        for other, start_s in self.planned.items():
            plan.add(start_s, Claim(world.requested_s[other], world.units[other]))
        self.planned[job] = plan.earliest_s(Claim(world.requested_s[job], world.units[job]),
                                            self._has_cap_s(world, job))

    def _has_cap_s(self, world: World, job: int) -> float:
        """Since when the cap has room for the job alone: now, or the end of a reservation."""
        if not self.power.sets_aside(world, job, False):
            return world.now_s
        ends = sorted(r.end_s for r in world.case.reservations if r.end_s > world.now_s)
        return next((end_s for end_s in ends
                     if self.power.alone_w(world, job) <= world.cap_at(end_s) * (1 + SLACK)),
                    math.inf)

    def _first_that_waits_for_watts(self, world: World) -> Plan | None:
        """A plan with nodes and watts for the first job that waits for an end of reserved watts."""
        for job in sorted(self.planned, key=self._place):
            if self._has_cap_s(world, job) > world.now_s:
                plan, claim = Plan(world, True), self.power.reserves(world, job)
                plan.add(plan.earliest_s(claim, self._has_cap_s(world, job)), claim, waits=True)
                return plan
        return None

    def _start_due(self, world: World) -> None:
        plan = self._first_that_waits_for_watts(world)
        for job in sorted(self.planned, key=self._place):
            if self.planned[job] > world.now_s:
                break
            claim = self.power.claim(world, job)
            if plan is not None and not (claim.lasts_s == 0 or (
                    plan.has_units(world.now_s, claim) and plan.has_watts(world.now_s, claim))):
                continue
            if world.units[job] > world.free:
                continue
            if self.power.admits(world, job) is Verdict.START:
                del self.planned[job]
                self.power.start(world, job)
                if plan is not None:
                    plan.add(world.now_s, claim)
            elif plan is None:
                plan = Plan(world, True)
                plan.add(plan.earliest_s(claim), claim, waits=True)

    def _wake_at_next_start(self, world: World) -> None:
        """A planned start is an instant, but where a job is sure to end then if not before."""
        later_s = min((t for t in self.planned.values() if t > world.now_s), default=math.inf)
        sure = world.case.overrun == "kill" and later_s in self.ends.values()
        if later_s < math.inf and not sure:
            world.wakes.add(later_s)
