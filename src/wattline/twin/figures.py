"""Figures that hold two lots of waiting times against each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wattline.analysis.summary import time_text
from wattline.model.run import Run
from wattline.model.signal import FloatArray

TWO_WEEKS_S = 14 * 86400.0
POINTS = 200


@dataclass(frozen=True, eq=False)
class Series:
    """Moving averages of the waits over the time of submission."""

    time_s: FloatArray
    simulated_s: FloatArray
    logged_s: FloatArray | None
    window_s: float


def wait_text(wait_s: float) -> str:
    """Seconds up to ten minutes, then the unit that fits."""
    return f"{wait_s:.1f} s" if wait_s < 600.0 else time_text(wait_s)


def mean(values: FloatArray) -> float | None:
    return float(values.mean()) if values.size else None


def relative(found: float | None, truth: float | None) -> float | None:
    """How much more than the truth, as a part of it; None where there is none or it is 0."""
    if found is None or truth is None or truth <= 0:
        return None
    return found / truth - 1.0


def series_of(submit_s: FloatArray, simulated_s: FloatArray, logged_s: FloatArray | None) -> Series:
    """Averages over two weeks or a tenth of the log, whichever is shorter."""
    if not submit_s.size:
        return Series(np.zeros(0), np.zeros(0), None if logged_s is None else np.zeros(0), 0.0)
    first_s, last_s = float(submit_s[0]), float(submit_s[-1])
    window_s = min(TWO_WEEKS_S, (last_s - first_s) / 10.0)
    time_s = np.linspace(first_s, last_s, POINTS)
    low = np.searchsorted(submit_s, time_s - window_s / 2, "left")
    high = np.searchsorted(submit_s, time_s + window_s / 2, "right")

    def averaged(values: FloatArray) -> FloatArray:
        upto = np.append(0.0, np.cumsum(values))
        with np.errstate(invalid="ignore", divide="ignore"):
            found: FloatArray = (upto[high] - upto[low]) / (high - low)
        return found

    return Series(time_s, averaged(simulated_s),
                  None if logged_s is None else averaged(logged_s), window_s)


def moving_average_error(series: Series) -> float | None:
    """The mean distance of the two averages over the mean of the logged one."""
    if series.logged_s is None:
        return None
    known = np.isfinite(series.simulated_s) & np.isfinite(series.logged_s)
    if not known.any() or not float(series.logged_s[known].mean()) > 0:
        return None
    distance_s = np.abs(series.simulated_s - series.logged_s)[known]
    return float(distance_s.mean() / series.logged_s[known].mean())


def cpu_seconds(start_s: FloatArray, end_s: FloatArray, suspended_s: FloatArray, cpus: FloatArray,
                units: int, first_s: float, last_s: float | None = None) -> float | None:
    """The part of all CPUs in use from a time to the last end, or to a time."""
    if last_s is None:
        last_s = float(end_s.max()) if end_s.size else first_s
    if not start_s.size or not last_s > first_s:
        return None
    inside_s = np.maximum(np.minimum(end_s, last_s) - np.maximum(start_s, first_s), 0.0)
    # When within its run a job was suspended is not known: at all times alike.
    ran_s = end_s - start_s
    used_s = inside_s * (1.0 - np.divide(suspended_s, ran_s, out=np.zeros_like(ran_s),
                                         where=ran_s > 0))
    return float(np.dot(used_s, cpus) / (units * (last_s - first_s)))


def busy_part(run: Run, first_s: float, last_s: float | None = None) -> float | None:
    """The same of a simulation, with all runs of jobs that were requeued, to its end or before."""
    if last_s is None:
        last_s = float(np.nanmax(run.schedule.end_s)) if run.ran.any() else first_s
    if not last_s > first_s:
        return None
    edges_s = np.append(run.events.time_s, run.end_s).clip(first_s, last_s)
    return float(np.dot(np.diff(edges_s), run.events.busy) / (run.units * (last_s - first_s)))
