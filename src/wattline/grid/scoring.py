"""PJM's performance score as its Manual 12 (section 4.5.6, till the reform of 2025) describes it.

The manual itself is not quoted here; the rule was checked against two public programs that quote
or follow it: `pjmScoringPassFailv5` of the University of Michigan's testbed for loads that balance
the grid (2023), and `RegService.perf_score` of GMLC-1-4-2/battery_interface.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from wattline.model.signal import FloatArray

LONGEST_DELAY_S = 300.0
"""Within which a response is looked for, and the length of what is compared."""
STILL = 0.01
"""Of the reserve: a signal whose standard deviation is below it has no correlation. The manual
names no value; this is that of the second program."""


def pjm_score(wanted: FloatArray, response: FloatArray, step_s: float) -> float:
    """The mean of three scores over all five minutes that begin at a sample.

    Correlation and delay are those of the delay at which their sum is largest; the delay's score
    falls from 1 at none to 0 at five minutes. Where the signal stands still, the slopes of both
    are compared instead. Precision is one less the mean error relative to the mean size of the
    signal. A response that does not go with the signal has no delay: that score is 0 too.
    """
    size = float(np.abs(wanted).mean())
    error = float(np.abs(response - wanted).mean())
    precision = max(0.0, 1.0 - error / size) if size > 0 else float(error == 0)
    both = _correlation_and_delay(wanted, response, step_s)
    return (float(both.mean()) + precision) / 3


def _correlation_and_delay(wanted: FloatArray, response: FloatArray, step_s: float) -> FloatArray:
    """Their sum for each five minutes; delays that reach beyond the contract are left out."""
    lags = max(1, round(LONGEST_DELAY_S / step_s))
    # A contract of less than ten minutes has shorter pieces, or no delay could be seen in it.
    length = min(lags, max(1, wanted.size // 2))
    asked, given = (sliding_window_view(each, length) for each in (wanted, response))
    centred, answered = _normal(asked), _normal(given)
    best = np.full(len(asked), -1.0)
    chosen = np.zeros(len(asked))
    for lag in range(min(lags, len(given) - 1) + 1):
        correlation = np.einsum("ij,ij->i", centred[: len(asked) - lag], answered[lag:])
        found = correlation + 1.0 - lag / lags
        better = np.flatnonzero(found > best[: found.size] + 1e-12)
        best[better] = found[better]
        chosen[better] = np.where(correlation > 0, found, 0.0)[better]
    still = asked.std(axis=1) < STILL
    apart = np.abs(_slope(asked[still]) - _slope(given[still]))
    chosen[still] = 1.0 + np.maximum(0.0, 1.0 - apart)
    return chosen


def _normal(rows: FloatArray) -> FloatArray:
    """Rows whose products are correlations; 0 where a row stands still."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    size = np.sqrt((centred * centred).sum(axis=1, keepdims=True))
    return np.where(size > 1e-6, centred / np.maximum(size, 1e-6), 0.0)


def _slope(rows: FloatArray) -> FloatArray:
    """Of the line through each row, per sample."""
    time = np.arange(rows.shape[1]) - (rows.shape[1] - 1) / 2
    square = float((time * time).sum())
    return rows @ time / square if square > 0 else np.zeros(len(rows))
