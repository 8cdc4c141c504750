"""Watts and time that a job takes on nodes of several classes, or of one."""

from __future__ import annotations

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify.idle_power import of_units

_NEAR = 1e-9
"""Relative: watts of a job that are above those of its nodes by no more are not above them."""


class Classes:
    """Classes of nodes, the units that each job had of them, and what it needs to start.

    Jobs get free nodes class by class: by the numbers of the nodes, those last that cannot draw
    what the log says of the job; where the cap has no room for that, those first on which the job
    raises the power least.
    """

    def __init__(self, run: Run, dynamic: FloatArray | float, least_power: float) -> None:
        parts = [group.node_class.cores if run.units != run.machine.node_count else 1
                 for group in run.machine.groups]
        self.count = np.array([group.count * part for group, part in
                               zip(run.machine.groups, parts, strict=True)])
        self.several = len(self.count) > 1
        first = np.cumsum(self.count) - self.count
        self._idle_w = of_units(run, lambda node: node.power_w_idle)[first]
        self._speed = np.array([group.node_class.speed for group in run.machine.groups])
        self._active_w = of_units(run, lambda node: node.power_w_active)[first]
        self.machine_idle_w = float(self._idle_w @ self.count)
        self._nodes = run.schedule.nodes
        self._own_w = run.jobs.power_w
        self._dynamic = np.broadcast_to(np.asarray(dynamic), len(run.jobs))
        self._least_power = least_power
        self.slowness = np.ones(len(run.jobs))
        if self.several:
            self._have = _units_had(run, self.count)
            self.idle_w = self._have @ self._idle_w
            self._set_slowness(self._speed)
            alone = [[rise_w for rise_w, _ in self._choices(job, self.count)]
                     for job in range(len(run.jobs))]
            highest_w = highest_cap_w(run) * (1 + _NEAR)
            self._alone_w = np.array([
                first if self.machine_idle_w + first <= highest_w else other
                for first, other in alone])
            self.least_alone_w = np.array([min(each) for each in alone])
        else:
            self.idle_w = np.asarray(self._nodes * self._idle_w[0])
            active_w = self._nodes * self._active_w[0]
            own_w = np.where(np.isnan(self._own_w), active_w, self._own_w)
            self._alone_w = self._raised(own_w, self.idle_w, self._dynamic)
            self.least_alone_w = self._alone_w
        self.rise_w = self._alone_w

    def need_w(self, job: int, runs: IntArray, left_w: float) -> float:
        """Watts above idle of a job on the nodes that it would get beside these jobs."""
        if not self.several:
            return float(self.rise_w[job])
        return self._on_free(job, runs, left_w)[0]

    def stretch(self, job: int, runs: IntArray, left_w: float) -> float:
        """By how much a job takes longer on the nodes that it would get beside these jobs."""
        if not self.several:
            return 1.0
        return self._on_free(job, runs, left_w)[1]

    def _on_free(self, job: int, runs: IntArray, left_w: float) -> tuple[float, float]:
        by_number, by_rise = self._choices(job, self.count - self._have[runs].sum(axis=0))
        return by_number if by_number[0] <= left_w else by_rise

    def alone_w(self, job: int) -> float:
        """The same on an idle machine, under the highest cap to come."""
        return float(self._alone_w[job])

    def _raised(self, drawn_w: FloatArray, idle_w: FloatArray, dynamic: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(drawn_w * self._least_power - idle_w, 0.0) * dynamic)

    def _choices(self, job: int, free: IntArray) -> list[tuple[float, float]]:
        """Return how much a job raises the power and how much longer it takes on free nodes, taken
        by number, and by the least rise."""
        units, own_w = int(self._nodes[job]), float(self._own_w[job])
        has_own = not np.isnan(own_w)
        numbers = range(len(free))
        too_much = [has_own and own_w > self._active_w[kind] * units * (1 + _NEAR)
                    for kind in numbers]
        by_number = sorted(numbers, key=lambda kind: (too_much[kind], kind))
        rise_w = (0.0 if has_own else self._active_w * self._least_power) - self._idle_w
        by_rise = sorted(numbers, key=lambda kind: (rise_w[kind], kind))
        found = []
        for order in (by_number, by_rise):
            missing, idle_w, active_w, slowest = units, 0.0, 0.0, np.inf
            for kind in order:
                taken = min(int(free[kind]), missing)
                idle_w += taken * self._idle_w[kind]
                active_w += taken * self._active_w[kind]
                if taken:
                    slowest = min(slowest, self._speed[kind])
                missing -= taken
            drawn_w = own_w if has_own else active_w
            raised_w = max(drawn_w * self._least_power - idle_w, 0.0) * self._dynamic[job]
            found.append((float(raised_w), 1.0 if missing else float(1.0 / slowest)))
        return found

    def _set_slowness(self, speed: FloatArray) -> None:
        """A job goes at the speed of its slowest node."""
        slowest = np.where(self._have > 0, speed, np.inf).min(axis=1)
        self.slowness = np.where(np.isfinite(slowest), 1.0 / slowest, 1.0)


def _units_had(run: Run, count: IntArray) -> IntArray:
    """Units of each class (columns) that each job (rows) had."""
    place = run.placement
    assert place is not None
    have = np.zeros((len(run.jobs), len(count)), dtype=np.int64)
    ends = np.cumsum(count)
    for kind, (begin, end) in enumerate(zip(ends - count, ends, strict=True)):
        inside = np.minimum(place.first + place.count, end) - np.maximum(place.first, begin)
        have[:, kind] = np.bincount(place.job, np.maximum(inside, 0), len(run.jobs))
    return have


def highest_cap_w(run: Run) -> float:
    """Return the highest cap from the beginning of a run on; infinite without one."""
    if run.cap_w is None:
        return np.inf
    later = run.cap_w.value[run.cap_w.time_s > run.start_s]
    return max(run.cap_w.at(run.start_s), float(later.max(initial=-np.inf)))
