"""Quality of service: how much longer a job stayed than it needed, and whether that is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from wattline.model.signal import FloatArray

VIOLATION_LIMIT = 0.10
"""The share of a type's jobs whose degradation may reach the threshold."""
MEAN_EXCESS = 0.5
"""Excess of a type whose mean degradation is too large, in the sum by which constraints fail."""


@dataclass(frozen=True)
class TypeQuality:
    """What one type of jobs got."""

    name: str
    jobs: int
    """All that were submitted in the contract."""
    unfinished: int
    """Those of them that ended later, or not at all: judged by when they would end."""
    violation_share: float
    """Share of the jobs with a degradation of at least the threshold."""
    threshold: float
    mean: float
    """Mean degradation of the jobs."""
    quantile: float
    """The degradation that the violation limit's share of jobs reaches."""
    limit: float = VIOLATION_LIMIT
    by_mean: bool = False
    """The mean degradation is judged, not the share of the jobs that reach the threshold."""

    @property
    def met(self) -> bool:
        if self.by_mean:
            return self.mean < self.threshold
        return self.violation_share <= self.limit

    @property
    def excess(self) -> float:
        """By how much it fails, as a share."""
        if self.by_mean:
            return 0.0 if self.met else MEAN_EXCESS
        return max(0.0, self.violation_share - self.limit)

    @property
    def why(self) -> str:
        """Reason why it fails, where it does."""
        if self.by_mean:
            return (f"the mean degradation of the jobs is {self.mean:.3g}, and not below the "
                    f"threshold {self.threshold:g}")
        return (f"{self.violation_share:.1%} of the jobs reach the threshold {self.threshold:g}, "
                f"{self.violation_share - self.limit:.1%} above the limit")

    @classmethod
    def pooled(cls, parts: Sequence[TypeQuality]) -> TypeQuality:
        """One type over several runs, all its jobs judged together."""
        jobs = sum(part.jobs for part in parts)
        late = sum(part.violation_share * part.jobs for part in parts)
        total = sum(part.mean * part.jobs for part in parts)
        return replace(
            parts[0], jobs=jobs, unfinished=sum(part.unfinished for part in parts),
            violation_share=late / jobs if jobs else 0.0, mean=total / jobs if jobs else 0.0,
            quantile=max(part.quantile for part in parts),
        )

    def figures(self) -> dict[str, float | bool | None]:
        """For answers: of a type without jobs nothing is known, so it is neither met nor missed."""
        some = self.jobs > 0
        return {
            "violation_share": self.violation_share if some else None, "threshold": self.threshold,
            "mean": self.mean if some else None, "jobs": self.jobs, "unfinished": self.unfinished,
            "met": self.met if some else None,
        }


def met_as_judged(violations: Sequence[str], quality: Sequence[TypeQuality]) -> bool | None:
    """Whether constraints are met; None where none fails and no job was there to judge."""
    if violations:
        return False
    return True if any(each.jobs for each in quality) else None


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
    """Judge the jobs of one type; ends after `now_s` are those of `projected_end_s`."""
    values = degradation(end_s - submit_s, time_s_min)
    unfinished = int(np.count_nonzero(end_s > now_s))
    return quality_of(name, values, unfinished=unfinished, threshold=threshold, limit=limit)


def quality_of(
    name: str, degradations: FloatArray, *, unfinished: int, threshold: float,
    limit: float = VIOLATION_LIMIT,
) -> TypeQuality:
    """What one type of jobs got, from the degradation of each of them."""
    count = degradations.size
    late = int(np.count_nonzero(degradations >= threshold))
    return TypeQuality(
        name=name,
        jobs=count,
        unfinished=unfinished,
        violation_share=late / count if count else 0.0,
        threshold=threshold,
        mean=float(degradations.sum()) / count if count else 0.0,
        quantile=upper_quantile(degradations, limit),
        limit=limit,
    )


def projected_end_s(
    submit_s: FloatArray,
    start_s: FloatArray,
    end_s: FloatArray,
    *,
    left_s: FloatArray,
    time_s_min: float | FloatArray,
    now_s: float,
    types: Sequence[slice] = (slice(None),),
) -> FloatArray:
    """When every job ends; where the run left it open (NaN), when it would.

    Jobs stand in the order of their submission: all are of one type, or type by type in `types`.

    To leave out jobs that never started would make starving a type free: where the shortest time
    and the allowed delay together exceed the contract, none of them could ever be seen to be late.
    So they start after `now_s` in the order of their submission, as fast after each other as jobs
    of the type started while some waited (one more start is granted, so that a job that has just
    come does not wait for ever), and then run at full speed. A job that was paused goes on now:
    `left_s` is what is left of it.
    """
    unknown = np.isnan(end_s)
    if not unknown.any():
        return end_s
    found = np.where(unknown, now_s + left_s, end_s)
    waiting = unknown & (left_s >= time_s_min)
    queued = waiting | ~unknown
    until_s = np.where(waiting, now_s, start_s)
    for mine in types:
        turns = np.flatnonzero(waiting[mine])
        if turns.size:
            among = queued[mine]
            waited_s = _covered_s(submit_s[mine][among], until_s[mine][among])
            gap_s = waited_s / (1 + among.sum() - turns.size)
            found[mine][turns] += gap_s * np.arange(1, turns.size + 1)
    return found


def _covered_s(start_s: FloatArray, end_s: FloatArray) -> float:
    """The length of the union of these intervals, which are in the order of their starts."""
    covered_s = np.maximum.accumulate(end_s)
    from_s = start_s.copy()
    np.maximum(start_s[1:], covered_s[:-1], out=from_s[1:])
    return float(np.maximum(0.0, end_s - from_s).sum())


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
