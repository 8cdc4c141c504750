"""The decisions once more in plain Python, written from their definitions.

These are the twins that the compiled kernels are held equal to, and the shortest examples of a
policy in Python. They are slow and meant to be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from wattline.policies.view import Action, QueuedJob, Start, View, WakeAt

TOLERANCE = 1e-9
"""Of the definition; not the slack that kernels share, so that a mistake there would show here."""

Key = Callable[[QueuedJob, View], float]


def fcfs(job: QueuedJob, view: View) -> float:
    return job.submit_s


def sjf(job: QueuedJob, view: View) -> float:
    return job.requested_s


def largest(job: QueuedJob, view: View) -> float:
    return -float(job.units)


def wfp(job: QueuedJob, view: View) -> float:
    requested_s = job.requested_s if job.requested_s > 0 else 1.0
    waited = (view.now_s - job.submit_s) / requested_s
    return -job.units * (waited * waited * waited)


@dataclass(frozen=True)
class Multifactor:
    """A weighted sum of age and size, each between 0 and 1; see the compiled one."""

    age: float = 1.0
    size: float = 1.0
    age_max_s: float = 604800.0

    def __call__(self, job: QueuedJob, view: View) -> float:
        age = min((view.now_s - job.submit_s) / self.age_max_s, 1.0)
        return -(self.age * age + self.size * (job.units / view.units))


@dataclass
class _Books:
    """What a pass has used up so far."""

    free: int
    power_w: float
    """Power of the machine, with each job at no less than the idle power of its units."""
    ends: list[tuple[float, int]]
    """When each running job is expected to give back how many units."""
    actions: list[Action] = field(default_factory=list)


@dataclass(frozen=True)
class PlainEasy:
    """An order with EASY backfilling (or none), and a cap kept by BLOCK (or not at all)."""

    order: Key = fcfs
    backfill: bool = True
    block: bool = False

    def decide(self, view: View) -> list[Action]:
        queue = sorted(view.queue, key=lambda job: (self.order(job, view), job.job))
        ends = [(max(run.expected_s, view.now_s), run.units) for run in view.running]
        # When a job that draws less than its idle units ends, so much power comes back.
        back_w = sum(max(run.units * view.idle_w - run.power_w, 0.0) for run in view.running)
        books = _Books(view.free, view.power_w + back_w, ends)
        while queue and queue[0].units <= books.free:
            if not self._within_cap(queue[0], books, view):
                return books.actions
            self._start(queue.pop(0), books, view)
        if queue and self.backfill:
            self._backfill(queue[0], queue[1:], books, view)
        return books.actions

    def _backfill(
        self, head: QueuedJob, others: list[QueuedJob], books: _Books, view: View
    ) -> None:
        shadow_s = _shadow(head.units, books)
        extra = books.free + sum(n for end_s, n in books.ends if end_s <= shadow_s) - head.units
        for job in others:
            in_time = view.now_s + job.requested_s <= shadow_s
            if job.units > books.free or not (in_time or job.units <= extra):
                continue
            if not self._within_cap(job, books, view):
                return
            self._start(job, books, view)
            if not in_time:
                extra -= job.units

    def _within_cap(self, job: QueuedJob, books: _Books, view: View) -> bool:
        after_w = books.power_w + _above_idle_w(job.watts, job, view)
        return not self.block or after_w <= view.cap_w * (1 + TOLERANCE)

    def _start(self, job: QueuedJob, books: _Books, view: View) -> None:
        books.free -= job.units
        books.power_w += _above_idle_w(job.watts, job, view)
        books.ends.append((view.now_s + job.requested_s, job.units))
        books.actions.append(Start(job.job))


def _above_idle_w(watts: float, job: QueuedJob, view: View) -> float:
    """Return the power that the cap must have for a job beside the idle power of its units."""
    return max(watts - job.units * view.idle_w, 0.0)


def _shadow(units: int, books: _Books) -> float:
    """The earliest time at which so many units are free by the requested times."""
    available = books.free
    for end_s, returned in sorted(books.ends):
        available += returned
        if available >= units:
            return end_s
    return math.inf


@dataclass
class PlainConservative:
    """Every job has a reservation; see `wattline.policies.backfill.conservative`.

    It remembers its reservations, so an object serves one run.
    """

    overrun: Literal["kill", "extend"] = "kill"
    planned: dict[int, float] = field(default_factory=dict)
    ends: dict[int, float] = field(default_factory=dict)
    """Expected ends of running jobs at the last decision."""

    def decide(self, view: View) -> list[Action]:
        jobs = {job.job: job for job in view.queue}
        running = {run.job: (run.expected_s, run.units) for run in view.running}
        early = any(end_s > view.now_s for job, end_s in self.ends.items() if job not in running)
        in_order = sorted(self.planned, key=lambda job: (self.planned[job], job))
        late = any(start_s < view.now_s for start_s in self.planned.values())
        if late:
            self.planned = {}
            for job in in_order:
                self._plan(jobs[job], jobs, running, view)
        elif early:
            for job in in_order:
                if self.planned[job] > view.now_s:
                    del self.planned[job]
                    self._plan(jobs[job], jobs, running, view)
        for job in sorted(set(jobs) - set(self.planned)):
            self._plan(jobs[job], jobs, running, view)
        return self._start_due(jobs, running, view)

    def _plan(
        self,
        job: QueuedJob,
        jobs: dict[int, QueuedJob],
        running: dict[int, tuple[float, int]],
        view: View,
    ) -> None:
        taken = [(view.now_s, end_s, units) for end_s, units in running.values()]
        taken += [(start_s, start_s + jobs[other].requested_s, jobs[other].units)
                  for other, start_s in self.planned.items()]
        candidates = sorted({view.now_s, *(end for _, end, _ in taken if end > view.now_s)})
        for start_s in candidates:
            end_s = start_s + job.requested_s
            edges = [start_s, *(start for start, _, _ in taken if start_s < start < end_s)]
            if all(sum(n for a, b, n in taken if a <= edge < b) + job.units <= view.units
                   for edge in edges):
                self.planned[job.job] = start_s
                return

    def _start_due(
        self, jobs: dict[int, QueuedJob], running: dict[int, tuple[float, int]], view: View
    ) -> list[Action]:
        actions: list[Action] = []
        free = view.free
        self.ends = {job: end_s for job, (end_s, _) in running.items()}
        for job in sorted(self.planned, key=lambda job: (self.planned[job], job)):
            if self.planned[job] <= view.now_s and jobs[job].units <= free:
                free -= jobs[job].units
                del self.planned[job]
                self.ends[job] = view.now_s + jobs[job].requested_s
                actions.append(Start(job))
        later = [start_s for start_s in self.planned.values() if start_s > view.now_s]
        return [*actions, WakeAt(min(later))] if later else actions
