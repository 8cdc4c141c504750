"""Quality of service: how much longer a job stayed than it needed, and whether that is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from wattline.model.signal import FloatArray

VIOLATION_LIMIT = 0.10
"""The share of a type's jobs whose degradation may reach the threshold."""


@dataclass(frozen=True)
class TypeQuality:
    """What one type of jobs got."""

    name: str
    jobs: int
    """Jobs that count: finished ones, and unfinished ones that are already too late."""
    unfinished: int
    violation_share: float
    """Share of the counted jobs with a degradation of at least the threshold."""
    threshold: float
    mean: float
    """Mean degradation of the counted jobs."""
    quantile: float
    """The degradation that the violation limit's share of jobs reaches."""
    limit: float = VIOLATION_LIMIT

    @property
    def met(self) -> bool:
        return self.violation_share <= self.limit


def degradation(sojourn_s: FloatArray, time_s_min: float | FloatArray) -> FloatArray:
    """Q = (sojourn - shortest time) / shortest time."""
    found: FloatArray = (sojourn_s - time_s_min) / time_s_min
    return found


def judge(
    name: str,
    submit_s: FloatArray,
    end_s: FloatArray,
    *,
    time_s_min: float | FloatArray,
    threshold: float,
    now_s: float,
    limit: float = VIOLATION_LIMIT,
) -> TypeQuality:
    """Judge the jobs of one type at `now_s`; an unfinished job has a NaN or a later end.

    A job that has not finished counts only once it has stayed too long already: leaving it out
    would hide the violation, and counting the others would call them good before they are.
    """
    done = np.nan_to_num(end_s, nan=np.inf) <= now_s
    q = degradation(np.where(done, end_s, now_s) - submit_s, time_s_min)
    late = q >= threshold
    counted = done | late
    values = q[counted]
    share = float(late[counted].mean()) if values.size else 0.0
    return TypeQuality(
        name=name,
        jobs=int(values.size),
        unfinished=int((~done).sum()),
        violation_share=share,
        threshold=threshold,
        mean=float(values.mean()) if values.size else 0.0,
        quantile=upper_quantile(values, limit),
        limit=limit,
    )


def upper_quantile(values: FloatArray, share: float) -> float:
    """The largest value left when the allowed share of the highest values is set aside.

    So `upper_quantile(q, limit) < threshold` exactly when at most `limit` of them violate.
    """
    if not values.size:
        return 0.0
    ordered = np.sort(values)
    allowed = math.floor(share * values.size + 1e-9)
    return float(ordered[max(0, values.size - 1 - allowed)])


def share_interval(
    hits: int, count: int, z: float = 1.96
) -> tuple[float, float]:
    """Wilson's interval of a share: honest for the few jobs that an hour holds."""
    if count == 0:
        return 0.0, 1.0
    share = hits / count
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(
        share * (1 - share) / count + z * z / (4 * count * count)
    )
    return max(0.0, centre - half), min(1.0, centre + half)


def mean_interval(values: npt.ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean and its interval over independent repetitions (Student's t)."""
    sample = np.asarray(values, dtype=np.float64)
    sample = sample[np.isfinite(sample)]
    if sample.size == 0:
        return math.nan, math.nan, math.nan
    mean = float(sample.mean())
    if sample.size == 1:
        return mean, math.nan, math.nan
    half = _student(sample.size - 1, confidence) * float(sample.std(ddof=1)) / sample.size**0.5
    return mean, mean - half, mean + half


def _student(freedom: int, confidence: float) -> float:
    """The two-sided quantile of Student's t, by the series of Cornish and Fisher around z."""
    # Exact to 0.2 % from 3 degrees of freedom on at 95 %; below that the table is used.
    if confidence == 0.95 and freedom in (1, 2):
        return {1: 12.7062, 2: 4.3027}[freedom]
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    n = float(freedom)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / n + g2 / n**2 + g3 / n**3 + g4 / n**4
