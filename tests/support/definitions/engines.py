"""The package's answers to the same cases: its simulation, and its books told event by event."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.definitions.world import Case, Outage, Outcome, Reading, World
from wattline.books import (
    Books,
    CapChanged,
    Ended,
    Measured,
    NodesDown,
    NodesUp,
    Reserved,
    Started,
    Submitted,
)
from wattline.books.opening import Terms
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.run import Run
from wattline.physics.powercap import PowerCap, WattReservation
from wattline.policies.admission.adaptive_setup import windows_of
from wattline.policies.admission.watts import Watts
from wattline.policies.contract import Composition


def watt_reservations(case: Case) -> tuple[WattReservation, ...]:
    return tuple(WattReservation(r.start_s, r.duration_s, r.watts, r.name)
                 for r in case.reservations if r.watts)


def watts_of(case: Case) -> Watts:
    """Watts as a resource, as a scenario makes it: reservations of watts are known beforehand."""
    plan = PowerCap(reservations=watt_reservations(case))
    return Watts(*windows_of(plan), case.machine.power_w_max)


def simulated(case: Case, policy: Composition) -> Run:
    return simulate(
        case.jobs, case.machine, policy,
        Rules(overrun=case.overrun, cap_w=case.cap_w, reservations=case.reservations))


def assert_same(run: Run, expected: Outcome) -> None:
    """Starts and ends to the bit, joules to nine digits."""
    assert run.schedule.start_s.tolist() == pytest.approx(expected.start_s, abs=0, nan_ok=True)
    assert run.schedule.end_s.tolist() == pytest.approx(expected.end_s, abs=0, nan_ok=True)
    assert run.schedule.energy_j.tolist() == pytest.approx(expected.energy_j, rel=1e-9, abs=1e-9)
    assert run.energy_j == pytest.approx(expected.machine_j, rel=1e-9)
    assert run.energy_above_cap_j == pytest.approx(expected.above_cap_j, rel=1e-9, abs=1e-6)


def assert_same_outcome(found: Outcome, expected: Outcome) -> None:
    assert found.start_s == pytest.approx(expected.start_s, abs=0, nan_ok=True)
    assert found.end_s == pytest.approx(expected.end_s, abs=0, nan_ok=True)
    assert found.energy_j == pytest.approx(expected.energy_j, rel=1e-9, abs=1e-9)
    assert found.machine_j == pytest.approx(expected.machine_j, rel=1e-9)


class ToldBooks:
    """Books that are told what happens in a world, and decide what starts there.

    A policy that plans caps is told of reservations of watts, and is made without any.
    """

    def __init__(self, case: Case, policy: Composition) -> None:
        self.case = case
        start_s = float(case.jobs.submit_s[0])
        first = World(case)
        self.books = Books.open(
            case.machine, policy, Terms(overrun=case.overrun),
            start_s=start_s, cap_w=np.inf if case.cap_w is None else case.cap_w.at(start_s),
            cap_w_max=first.highest_cap_w)
        self.submitted = 0
        self.ended: set[int] = set()

    def outcome(self) -> Outcome:
        world = World(self.case)
        found = world.run(self.decide)
        self.books.step(world.now_s, [])
        assert self.books.energy_j == pytest.approx(found.machine_j, rel=1e-9)
        return found

    def decide(self, world: World) -> None:
        decisions = self.books.step(world.now_s, [*self._begin(), *self._events(world)])
        assert not self.books.refused
        for each in decisions:
            if each.kind == "start":
                world.start(each.job, each.rate, each.power_w)
                self.books.apply(world.now_s, [Started(each.job)])
            elif each.kind == "refuse":
                world.waiting.remove(each.job)
            elif each.kind == "level":
                for run in world.running:
                    world.set_rate(run, each.rate, world.watts[run.job] * each.power_w)
            else:
                assert each.kind == "wake", each
        assert self.books.power_w == pytest.approx(world.power_w, rel=1e-9)
        wake_s = self.books.next_s()
        if wake_s < np.inf:
            world.wakes.add(wake_s)

    def _begin(self) -> list[Reserved]:
        """All reservations are told at the beginning."""
        if self.submitted:
            return []
        return [Reserved(r.name, r.start_s, r.duration_s, r.nodes, r.watts)
                for r in self.case.reservations]

    def _events(self, world: World):
        for job, end_s in enumerate(world.outcome.end_s):
            if end_s <= world.now_s and job not in self.ended:
                self.ended.add(job)
                yield Ended(job)
        for event in self.case.told:
            if event.time_s != world.now_s or world.asked_again:
                continue
            if isinstance(event, Outage):
                yield NodesDown(event.units) if event.units > 0 else NodesUp(-event.units)
            elif isinstance(event, Reading) and any(r.job == event.job for r in world.running):
                yield Measured(event.watts, event.job)
        if self.case.cap_w is not None and not world.asked_again and (
                world.now_s in self.case.cap_w.time_s):
            yield CapChanged(self.case.cap_w.at(world.now_s))
        while (self.submitted < len(self.case.jobs)
               and world.submit_s[self.submitted] <= world.now_s):
            job = self.submitted
            self.submitted += 1
            yield Submitted(job, units=world.units[job], requested_s=world.requested_s[job],
                            watts=world.watts[job])
