"""A contract with its jobs as a fluid, in blocks of time: what the bound's program is made from.

Work is counted in server-seconds at full speed. Whatever a rule does, its power and its work in the
blocks keep what stands here; so a program over these is a bound of every rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.demand_response.case import Case
from wattline.grid.market import overlay
from wattline.grid.qos import VIOLATION_LIMIT
from wattline.grid.workloads import JobType
from wattline.model.signal import FloatArray, Signal

BoolArray = npt.NDArray[np.bool_]

BLOCK_S = 30.0
MOST_BLOCKS = 240


@dataclass(frozen=True, eq=False)
class Mode:
    """A way for a server to run a type of jobs."""

    power_w: float
    speed: float


@dataclass(frozen=True, eq=False)
class Stream:
    """All jobs of one type, which start in the order in which they came."""

    modes: tuple[Mode, ...]
    before: float
    """Work that came before the contract; how much of it was done by then is open."""
    least: FloatArray
    most: FloatArray
    """The work that must and that can have been done by the end of each block, from the beginning
    of the warm-up on."""


@dataclass(frozen=True)
class Sleep:
    """Servers may be off; before and after that they run nothing for a while."""

    off_w: float
    boot_s: float
    shutdown_s: float


@dataclass(frozen=True, eq=False)
class Fluid:
    """All of it."""

    block_s: float
    servers: int
    idle_w: tuple[float, float]
    """The least and the most that a server draws which is on, or is switched, and runs no job."""
    sleep: Sleep | None
    level: FloatArray
    level_low: FloatArray
    level_high: FloatArray
    """Of the signal in each block: mean, least and most."""
    streams: tuple[Stream, ...]
    standby: tuple[Mode, ...]
    """Of work without end; empty where there is none."""

    @property
    def blocks(self) -> int:
        return int(self.level.size)

    @property
    def reach_w(self) -> tuple[float, float]:
        """The powers between which the machine is at any moment."""
        modes = [*self.standby, *(mode for stream in self.streams for mode in stream.modes)]
        each_w = [*self.idle_w, *(mode.power_w for mode in modes)]
        if self.sleep is not None:
            each_w.append(self.sleep.off_w)
        return self.servers * min(each_w), self.servers * max(each_w)


def fluid_of(case: Case) -> Fluid:
    """The case in blocks of equal length."""
    span_s = case.end_s - case.judged_s
    count = int(np.clip(round(span_s / BLOCK_S), 1, MOST_BLOCKS))
    edges_s = np.linspace(case.judged_s, case.end_s, count + 1)
    low, high = lowest_and_highest(case.signal, edges_s)
    streams = tuple(
        _stream(case, each, case.jobs.application == number, edges_s)
        for number, each in enumerate(case.workload.types)
        if np.any(case.jobs.application == number)
    )
    return Fluid(
        span_s / count, case.workload.servers, *_unused(case),
        np.diff(case.signal.accumulated(edges_s)) / (span_s / count), low, high,
        streams,
        () if case.workload.standby is None else modes_of(case.workload.standby),
    )


def lowest_and_highest(signal: Signal, edges_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the most of a step function between each two edges."""
    marks = Signal(edges_s, np.zeros(edges_s.size))
    steps_s, (value, _) = overlay((signal, marks), float(edges_s[0]), float(edges_s[-1]))
    first = np.searchsorted(steps_s[:-1], edges_s[:-1])
    return np.minimum.reduceat(value, first), np.maximum.reduceat(value, first)


def modes_of(each: JobType) -> tuple[Mode, ...]:
    """Corners between which every power and speed of a type lies.

    The time grows linearly as the power falls, so the speed is convex in the power. Mixing full
    power and the lowest is the fastest for an energy; the third corner is where the tangents at
    both ends meet, below the slowest.
    """
    ratio = each.time_s_max / each.time_s_min
    span_w = each.power_w_max - each.power_w_min
    if span_w == 0:  # then a cap changes nothing
        return (Mode(each.power_w_max, 1.0),)
    fast, slow = Mode(each.power_w_max, 1.0), Mode(each.power_w_min, 1.0 / ratio)
    if ratio == 1:
        return fast, slow
    return fast, slow, Mode(each.power_w_min + span_w * ratio / (1 + ratio), 2 / (1 + ratio))


def _unused(case: Case) -> tuple[tuple[float, float], Sleep | None]:
    idle_w, node = case.workload.power_w_idle, case.sleep
    if node is None:
        return (idle_w, idle_w), None
    on_w = (idle_w, node.boot_power_w, node.shutdown_power_w)
    return (min(on_w), max(on_w)), Sleep(node.power_w_off, node.boot_s, node.shutdown_s)


def _stream(case: Case, each: JobType, mine: BoolArray, edges_s: FloatArray) -> Stream:
    """What can have been done of a type's jobs, and what must have been.

    A job that is not to be late starts so early that full speed gets it to its end in time, and is
    always so far that it still does; one that runs or waits at the end of the contract is judged by
    that too. The first jobs, as many as may be late, are left out: no others bind more.
    """
    submit_s = np.sort(case.jobs.submit_s[mine & (case.jobs.submit_s < case.end_s)])
    time_s, before = each.time_s_min, int((submit_s < case.judged_s).sum())
    late = math.floor(VIOLATION_LIMIT * (submit_s.size - before) + 1e-9)
    start_by_s = submit_s[before + late:] + each.threshold * time_s
    ends_s, can_s = edges_s[1:], submit_s[before:]
    if case.preempt:  # a paused job is judged by its energy, which can say more than was done
        start_by_s = start_by_s[start_by_s + time_s <= case.end_s]
    least = _since(start_by_s, ends_s) - _since(start_by_s, ends_s - time_s)
    if start_by_s.size and not case.preempt:
        # Who starts in time finds all before it started, which run on, if slowly.
        least += before * np.clip((ends_s - start_by_s[0]) * time_s / each.time_s_max, 0.0, time_s)
    most = before * time_s + _since(can_s, ends_s) - _since(can_s, ends_s - time_s)
    return Stream(modes_of(each), each.servers * time_s * before, each.servers * least,
                  each.servers * most)


def _since(times_s: FloatArray, now_s: FloatArray) -> FloatArray:
    """The sum of the seconds that have passed since each of these times, in their order."""
    sum_s = np.append(0.0, np.cumsum(times_s))
    passed = np.searchsorted(times_s, now_s, "right")
    found: FloatArray = passed * now_s - sum_s[passed]
    return found
