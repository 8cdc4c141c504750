"""Order of starts: in order, EASY and conservative, as docs/model.md has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.definitions.admissions import Unlimited, Verdict
from tests.support.definitions.plan import Plan
from tests.support.definitions.world import World

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
        plan = Plan(world, power.plans_watts and self.backfill, power.keeps_windows)
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
            if verdict is Verdict.START and (at_once or plan.has_watts(world.now_s, claim)):
                power.start(world, job)
                plan.add(world.now_s, claim)
            elif verdict is Verdict.STOP or (verdict is Verdict.WAIT and not self.backfill):
                return
            elif verdict is not Verdict.ASIDE and not head:
                head = True
                reserved = power.reserves(world, job)
                plan.add(plan.earliest_s(reserved), reserved, waits=True)


@dataclass
class Conservative:
    """Every job has a reservation from its arrival on, and none is made later but where what runs
    is not what was planned."""

    power: Unlimited = field(default_factory=Unlimited)
    planned: dict[int, float] = field(default_factory=dict)
    ends: dict[int, float] = field(default_factory=dict)
    """Expected ends of running jobs at the last decision."""
    units: int = -1
    """In order at the last decision."""

    def decide(self, world: World) -> None:
        in_order = sorted(self.planned, key=lambda job: (self.planned[job], job))
        running = {run.job for run in world.running}
        early = any(end_s > world.now_s for job, end_s in self.ends.items() if job not in running)
        changed = self.units not in (-1, world.in_order)
        late = any(start_s < world.now_s for start_s in self.planned.values())
        if late or changed:
            self.planned = {}
            for job in in_order:
                self._reserve(world, job)
        elif early:
            for job in in_order:
                if self.planned[job] > world.now_s:
                    del self.planned[job]
                    self._reserve(world, job)
        for job in sorted(set(world.waiting) - set(self.planned)):
            self._reserve(world, job)
        self._start_due(world)

    def _reserve(self, world: World, job: int) -> None:
        plan = Plan(world)
        for other, start_s in self.planned.items():
            plan.add(start_s, self.power.claim(world, other))
        self.planned[job] = plan.earliest_s(self.power.claim(world, job))

    def _start_due(self, world: World) -> None:
        for job in sorted(self.planned, key=lambda job: (self.planned[job], job)):
            if self.planned[job] <= world.now_s and world.units[job] <= world.free:
                del self.planned[job]
                world.start(job)
        self.ends = {run.job: run.expected_s for run in world.running}
        self.units = world.in_order
        world.wakes |= {t for t in self.planned.values() if world.now_s < t < float("inf")}
