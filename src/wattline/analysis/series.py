"""What the plots draw, computed exactly from the event log. Nothing here draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.analysis.metrics import job_figures
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal

SIZE_SHARES = (0.01, 0.1, 0.25, 0.5, 1.0)
"""Upper ends of the job sizes that are told apart, as shares of the machine."""
ROUND_SPANS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600,
                 28800, 43200, 86400, 172800, 604800)


@dataclass(frozen=True, eq=False)
class Steps:
    """A step function over a span: `value[i]` holds from `edge_s[i]` to `edge_s[i + 1]`."""

    edge_s: FloatArray
    value: FloatArray

    @property
    def length_s(self) -> FloatArray:
        return np.diff(self.edge_s)

    @property
    def mean(self) -> float:
        span_s = self.edge_s[-1] - self.edge_s[0]
        return float(np.dot(self.value, self.length_s) / span_s) if span_s > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Band:
    """A step function in few steps: the exact mean of each, its lowest and its highest value."""

    edge_s: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class JobMap:
    """Which job held which unit when, as a picture: rows are units, columns are times."""

    job: IntArray
    """Row of the job table at the centre of each cell, or -1 where the unit is free."""
    start_s: float
    end_s: float
    units: int


def power_steps(run: Run) -> Steps:
    """Power of the machine in watts."""
    return _settled(run, run.events.power_w)


def utilisation_steps(run: Run) -> Steps:
    """Share of the units in use."""
    steps = _settled(run, run.events.busy)
    return Steps(steps.edge_s, steps.value / run.units)


def queue_steps(run: Run) -> Steps:
    """Jobs waiting."""
    return _settled(run, run.events.queued)


def round_span_s(total_s: float, most: int) -> float:
    """The shortest span that people would choose (1 h, 2 h, 1 d, ...) with at most so many."""
    return next((float(span_s) for span_s in ROUND_SPANS_S if span_s * most >= total_s),
                ROUND_SPANS_S[-1] * np.ceil(total_s / most / ROUND_SPANS_S[-1]))


def band(steps: Steps, span_s: float) -> Band:
    """Means, lows and highs of spans of this length; a series with fewer steps stays as it is.

    Every peak is kept, and the mean is exact. The last span ends with the series.
    """
    start_s, end_s = float(steps.edge_s[0]), float(steps.edge_s[-1])
    spans = max(1, int(np.ceil((end_s - start_s) / span_s)))
    if steps.value.size <= spans:
        return Band(steps.edge_s, steps.value, steps.value, steps.value)
    edge_s = np.append(start_s + span_s * np.arange(spans), end_s)
    cuts_s = np.concatenate((steps.edge_s[:-1], edge_s[:-1]))
    cuts_s.sort()
    value = steps.value[np.searchsorted(steps.edge_s[:-1], cuts_s, "right") - 1]
    held = value * np.diff(cuts_s, append=end_s)
    first = np.searchsorted(cuts_s, edge_s[:-1], "left")
    return Band(
        edge_s=edge_s,
        mean=np.add.reduceat(held, first) / np.diff(edge_s),
        low=np.minimum.reduceat(value, first),
        high=np.maximum.reduceat(value, first),
    )


def wait_cdf(run: Run, most: int = 1000) -> tuple[FloatArray, FloatArray]:
    """Waiting times in increasing order, and the share of jobs that waited at most so long."""
    wait_s = np.sort(job_figures(run).wait_s)
    if not wait_s.size:
        return np.zeros(0), np.zeros(0)
    rank = np.unique(np.linspace(0, wait_s.size - 1, most).round().astype(np.int64))
    return wait_s[rank], (rank + 1) / wait_s.size


def duration_curve(steps: Steps, most: int = 1000) -> tuple[FloatArray, FloatArray]:
    """Shares of the time, and the value that is reached or exceeded for that share of it."""
    order = np.argsort(-steps.value, kind="stable")
    value = steps.value[order]
    until_s = np.cumsum(steps.length_s[order])
    span_s = until_s[-1]
    if not span_s > 0:
        return np.array([0.0, 1.0]), np.repeat(value[:1], 2)
    share = np.unique(np.concatenate((np.linspace(0, 1, most), [until_s[0] / span_s])))
    row = np.minimum(np.searchsorted(until_s, share * span_s, "left"), value.size - 1)
    return share, value[row]


def above(steps: Steps, limit: Signal) -> tuple[float, float]:
    """Seconds above a limit, and the joules in excess of it, for a power in watts."""
    edge_s = np.unique(np.concatenate((steps.edge_s, limit.time_s)))
    edge_s = edge_s[(edge_s >= steps.edge_s[0]) & (edge_s <= steps.edge_s[-1])]
    begin_s = edge_s[:-1]
    row = np.searchsorted(steps.edge_s[:-1], begin_s, "right") - 1
    over_w = steps.value[row] - limit.sample(begin_s)
    # A machine that stands exactly at its limit is not above it by the rounding of a sum.
    over_w = np.where(over_w > CAP_SLACK * np.abs(steps.value[row]), over_w, 0.0)
    length_s = np.diff(edge_s)
    return float(length_s[over_w > 0].sum()), float(np.dot(over_w, length_s))


def use_by_size(run: Run, most: int = 300) -> tuple[FloatArray, list[tuple[str, FloatArray]]]:
    """Mean units in use over time, told apart by job size; edges, and (label, units) each."""
    jobs = job_figures(run)
    start_s, end_s = run.schedule.start_s[jobs.row], run.schedule.end_s[jobs.row]
    edge_s = np.linspace(run.start_s, max(run.end_s, run.start_s + 1.0), most + 1)
    tops = np.unique(np.maximum(np.floor(np.array(SIZE_SHARES) * run.units), 1)).astype(np.int64)
    group = np.searchsorted(tops, jobs.nodes, "left")
    layers = []
    for code, top in enumerate(tops.tolist()):
        mask = group == code
        if mask.any():
            low = int(tops[code - 1]) + 1 if code else 1
            units = _mean_in_use(edge_s, start_s[mask], end_s[mask], jobs.nodes[mask])
            layers.append((f"{low:,}" if low == top else f"{low:,} to {top:,}", units))
    return edge_s, layers


def job_map(run: Run, columns: int = 1200, rows: int = 400) -> JobMap | None:
    """The jobs on their units; None where the run knows no units by name."""
    if run.placement is None:
        return None
    place = run.placement
    rows = min(rows, run.units)
    end_s = max(run.end_s, run.start_s + 1.0)
    picture = np.full((rows, columns), -1, dtype=np.int64)
    per_s, per_unit = columns / (end_s - run.start_s), rows / run.units

    def cell(value: npt.NDArray[np.floating[Any]]) -> IntArray:
        found: IntArray = np.ceil(value - 0.5).astype(np.int64)  # first centre not before it
        return found

    left = cell((run.schedule.start_s[place.job] - run.start_s) * per_s)
    right = cell((run.schedule.end_s[place.job] - run.start_s) * per_s)
    low = cell(place.first * per_unit)
    high = cell((place.first + place.count) * per_unit)
    for row in np.flatnonzero((right > left) & (high > low)).tolist():
        picture[low[row] : high[row], left[row] : right[row]] = place.job[row]
    return JobMap(picture, run.start_s, end_s, run.units)


def _settled(run: Run, value: npt.NDArray[np.generic]) -> Steps:
    """The log's values that lasted: the last one of each instant."""
    time_s = run.events.time_s
    end_s = max(run.end_s, run.start_s + 1.0)
    if not time_s.size:
        return Steps(np.array([run.start_s, end_s]), np.zeros(1))
    lasts = np.diff(time_s, append=run.end_s) > 0
    if not lasts.any():
        lasts[-1] = True
    edge_s = np.append(time_s[lasts], end_s)
    return Steps(edge_s, value[lasts].astype(np.float64))


def _mean_in_use(edge_s: FloatArray, start_s: FloatArray, end_s: FloatArray,
                 nodes: IntArray) -> FloatArray:
    """Mean units in use between edges, from the integral, which is linear between events."""
    time_s = np.concatenate((edge_s[:1], start_s, end_s, edge_s[-1:]))
    change = np.concatenate(([0], nodes, -nodes, [0]))
    order = np.argsort(time_s, kind="stable")
    time_s, in_use = time_s[order], np.cumsum(change[order])
    unit_s = np.concatenate(([0.0], np.cumsum(in_use[:-1] * np.diff(time_s))))
    return np.diff(np.interp(edge_s, time_s, unit_s)) / np.diff(edge_s)
