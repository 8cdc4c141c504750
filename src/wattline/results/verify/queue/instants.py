"""Jobs that run and jobs that wait at each instant of a run, and what is free for whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.promises import BUDGET, PLANNED, QueueRule
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import by_job
from wattline.results.verify.pace import due_s
from wattline.results.verify.queue.classes import Classes
from wattline.results.verify.queue.free_units import FreeUnits
from wattline.results.verify.queue.orders import Key, tied
from wattline.results.verify.queue.speed import CommonSpeed

MOST_CELLS = 60_000_000
"""So many jobs are looked at, over all instants, before instants are left out..."""
MOST_DECISIONS = 100_000
"""...and so many instants: ten or twenty seconds."""
SLOWER = 40
"""A job looked at counts as so many where each is tried alone: on several classes of nodes, or
around reserved units."""
NEAR = 1e-9
"""Relative: watts, and times that are sums, that are closer than this count as equal, for or
against nobody."""


@dataclass(eq=False)
class Known:
    """Facts known of all jobs of a run, by row."""

    run: Run
    key: Key
    rule: QueueRule
    classes: Classes = field(init=False)
    speed: CommonSpeed = field(init=False)
    ready_s: FloatArray = field(init=False)
    own_due_s: FloatArray = field(init=False)
    """When each one that started is gone if it takes all the time it asked for."""
    held_w: FloatArray = field(init=False)
    """Watts above the idle power of its units while it runs, by the log."""
    idle_w: float = field(init=False)
    rounds: bool = field(init=False)
    """True where times of ends are worked out from speeds, and not to the last bit."""

    def __post_init__(self) -> None:
        run = self.run
        self.speed = CommonSpeed(run, self.rule)
        self.classes = Classes(run, _lowest(run), self.rule.least_power)
        self.idle_w = self.classes.machine_idle_w
        self.ready_s = join_s(run)
        self.rounds = self.speed.changes or bool((self.classes.slowness != 1.0).any())
        asked_s = due_s(run) - run.schedule.start_s
        self.own_due_s = run.schedule.start_s + asked_s * self.classes.slowness
        self.held_w = np.zeros(len(run.jobs))
        rows = by_job(run, (EventKind.START,))
        job = run.events.job[rows]
        if self.rule.least_power < 1.0:  # all jobs may be slowed to that: no more is held for them
            self.held_w[job] = self.classes.rise_w[job]
        else:
            self.held_w[job] = np.maximum(run.events.value[rows] - self.classes.idle_w[job], 0.0)

    def due_s(self, jobs: IntArray, now_s: float) -> FloatArray:
        """When these jobs are gone by their requests and the speeds of now."""
        if not self.speed.changes:
            return self.own_due_s[jobs]
        takes_s = self.run.jobs.requested_s[jobs] * self.classes.slowness[jobs]
        return self.speed.due_s(self.run.schedule.start_s[jobs], takes_s, now_s)

    def cap_w(self, now_s: float) -> float:
        has_cap = self.run.cap_w is not None and bool(self.rule.power)
        return self.run.cap_w.at(now_s) if has_cap and self.run.cap_w is not None else np.inf

    def in_order(self, jobs: IntArray, now_s: float) -> IntArray:
        if jobs.size < 2:
            return jobs
        return jobs[np.lexsort((jobs, self.key(self.run, jobs, now_s)))]

    def name(self, job: int) -> int:
        return int(self.run.jobs.job_id[job])

    def later(self, one_s: float, other_s: float) -> bool:
        """Say whether a time is later than another by more than the rounding of both."""
        slack_s = NEAR * max(abs(other_s), 1.0) if self.rounds and np.isfinite(other_s) else 0.0
        return bool(one_s > other_s + slack_s)


def join_s(run: Run) -> FloatArray:
    """When each job joined the queue; never for one that was refused, or waits for such a one."""
    after = run.jobs.after_job
    first = np.maximum(after, 0)
    freed_s = np.where(run.ran[first], run.schedule.end_s[first] + run.jobs.think_s,
                       np.where(run.refused[first], -np.inf, np.inf))
    ready_s = np.where(after == NO_JOB, run.jobs.submit_s,
                       np.maximum(run.jobs.submit_s, freed_s))
    return np.where(run.refused, np.inf, ready_s)


def _lowest(run: Run) -> FloatArray | float:
    """Power above idle at the lowest frequency that each job allows, relative to full speed."""
    ladder = run.promises.frequencies
    if ladder is None:
        return 1.0
    low_hz, _ = ladder.allowed()
    return np.asarray(ladder.dynamic[np.searchsorted(ladder.frequency_hz, low_hz)])


@dataclass(eq=False)
class Instant:
    """Jobs that run and jobs that wait after all events of one time."""

    known: Known
    now_s: float
    runs: IntArray
    waits: IntArray
    """In the order of the queue; without those that the cap of now could never let start."""
    began: IntArray
    cap_w: float

    @property
    def slack_w(self) -> float:
        return NEAR * self.cap_w if np.isfinite(self.cap_w) else 0.0

    @property
    def head(self) -> int:
        return int(self.waits[0]) if self.waits.size else NO_JOB

    @cached_property
    def passed(self) -> IntArray:
        """Jobs that began now and stand behind the head."""
        if not self.waits.size or not self.began.size:
            return self.began[:0]
        both = self.known.in_order(np.append(self.began, self.head), self.now_s)
        return both[int(np.flatnonzero(both == self.head)[0]) + 1:]

    @cached_property
    def before(self) -> IntArray:
        """Jobs that run, but for those that have just passed the head."""
        passed = self.passed
        return self.runs[~np.isin(self.runs, passed)] if passed.size else self.runs

    @cached_property
    def is_tied(self) -> bool:
        """True where rounding decides who is the head, or who passes it."""
        known = self.known
        others = np.append(self.waits[1:], self.began)
        return bool(tied(known.key, known.run, self.head, others, self.now_s).any())

    @cached_property
    def overdue(self) -> bool:
        """True where a job runs on past the time that it asked for."""
        return bool((self.known.due_s(self.runs, self.now_s) < self.now_s).any())

    def reserved(self) -> list[tuple[float, float, int]]:
        """Windows of reserved units that are not over: from when, to when, how many."""
        return [(each.start_s, each.end_s, each.nodes) for each in self.known.run.reservations
                if each.nodes and each.end_s > self.now_s]

    def free_units(self, runs: IntArray) -> int:
        """Units that are neither with these jobs nor reserved now."""
        run = self.known.run
        kept = sum(units for start_s, _, units in self.reserved() if start_s <= self.now_s)
        return run.units - int(run.schedule.nodes[runs].sum()) - kept

    def free_w(self, runs: IntArray) -> float:
        """Watts that these jobs leave under the cap."""
        return self.cap_w - self.known.idle_w - float(self.known.held_w[runs].sum())

    def need_w(self, job: int, runs: IntArray) -> float:
        """Watts above idle that a job needs to start beside these."""
        return self.known.classes.need_w(job, runs, self.free_w(runs) + self.slack_w)

    def time_s(self, job: int, runs: IntArray) -> float:
        """The time that a job takes by its request if it starts now beside these."""
        asked_s = float(self.known.run.jobs.requested_s[job])
        stretch = self.known.classes.stretch(job, runs, self.free_w(runs) + self.slack_w)
        return asked_s * stretch / self.known.speed.at(self.now_s)

    def plan(self, runs: IntArray) -> FreeUnits | None:
        """Free units over time beside these jobs; None where no units are reserved."""
        windows = self.reserved()
        if not windows:
            return None
        run = self.known.run
        plan = FreeUnits(run.units)
        gone_s = np.maximum(self.known.due_s(runs, self.now_s), self.now_s).tolist()
        for end_s, units in zip(gone_s, run.schedule.nodes[runs].tolist(), strict=True):
            plan.add(self.now_s, end_s, units)
        for start_s, end_s, units in windows:
            plan.add(max(start_s, self.now_s), end_s, units)
        return plan

    @cached_property
    def beside_head(self) -> FreeUnits | None:
        """Free units over time beside all that run, and the head from its earliest start on."""
        plan, at_s = self.plan(self.runs), self.shadow_now[0]
        if plan is not None and at_s < np.inf:
            units = int(self.known.run.schedule.nodes[self.head])
            plan.add(at_s, at_s + self.time_s(self.head, self.runs), units)
        return plan

    def fits(self, job: int, runs: IntArray, slack_w: float = 0.0) -> tuple[bool, bool]:
        """Say whether a job fits beside these in units, and in watts."""
        units = int(self.known.run.schedule.nodes[job])
        plan = self.plan(runs)
        fits = units <= self.free_units(runs)
        if fits and plan is not None:
            fits = plan.earliest(self.now_s, self.time_s(job, runs), units) <= self.now_s
        return fits, bool(self.need_w(job, runs) <= self.free_w(runs) + slack_w)

    @cached_property
    def shadow_now(self) -> tuple[float, int, float]:
        """The head's earliest start beside all that run, and what it then leaves."""
        return self.shadow(self.head, self.runs)

    @cached_property
    def shadow_before(self) -> tuple[float, int, float]:
        """The same without those that have just passed it."""
        return self.shadow(self.head, self.before) if self.passed.size else self.shadow_now

    def shadow(self, job: int, runs: IntArray) -> tuple[float, int, float]:
        """The first time at which a job has its units (and watts where they are planned), by the
        requests of these; and the units and watts that it then leaves."""
        known, nodes = self.known, self.known.run.schedule.nodes
        planned = known.rule.power == PLANNED and np.isfinite(self.cap_w)
        expected_s = np.maximum(known.due_s(runs, self.now_s), self.now_s)
        order = np.argsort(expected_s, kind="stable")
        expected_s = expected_s[order]
        upto = self.free_units(runs) + np.append(0, np.cumsum(nodes[runs][order])) - int(nodes[job])
        upto_w = np.full(len(upto), np.inf)
        if planned:
            upto_w = (self.free_w(runs) + np.append(0.0, np.cumsum(known.held_w[runs][order]))
                      - known.classes.alone_w(job))
        plan = self.plan(runs)
        if plan is not None:
            return self._shadow_around(plan, job, self.time_s(job, runs), expected_s, upto_w)
        enough = np.flatnonzero((upto >= 0) & (upto_w >= -self.slack_w))
        if not enough.size:
            return np.inf, int(upto[-1]), float(upto_w[-1])
        at_s = self.now_s if enough[0] == 0 else float(expected_s[enough[0] - 1])
        last = int(np.searchsorted(expected_s, at_s, "right"))  # all that are due at that time
        return at_s, int(upto[last]), float(upto_w[last])

    def _shadow_around(
        self, plan: FreeUnits, job: int, time_s: float, expected_s: FloatArray, upto_w: FloatArray
    ) -> tuple[float, int, float]:
        """The same beside reserved units; the units that are left then are not one number."""
        units = int(self.known.run.schedule.nodes[job])
        at_s = self.now_s
        while True:
            at_s = plan.earliest(at_s, time_s, units)
            last = int(np.searchsorted(expected_s, at_s, "right"))
            if at_s == np.inf or upto_w[last] >= -self.slack_w:
                return at_s, 0, float(upto_w[last])
            if last == len(expected_s):
                return np.inf, 0, float(upto_w[last])
            at_s = float(expected_s[last])


def instants(known: Known, times_s: FloatArray) -> Iterator[Instant]:
    """The state of the run at each of these times."""
    run = known.run
    start_s = np.where(run.ran, run.schedule.start_s, np.inf)
    by_start, by_ready = (np.argsort(column, kind="stable") for column in (start_s, known.ready_s))
    started = np.searchsorted(start_s[by_start], times_s, "right")
    joined = np.searchsorted(known.ready_s[by_ready], times_s, "right")
    runs = waits = by_start[:0]
    done = [0, 0]
    for now_s, here, there in zip(times_s.tolist(), started.tolist(), joined.tolist(), strict=True):
        runs = np.append(runs, by_start[done[0]:here])
        runs = runs[run.schedule.end_s[runs] > now_s]
        waits = np.append(waits, by_ready[done[1]:there])
        waits = waits[start_s[waits] > now_s]
        done = [here, there]
        cap_w = known.cap_w(now_s)
        possible = waits
        if known.rule.power in (PLANNED, BUDGET) or known.speed.changes:
            # A job that not even the idle machine has watts for is no head.
            alone_w = known.idle_w + known.classes.least_alone_w[waits]
            possible = waits[alone_w <= cap_w * (1 + NEAR)]
        began = runs[start_s[runs] == now_s]
        yield Instant(known, now_s, runs, known.in_order(possible, now_s), began, cap_w)


def judged_times(run: Run, others_s: FloatArray | None = None) -> tuple[FloatArray, int]:
    """Times of decisions that are judged, evenly spread where there are too many, and of how many.

    Of the log, and such others as lie within the run.
    """
    times_s = np.unique(run.events.time_s)
    if others_s is not None:
        inside = (others_s > times_s[0]) & (others_s < times_s[-1])
        times_s = np.union1d(times_s, others_s[inside])
    held = np.searchsorted(run.events.time_s, times_s, "right") - 1
    began_s, gone_s = (np.sort(column[run.ran]) for column in
                       (run.schedule.start_s, run.schedule.end_s))
    running = (np.searchsorted(began_s, times_s, "right")
               - np.searchsorted(gone_s, times_s, "right"))
    cells = int((running + run.events.queued[held] + 50).sum())
    alone = len(run.machine.groups) > 1 or any(each.nodes for each in run.reservations)
    weight = SLOWER if alone else 1
    step = max(-(-cells * weight // MOST_CELLS), -(-len(times_s) // MOST_DECISIONS), 1)
    return times_s[::step], len(times_s)
