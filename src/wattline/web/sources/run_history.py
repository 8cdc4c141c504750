"""Power, cap and queue over time in few points, with every peak and dip of them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray
from wattline.web.sources.run_index import RunIndex
from wattline.web.sources.shape import Gaps, History


def history(index: RunIndex, now_s: float, from_s: float | None, to_s: float | None,
            points: int) -> History:
    """From a second to another (since the start); without them, all up to now."""
    run = index.run
    begin_s = run.start_s + (0.0 if from_s is None else from_s)
    end_s = min(now_s, run.start_s + (math.inf if to_s is None else to_s))
    if from_s is not None and to_s is not None and to_s < from_s:
        raise InputError(f"to_s ({to_s:g}) is before from_s ({from_s:g})")
    log = run.events
    first = max(int(np.searchsorted(log.time_s, begin_s, side="right")) - 1, 0)
    last = int(np.searchsorted(log.time_s, end_s, side="right"))
    there = first + _settled(log.time_s[first:last])
    rows = there[kept_rows(log.time_s[there], points, log.power_w[there], log.queued[there])]
    at_s = np.clip(log.time_s[rows], begin_s, None)
    if rows.size and end_s > at_s[-1]:  # what held last holds until now
        rows, at_s = np.append(rows, rows[-1]), np.append(at_s, end_s)
    return History((at_s - run.start_s).tolist(), log.power_w[rows].tolist(),
                   _caps(index, at_s), None, log.queued[rows].astype(float).tolist())


def _settled(time_s: FloatArray) -> np.ndarray:
    """The last row of each instant: what lies between starts and slower speeds never lasted."""
    return np.flatnonzero(np.diff(time_s, append=math.inf) > 0)


def kept_rows(time_s: FloatArray, points: int, *values: FloatArray | IntArray) -> np.ndarray:
    """Rows to draw: of each span the first and the last, and of each value the extremes."""
    count = len(time_s)
    if count <= points:
        return np.arange(count)
    spans = max(points // (2 + 2 * len(values)), 1)
    width_s = (time_s[-1] - time_s[0]) / spans or 1.0
    span = np.minimum(((time_s - time_s[0]) / width_s).astype(np.int64), spans - 1)
    edges = np.flatnonzero(np.diff(span, prepend=-1))
    inside = np.cumsum(np.diff(span, prepend=-1) > 0) - 1  # the how manieth span that has rows
    ends = np.append(edges[1:], count) - 1
    found = [edges, ends]
    for value, extreme in itertools.product(values, (np.minimum, np.maximum)):
        there = np.flatnonzero(value == extreme.reduceat(value, edges)[inside])
        found.append(there[np.unique(inside[there], return_index=True)[1]])
    return np.unique(np.concatenate(found))


def _caps(index: RunIndex, at_s: FloatArray) -> Gaps:
    run = index.run
    if run.cap_w is None:
        return [None] * len(at_s)
    cap_w = run.cap_w.sample(at_s)
    for each in run.reservations:
        cap_w = cap_w - np.where((at_s >= each.start_s) & (at_s < each.end_s), each.watts, 0.0)
    return [float(watts) if math.isfinite(watts) else None for watts in cap_w]
