"""The course of a live machine, from the ring of samples that its controller keeps."""

from __future__ import annotations

import math

import numpy as np

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.signal import FloatArray
from wattline.web.sources.run_history import kept_rows
from wattline.web.sources.shape import Gaps, History

GAP_S = 30.0
"""Where nothing was written for so long, nobody knows what the power was."""


def above_since(rows: FloatArray) -> float | None:
    """Since when the power is above the cap; None where it is not."""
    if not len(rows):
        return None
    over = rows[:, 1] > rows[:, 2] * (1 + CAP_SLACK)
    if not over[-1]:
        return None
    below = np.flatnonzero(~over)
    return float(rows[below[-1] + 1 if below.size else 0, 0])


def history(rows: FloatArray, from_s: float, to_s: float, points: int) -> History:
    """In few points, with every peak and dip, and with the gaps in which no controller ran."""
    rows = _with_gaps(rows[(rows[:, 0] >= from_s) & (rows[:, 0] <= to_s)])
    known = np.where(np.isnan(rows), -1.0, rows)
    rows = rows[kept_rows(rows[:, 0], points, known[:, 1], known[:, 4])]
    target = None if np.isnan(rows[:, 3]).all() else _gaps(rows[:, 3])
    return History(rows[:, 0].tolist(), _gaps(rows[:, 1]), _gaps(rows[:, 2]), target,
                   _gaps(rows[:, 4]))


def _with_gaps(rows: FloatArray) -> FloatArray:
    """A row of unknowns after the last sample before each gap."""
    last = np.flatnonzero(np.diff(rows[:, 0]) > GAP_S)
    unknown = np.full((len(last), rows.shape[1]), math.nan)
    unknown[:, 0] = rows[last, 0] + 1.0
    return np.insert(rows, last + 1, unknown, axis=0)


def _gaps(values: FloatArray) -> Gaps:
    return [None if math.isnan(value) else value for value in values.tolist()]
