"""The rule of an energy budget (docs/energy.md, "Energy budgets"), as it is documented.

Periods have joules, slots of a period have a price, and each slot gets a power from what the period
has left when the slot begins. A job starts if the plan of the slot, the cap and the joules of all
periods that its request touches have room for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tests.support.definitions.admissions import Adaptive, Verdict, drawn_w
from tests.support.definitions.plan import Plan
from tests.support.definitions.world import SLACK, World


@dataclass
class Period:
    """Joules drawn so far, what was saved before it, and requests of jobs that started in it."""

    begin_s: float
    saved_j: float = 0.0
    drawn_before_j: float = 0.0
    """By the machine up to its beginning."""
    charged_j: float = 0.0


@dataclass
class Budget(Adaptive):
    """Joules of a period, slots as (begin, price) from its beginning, and terms as they are called.
    """

    energy_j: float
    length_s: float
    slots: list[tuple[float, float]]
    carry: str = "forbid"
    unspent: str = "expire"
    periods: list[Period] = field(default_factory=list)
    slot_end_s: float = -math.inf
    slot_w: float = 0.0
    """The power that the slot of now is planned with."""
    expects_next_slot: bool = False
    """The reservation that is made now is for the next slot or later."""

    keeps_windows = False

    # ---- joules ------------------------------------------------------------------------------

    def idle_w(self, world: World) -> float:
        return world.total * world.idle_w

    def above_j(self, world: World) -> float:
        """What a period has beside the idle power of all nodes."""
        return self.energy_j - self.idle_w(world) * self.length_s

    def lasts_s(self, world: World, job: int, level: int) -> float:
        return world.requested_s[job] / self.speed[level]

    def drawn_by_j(self, world: World, time_s: float) -> float:
        """What the machine had drawn by a time since the last event, its power being the same."""
        return world.outcome.machine_j - self.power_before_w(world) * (world.now_s - time_s)

    def power_before_w(self, world: World) -> float:
        """The power of the time that has just passed."""
        return world.outcome.power_w[-1][1] if world.outcome.power_w else world.power_w

    def promised_j(self, world: World, from_s: float, to_s: float) -> float:
        """Idle nodes, and what running jobs draw above that, by their requests; one that is overdue
        may stay."""
        total_j = self.idle_w(world) * (to_s - from_s)
        for run in world.running:
            ends_s = run.expected_s if run.expected_s >= world.now_s else to_s
            above_w = max(run.power_w - run.idle_w, 0.0)
            total_j += above_w * max(min(ends_s, to_s) - from_s, 0.0)
        return total_j

    def has_joules(self, world: World, job: int, level: int) -> bool:
        """Does every period that the job touches keep its joules if it starts now?"""
        rise_w = world.above_idle_w(job) * self.dynamic[level]
        time_s = self.lasts_s(world, job, level)
        here = self.periods[-1]
        slack_j = 1e-9 * self.energy_j
        if self.carry == "charge-now":
            left_j = self.above_j(world) + here.saved_j - here.charged_j
            return rise_w * time_s <= left_j + slack_j
        edge_s = here.begin_s + self.length_s
        ends_s = world.now_s + time_s
        drawn_j = world.outcome.machine_j - here.drawn_before_j
        left_j = (self.energy_j + here.saved_j - drawn_j + slack_j
                  - self.promised_j(world, world.now_s, edge_s)
                  - rise_w * (min(ends_s, edge_s) - world.now_s))
        if left_j < 0.0 or self.carry == "allow":
            return left_j >= 0.0
        last_s = max([ends_s, *(run.expected_s for run in world.running)])
        while edge_s < last_s:
            spent_j = (self.promised_j(world, edge_s, edge_s + self.length_s)
                       + rise_w * max(min(ends_s - edge_s, self.length_s), 0.0))
            saved_j = left_j if self.unspent == "carry" else slack_j
            left_j = self.energy_j + saved_j - spent_j
            # What is saved is missing later also where the job itself is over by then.
            if left_j < 0.0 and (edge_s < ends_s or self.unspent == "carry"):
                return False
            edge_s += self.length_s
        return True

    def alone_has_joules(
        self, world: World, job: int, level: int, slot_s: float, saved_j: float
    ) -> bool:
        """Would it on an idle machine, from so long after the beginning of a period on?"""
        rise_w = world.above_idle_w(job) * self.dynamic[level]
        time_s = self.lasts_s(world, job, level)
        each_j = self.above_j(world)
        slack_j = 1e-9 * (each_j + saved_j + each_j)
        if self.carry == "charge-now":
            return rise_w * time_s <= each_j + saved_j + slack_j
        left_s = self.length_s - slot_s
        left_j = each_j + saved_j - rise_w * min(time_s, left_s) + slack_j
        time_s -= left_s
        while left_j >= 0.0 and time_s > 0.0 and self.carry == "forbid":
            kept_j = left_j if self.unspent == "carry" else slack_j
            left_j = each_j + kept_j - rise_w * min(time_s, self.length_s)
            time_s -= self.length_s
        return left_j >= 0.0

    def has_room(self, world: World, job: int, slot_s: float, saved_j: float) -> bool:
        """At some level, also under the highest cap."""
        return any(
            self.idle_w(world) + world.above_idle_w(job) * self.dynamic[level]
            <= world.highest_cap_w * (1 + SLACK)
            and self.alone_has_joules(world, job, level, slot_s, saved_j)
            for level in range(len(self.speed)))

    def refuses(self, world: World, job: int) -> bool:
        """No period has room for it, be it saved up for 10,000 periods."""
        saved_j = 10_000 * self.above_j(world) if self.unspent == "carry" else 0.0
        return super().refuses(world, job) or not any(
            self.has_room(world, job, slot_s, saved_j) for slot_s, _ in self.slots)

    # ---- the plan of the slot ------------------------------------------------------------------

    def begin(self, world: World) -> bool:
        while not self.periods or world.now_s >= self.periods[-1].begin_s + self.length_s:
            self._next_period(world)
        if world.now_s >= self.slot_end_s:
            self._plan(world)
        if any(not self.sets_aside(world, job, False) for job in world.waiting):
            world.wakes.add(self.slot_end_s)
        return True

    def _next_period(self, world: World) -> None:
        if not self.periods:
            self.periods.append(Period(world.now_s))
            return
        last = self.periods[-1]
        edge_s = last.begin_s + self.length_s
        drawn_j = self.drawn_by_j(world, edge_s)
        counted_j = drawn_j - last.drawn_before_j
        if self.carry == "charge-now":
            counted_j = self.idle_w(world) * self.length_s + last.charged_j
        saved_j = max(self.energy_j + last.saved_j - counted_j, 0.0)
        self.periods.append(Period(edge_s, saved_j if self.unspent == "carry" else 0.0, drawn_j))

    def slot(self, world: World) -> int:
        here_s = world.now_s - self.periods[-1].begin_s
        return max(at for at, (begin_s, _) in enumerate(self.slots) if begin_s <= here_s)

    def _plan(self, world: World) -> None:
        """Idle power for each slot; what is left goes to the cheapest first, up to full power."""
        here, now = self.periods[-1], self.slot(world)
        edges = [begin_s for begin_s, _ in self.slots] + [self.length_s]
        begun_s = here.begin_s + edges[now]
        self.slot_end_s = here.begin_s + edges[now + 1]
        drawn_j = self.drawn_by_j(world, begun_s) - here.drawn_before_j
        left_j = (self.energy_j + here.saved_j - drawn_j
                  - self.idle_w(world) * (self.length_s - edges[now]))
        runs_w = 0.0
        if self.carry == "charge-now":  # what runs is paid for
            left_j = self.above_j(world) + here.saved_j - here.charged_j
            power_w = world.power_w if begun_s == world.now_s else self.power_before_w(world)
            runs_w = max(power_w - self.idle_w(world), 0.0)
        most_w = world.total * (world.unit_w - world.idle_w)
        for at in sorted(range(now, len(self.slots)), key=lambda at: (self.slots[at][1], at)):
            lasts_s = edges[at + 1] - edges[at]
            given_j = min(max(left_j, 0.0), most_w * lasts_s)
            left_j -= given_j
            if at == now:
                full = given_j / lasts_s >= most_w * (1 - 1e-12)
                self.slot_w = (math.inf if full
                               else self.idle_w(world) + runs_w + given_j / lasts_s)

    # ---- who may start -------------------------------------------------------------------------

    def limit_w(self, world: World, time_s: float) -> float:
        """What the machine may draw: of later slots only the cap is known."""
        if self.expects_next_slot and time_s >= self.slot_end_s:
            return world.cap_w
        return min(self.slot_w, world.cap_w)

    def is_last_call(self, world: World, job: int) -> bool:
        """No later slot of this period could have it."""
        return not any(self.has_room(world, job, slot_s, self.periods[-1].saved_j)
                       for slot_s, _ in self.slots[self.slot(world) + 1:])

    def level(self, world: World, job: int) -> int | None:
        found = self._level_under(world, job, min(self.slot_w, world.cap_w))
        if found is None and self.is_last_call(world, job):
            found = self._level_under(world, job, world.cap_w)
        return found

    def _level_under(self, world: World, job: int, limit_w: float) -> int | None:
        """The highest level, the one at which all idle units would fit, or the lowest; where it has
        no joules the next one that has, lower ones first."""
        def fits(level: int) -> bool:
            claim = self.at_level(world, job, level)
            return drawn_w(world) + claim.watts <= limit_w * (1 + SLACK)

        above_w = world.free * (world.unit_w - world.idle_w)
        optimal = max((level for level, part in enumerate(self.dynamic)
                       if drawn_w(world) + above_w * part <= limit_w * (1 + SLACK)), default=0)
        top = len(self.speed) - 1
        chosen = next((level for level in (top, optimal, 0) if fits(level)), None)
        if chosen is None:
            return None
        return next((level for level in [*range(chosen, -1, -1), *range(chosen + 1, top + 1)]
                     if fits(level) and self.has_joules(world, job, level)), None)

    def admits(self, world: World, job: int) -> Verdict:
        return Verdict.WAIT if self.level(world, job) is None else Verdict.START

    def start(self, world: World, job: int) -> None:
        level = self.level(world, job)
        assert level is not None
        above_w = world.above_idle_w(job) * self.dynamic[level]
        self.periods[-1].charged_j += above_w * self.lasts_s(world, job, level)
        idle_w = world.units[job] * world.idle_w
        world.start(job, self.speed[level],
                    idle_w + (world.watts[job] - idle_w) * self.dynamic[level])

    # ---- the reservation of the first that waits -----------------------------------------------

    def not_before_s(self, world: World, job: int) -> float:
        """The next slot, where this one does not have its joules at any level, nor its watts before
        it ends, by the requests of running jobs."""
        ends_w = sum(max(run.power_w - run.idle_w, 0.0) for run in world.running
                     if run.expected_s < self.slot_end_s)
        needs_w = self.adds_w(world, job)
        has_watts = (drawn_w(world) - ends_w + needs_w
                     <= min(self.slot_w, world.cap_w) * (1 + SLACK))
        has_joules = any(self.has_joules(world, job, level) for level in range(len(self.speed)))
        return world.now_s if has_watts and has_joules else self.slot_end_s

    def expected_s(self, world: World, plan: Plan, job: int) -> float:
        not_before_s = self.not_before_s(world, job)
        self.expects_next_slot = not_before_s > world.now_s
        return plan.earliest_s(self.reserves(world, job), not_before_s)
