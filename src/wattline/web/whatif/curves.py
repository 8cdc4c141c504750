"""Curves of a run in few points: no peak and no valley of power or queue is lost."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.analysis.series import power_steps, queue_steps
from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.signal import FloatArray

MOST_POINTS = 800
_KEPT = 4
"""Of each span: where power and where the queue is lowest and highest."""


def curves(run: Run, most: int = MOST_POINTS) -> dict[str, Any]:
    """Power, queue and cap; a value holds from its time on until the next."""
    power, queue = power_steps(run), queue_steps(run)
    rows = kept_rows(power.edge_s[:-1], (power.value, queue.value), most - 1)
    time_s = np.append(power.edge_s[rows], power.edge_s[-1])
    again = np.append(rows, rows[-1])
    cap_w = None if run.cap_w is None else run.cap_w.sample(time_s)
    return {"time_s": time_s, "power_w": power.value[again],
            "queued": queue.value[again].astype(np.int64), "cap_w": cap_w}


def kept_rows(time_s: FloatArray, series: tuple[FloatArray, ...], most: int) -> IntArray:
    """Rows with the lowest and the highest value of each series in each of equal spans."""
    count = len(time_s)
    if count <= most:
        return np.arange(count)
    spans = max(1, (most - 1) // _KEPT)
    length_s = max(float(time_s[-1] - time_s[0]), 1e-9)
    span = np.minimum(((time_s - time_s[0]) / length_s * spans).astype(np.int64), spans - 1)
    first = np.flatnonzero(np.diff(span, prepend=-1))
    rows = [np.zeros(1, dtype=np.int64)]
    for value in series:
        for sign in (1.0, -1.0):
            order = np.lexsort((sign * value, span))
            rows.append(order[first])
    return np.unique(np.concatenate(rows))
