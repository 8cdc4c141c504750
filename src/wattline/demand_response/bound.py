"""What a planner that knows signal and arrivals could reach at best: a bound beside each result.

Jobs are taken as a fluid here: they run in any part, at any time after they were submitted, on any
server. What is left are necessary conditions of a bid, whatever rule keeps it:

- the work that has arrived suffices to draw the target, less the error that is allowed;
- the work that is due, with the least energy it can take, fits below the target and that error;
- the machine reaches the target, up to that error, except for the time in which it may be missed.

So no bid costs less or saves more than the bounds, and where they find none there is none; a bid at
a bound need not be feasible. Each is a best-first search over boxes of averages and reserves, of
which every one is taken at its best.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.grid.market import ERROR_LIMIT, EXCEED_LIMIT, WS_PER_KWH, overlay
from wattline.grid.qos import VIOLATION_LIMIT
from wattline.model.signal import FloatArray

SMALLEST = 1 / 128
"""Of the machine's range of power: boxes are not divided further."""
MOST_BOXES = 3000
LEAST_RESERVE = 0.01
"""Of that range: a bid below it is none, as an error relative to it means nothing."""
CHECKS = 6
"""Times at which the work that has arrived is compared with what the target asks for."""


@dataclass(frozen=True)
class Bound:
    """What no bid with any rule can better; `feasible` false: no bid can be kept."""

    feasible: bool
    cost: float | None = None
    """The least."""
    saving: float | None = None
    """The largest, as a share of the price of the average power; None where energy has none."""
    average_w: float | None = None
    reserve_w: float | None = None
    """Of the bid that would save so much."""


@dataclass(frozen=True)
class _Box:
    average_w: float
    reserve_w: float
    wide_w: float
    """Both reach so far beyond: averages upwards, reserves too."""


@dataclass(frozen=True, eq=False)
class _Fluid:
    """The case as time steps and energies, all powers above 0 W."""

    level: FloatArray
    span_s: FloatArray
    error: float
    missed_s: float
    """For so long the error may be larger."""
    idle_w: float
    least_w: float
    most_w: float
    floor_w: float
    arrived: tuple[tuple[int, float], ...]
    """Numbers of steps, and the most energy above idle of what was submitted till then, J."""
    due_j: float
    """The least energy above `least_w` of the jobs that are due in the contract."""
    prices: tuple[float, float, float]

    @property
    def hours(self) -> float:
        return float(self.span_s.sum()) / 3600.0


def bound_of(case: Case) -> Bound | None:
    """The bound of one bid for the whole contract; None where it says nothing.

    That is so beside a limit, for bids that change by the hour, with a meter that errs, and where
    a programme's score is not a share of time.
    """
    rule = None if case.programme is None else case.programme.judged
    plain = case.limit_w is None and not case.adaptive and case.meter_noise == 0
    plain = plain and case.judges_tracking
    if not plain or (rule is not None and rule.rule != "band"):
        return None
    fluid = _fluid(case, ERROR_LIMIT if rule is None else rule.width,
                   EXCEED_LIMIT if rule is None else 1.0 - rule.least)
    cheapest = _search(fluid, _cost)
    if cheapest is None:
        return Bound(False)
    if fluid.prices[0] <= 0:
        return Bound(True, cheapest[0])
    saved = _search(fluid, _saving)
    assert saved is not None
    box = saved[1]
    return Bound(True, cheapest[0], -saved[0], box.average_w, box.reserve_w)


def _fluid(case: Case, error: float, missed: float) -> _Fluid:
    load = case.workload
    edges, (level,) = overlay((case.signal,), case.judged_s, case.end_s)
    span_s = np.diff(edges)
    idle_w = load.servers * load.power_w_idle
    asleep_w = load.power_w_idle if case.sleep is None else case.sleep.power_w_off
    energy, reserve, _ = case.prices.mean(case.judged_s, case.end_s)
    least_error = float(case.prices.error.value.min())
    return _Fluid(
        level, span_s, error, missed * float(span_s.sum()), idle_w, load.servers * asleep_w,
        load.range.power_w_max, load.range.floor_w, _arrived(case, edges),
        _due_j(case, load.power_w_idle if case.sleep is None else case.sleep.power_w_off),
        (energy, reserve, least_error),
    )


def _arrived(case: Case, edges: FloatArray) -> tuple[tuple[int, float], ...]:
    """At several times, the most energy of all jobs so far, those of the warm-up whole."""
    if case.workload.standby is not None:
        return ()  # there is always work
    energy_j = _energies(case, case.workload.power_w_idle).max(axis=0)
    steps = np.unique(np.linspace(1, edges.size - 1, CHECKS).round().astype(int))
    return tuple((int(n), float(energy_j[case.jobs.submit_s < edges[n]].sum())) for n in steps)


def _energies(case: Case, base_w: float) -> FloatArray:
    """Of each job above a server's base: run at full speed, and at its lowest power, in J."""
    kinds = np.asarray(case.jobs.application if case.truth is None else case.truth, dtype=np.int64)
    low_w = np.array([t.power_w_min for t in case.types])[kinds]
    longer = np.array([t.time_s_max / t.time_s_min for t in case.types])[kinds]
    nodes, time_s = case.jobs.procs, case.jobs.run_s
    fast = (case.jobs.power_w - nodes * base_w) * time_s
    slow = nodes * (low_w - base_w) * time_s * longer
    both: FloatArray = np.maximum(0.0, np.stack((fast, slow)))
    return both


def _due_j(case: Case, base_w: float) -> float:
    """The least energy of the jobs that must have ended: all but the share that may be late."""
    if case.mean_quality:
        return 0.0
    kinds = np.asarray(case.jobs.application if case.truth is None else case.truth, dtype=np.int64)
    energy_j = _energies(case, base_w).min(axis=0)
    total = 0.0
    for number, job_type in enumerate(case.workload.types):
        mine = (kinds == number) & (case.jobs.submit_s >= case.judged_s)
        mine &= case.jobs.submit_s < case.end_s
        due = mine & (case.jobs.submit_s + (1 + job_type.threshold) * case.jobs.run_s <= case.end_s)
        late = int(VIOLATION_LIMIT * mine.sum())
        total += float(np.sort(energy_j[due])[: max(0, int(due.sum()) - late)].sum())
    return total


def _search(fluid: _Fluid, worth: Callable[[_Fluid, _Box], float]) -> tuple[float, _Box] | None:
    """The least worth, and its box: a bound however far the search went."""
    width_w = fluid.most_w - fluid.floor_w
    heap: list[tuple[float, int, _Box]] = []
    first = _Box(fluid.floor_w, LEAST_RESERVE * width_w, width_w)
    heapq.heappush(heap, (worth(fluid, first), 0, first))
    for number in range(1, MOST_BOXES):
        if not heap:
            return None
        least, _, box = heap[0]
        if box.wide_w <= SMALLEST * width_w:
            return least, box
        heapq.heappop(heap)
        half_w = box.wide_w / 2
        for corner in range(4):
            part = replace(box, average_w=box.average_w + half_w * (corner % 2),
                           reserve_w=box.reserve_w + half_w * (corner // 2), wide_w=half_w)
            if _can_be_kept(fluid, part):
                heapq.heappush(heap, (worth(fluid, part), 4 * number + corner, part))
    return (heap[0][0], heap[0][2]) if heap else None


def _least_w(box: _Box, factor: FloatArray) -> FloatArray:
    """The least of P + factor x R in the box, for each factor."""
    return box.average_w + factor * np.where(factor > 0, box.reserve_w, box.reserve_w + box.wide_w)


def _most_w(box: _Box, factor: FloatArray) -> FloatArray:
    reserve_w = np.where(factor > 0, box.reserve_w + box.wide_w, box.reserve_w)
    most: FloatArray = box.average_w + box.wide_w + factor * reserve_w
    return most


def _can_be_kept(fluid: _Fluid, box: _Box) -> bool:
    """Whether no condition forbids all bids of the box."""
    highest_w = box.average_w + box.wide_w
    if highest_w - box.reserve_w < fluid.floor_w or box.average_w + box.reserve_w > fluid.most_w:
        return False
    asked_w = _least_w(box, fluid.level - fluid.error)
    allowed_w = _most_w(box, fluid.level + fluid.error)
    missed = (asked_w > fluid.most_w) | (allowed_w < fluid.least_w)
    if fluid.span_s @ missed > fluid.missed_s + 1e-9:
        return False
    room_w = np.maximum(0.0, np.minimum(allowed_w, fluid.most_w) - fluid.least_w)
    missed_j = (fluid.most_w - fluid.least_w) * fluid.missed_s
    if fluid.due_j > room_w @ fluid.span_s + missed_j + 1e-6:
        return False
    above_w = np.maximum(0.0, asked_w - fluid.idle_w)
    return all(_without_largest(above_w[:n], fluid.span_s[:n], fluid.missed_s) <= energy_j + 1e-6
               for n, energy_j in fluid.arrived)


def _largest_reserve_w(fluid: _Fluid, box: _Box) -> float:
    highest_w = box.average_w + box.wide_w
    return min(box.reserve_w + box.wide_w, highest_w - fluid.floor_w,
               fluid.most_w - box.average_w)


def _error_cost(fluid: _Fluid, box: _Box) -> float:
    """Of the energy that the target asks for beyond all work there is."""
    if not fluid.arrived:
        return 0.0
    asked_w = np.maximum(0.0, _least_w(box, fluid.level) - fluid.idle_w)
    short_j = max(0.0, float(asked_w @ fluid.span_s) - fluid.arrived[-1][1])
    return fluid.prices[2] * short_j / WS_PER_KWH


def _cost(fluid: _Fluid, box: _Box) -> float:
    """The least cost of a bid in the box."""
    energy, reserve, _ = fluid.prices
    average_w = box.average_w + (0.0 if energy >= 0 else box.wide_w)
    kw = (energy * average_w - reserve * _largest_reserve_w(fluid, box)) / 1000.0
    return kw * fluid.hours + _error_cost(fluid, box)


def _saving(fluid: _Fluid, box: _Box) -> float:
    """The largest saving of a bid in the box, with its sign turned."""
    energy, reserve, _ = fluid.prices
    gain = reserve * _largest_reserve_w(fluid, box) * fluid.hours / 1000.0
    gain -= _error_cost(fluid, box)
    # A loss is the smaller share of the larger bill, a gain the larger share of the smaller one.
    average_w = box.average_w + (box.wide_w if gain < 0 else 0.0)
    return -gain / max(energy * average_w * fluid.hours / 1000.0, 1e-12)


def _without_largest(power_w: FloatArray, span_s: FloatArray, left_out_s: float) -> float:
    """The energy without the steps of most power, for as long as may be left out."""
    order = np.argsort(-power_w)
    kept_s = np.clip(np.cumsum(span_s[order]) - left_out_s, 0.0, span_s[order])
    return float(power_w[order] @ kept_s)
