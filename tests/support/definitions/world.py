"""An event loop of its own: exact events, power integrated between them, one decision an instant.

The rules are those of docs/model.md (time and events, jobs, power and energy) and docs/books.md
(events that books are told). Whoever decides calls `start` and `set_rate`; all else happens here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.reservation import Reservation
from wattline.model.signal import Signal

SLACK = 1e-9
"""Powers are compared with the cap with this relative slack."""


@dataclass(frozen=True)
class Outage:
    """So many units go out of order, or (negative) come back."""

    time_s: float
    units: int


@dataclass(frozen=True)
class Reading:
    """Measured power of a job, if it runs then."""

    time_s: float
    job: int
    watts: float


@dataclass(frozen=True)
class Case:
    """Jobs, machine and all that happens to them."""

    jobs: JobTable
    machine: Machine
    cap_w: Signal | None = None
    reservations: tuple[Reservation, ...] = ()
    overrun: str = "extend"
    told: tuple[Outage | Reading, ...] = ()


@dataclass
class Running:
    """A running job."""

    job: int
    units: int
    idle_w: float
    """What its units draw idle."""
    power_w: float
    rate: float
    start_s: float
    end_s: float
    """Time at which its work is done at this rate."""
    expected_s: float
    """Time at which its requested time is over at this rate."""


@dataclass
class Outcome:
    """Starts, ends and energies by job, and the machine's power over time."""

    start_s: list[float]
    end_s: list[float]
    energy_j: list[float]
    machine_j: float = 0.0
    above_cap_j: float = 0.0
    power_w: list[tuple[float, float]] = field(default_factory=list)


class World:
    """The machine as it is, and as far as it is known what will be."""

    def __init__(self, case: Case) -> None:
        jobs, self.case = case.jobs, case
        self.total = case.machine.node_count
        self.idle_w, self.unit_w = self.equal_units_w(case.machine)
        self.units = [int(n) for n in jobs.procs]
        self.watts = [w if not math.isnan(w) else n * self.unit_w
                      for w, n in zip(jobs.power_w.tolist(), self.units, strict=True)]
        self.requested_s = jobs.requested_s.tolist()
        self.submit_s = jobs.submit_s.tolist()
        self.now_s = self.submit_s[0]
        self.broken = 0
        self.running: list[Running] = []
        self.waiting: list[int] = []
        self.refused: set[int] = set()
        self.held = [0] * len(case.reservations)
        """Units that each reservation has."""
        self.wakes: set[float] = set()
        self.asked_again = False
        """In another instant at the same time: jobs of no length have ended."""
        self.outcome = Outcome(*([math.nan] * len(jobs) for _ in range(2)), [0.0] * len(jobs))

    def equal_units_w(self, machine: Machine) -> tuple[float, float]:
        """Power of a unit, idle and busy; another world may have units that differ."""
        (group,) = machine.groups
        return group.node_class.power_w_idle, group.node_class.power_w_active

    # The machine now

    @property
    def in_order(self) -> int:
        return self.total - self.broken

    @property
    def free(self) -> int:
        """Units that a job may have; those that broke under jobs and reservations are owed."""
        busy = sum(run.units for run in self.running)
        return max(self.in_order - busy - sum(self.held), 0)

    @property
    def power_w(self) -> float:
        return sum(run.power_w for run in self.running) + self.idle_on_w

    @property
    def idle_on_w(self) -> float:
        """Power of units that no job has."""
        return (self.free + sum(self.held)) * self.idle_w

    def idle_of_w(self, units: int) -> float:
        """Power of the machine with so many units on and nothing that runs."""
        return units * self.idle_w

    def cap_at(self, time_s: float, windows: bool = True) -> float:
        """The cap that holds now, less what is reserved at a time: later steps nobody knows."""
        if self.case.cap_w is None:
            return math.inf
        return self.case.cap_w.at(self.now_s) - windows * sum(
            r.watts for r in self.case.reservations if r.start_s <= time_s < r.end_s)

    @property
    def cap_w(self) -> float:
        return self.cap_at(self.now_s)

    @property
    def highest_cap_w(self) -> float:
        """The highest cap of the whole run."""
        cap = self.case.cap_w
        if cap is None:
            return math.inf
        times = {self.submit_s[0], *cap.time_s.tolist(),
                 *(t for r in self.case.reservations if r.watts for t in (r.start_s, r.end_s))}
        return max(cap.at(t) - sum(r.watts for r in self.case.reservations
                                   if r.start_s <= t < r.end_s)
                   for t in times if t >= self.submit_s[0])

    def above_idle_w(self, job: int) -> float:
        """Return what a cap must have for a job beside the idle power of its units."""
        return max(self.watts[job] - self.units[job] * self.idle_w, 0.0)

    def least_above_idle_w(self, job: int) -> float:
        """The same on the units where it is least."""
        return self.above_idle_w(job)

    def kept_above_idle_w(self, job: int) -> float:
        """The same for the first job that waits, which does not have its units yet."""
        return self.above_idle_w(job)

    def lasts_s(self, job: int) -> float:
        """How long it may take on the units that it would get."""
        return self.requested_s[job]

    def kept_s(self, job: int) -> float:
        """The same for a job that does not have its units yet."""
        return self.requested_s[job]

    # What a decision does

    def start(self, job: int, rate: float = 1.0, power_w: float | None = None) -> Running:
        work_s = float(self.case.jobs.run_s[job])
        if self.case.overrun == "kill":
            work_s = min(work_s, self.requested_s[job])
        run = Running(job, self.units[job], self.units[job] * self.idle_w,
                      self.watts[job] if power_w is None else power_w, rate, self.now_s,
                      self.now_s + work_s / rate,
                      self.now_s + self.requested_s[job] / rate)
        self.waiting.remove(job)
        self.running.append(run)
        self.outcome.start_s[job] = self.now_s
        return run

    def set_rate(self, run: Running, rate: float, power_w: float) -> None:
        """Go on at another speed and power; what is left of the requested time is stretched."""
        run.end_s = self.now_s + (run.end_s - self.now_s) * run.rate / rate
        if run.expected_s > self.now_s:
            run.expected_s = self.now_s + (run.expected_s - self.now_s) * run.rate / rate
        run.rate, run.power_w = rate, power_w

    # Events

    def run(self, decide: Callable[[World], None],
            refuses: Callable[[World, int], bool] = lambda world, job: False) -> Outcome:
        """Go from instant to instant until every job is done or nothing is to come."""
        arrived = 0
        times = self._known_times()
        while True:
            self._end_jobs()
            self._break_and_repair()
            self._fill_reservations()
            if not self.asked_again:
                self._read_meters()
            while arrived < len(self.units) and self.submit_s[arrived] <= self.now_s:
                if refuses(self, arrived):
                    self.refused.add(arrived)
                else:
                    self.waiting.append(arrived)
                arrived += 1
            decide(self)
            self.wakes = {t for t in self.wakes if t > self.now_s}
            if arrived == len(self.units) and not self.waiting and not self.running:
                break
            to_come = [*(run.end_s for run in self.running), *self.wakes,
                       *(t for t in times if t > self.now_s)]
            if not to_come:
                break
            self._pass_time(min(to_come))
        return self.outcome

    def _known_times(self) -> set[float]:
        case = self.case
        return {*self.submit_s, *(event.time_s for event in case.told),
                *(case.cap_w.time_s.tolist() if case.cap_w else ()),
                *(t for r in case.reservations for t in (r.start_s, r.end_s))}

    def _pass_time(self, time_s: float) -> None:
        lasts_s, power_w, out = time_s - self.now_s, self.power_w, self.outcome
        if lasts_s > 0:
            out.machine_j += power_w * lasts_s
            if power_w > self.cap_w * (1 + SLACK):
                out.above_cap_j += (power_w - self.cap_w) * lasts_s
            if not out.power_w or out.power_w[-1][1] != power_w:
                out.power_w.append((self.now_s, power_w))
        for run in self.running:
            out.energy_j[run.job] += run.power_w * lasts_s
        self.asked_again = time_s == self.now_s
        self.now_s = time_s

    def _end_jobs(self) -> None:
        for run in [run for run in self.running if run.end_s <= self.now_s]:
            self.running.remove(run)
            self.outcome.end_s[run.job] = self.now_s

    def _break_and_repair(self) -> None:
        self.broken = sum(event.units for event in self.case.told
                          if isinstance(event, Outage) and event.time_s <= self.now_s)

    def _fill_reservations(self) -> None:
        """At its end a reservation gives all back; while it lasts it takes what is free."""
        for row, wish in enumerate(self.case.reservations):
            if not wish.start_s <= self.now_s < wish.end_s:
                self.held[row] = 0
        for row in sorted(range(len(self.held)), key=lambda r: self.case.reservations[r].start_s):
            wish = self.case.reservations[row]
            if wish.start_s <= self.now_s < wish.end_s:
                self.held[row] += min(wish.nodes - self.held[row], self.free)

    def _read_meters(self) -> None:
        for event in self.case.told:
            if isinstance(event, Reading) and event.time_s == self.now_s:
                for run in self.running:
                    if run.job == event.job:
                        run.power_w = event.watts
