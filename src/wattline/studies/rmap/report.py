"""What the RMAP study found, beside what was published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from wattline.analysis.intervals import half_interval
from wattline.model.signal import FloatArray
from wattline.studies.published import judge
from wattline.studies.rmap.study import Figures, RmapResult


class Claim(NamedTuple):
    """A published comparison: by how much the first policy's turnaround is below the second's."""

    traces: tuple[str, ...]
    policy: str
    against: str
    published: float
    """Mean over the bounds, as a fraction; negative where it is worse."""
    text: str


CLAIMS = (
    Claim(("large",), "adaptive_0", "traditional", 0.143, "adaptive beats traditional"),
    Claim(("large",), "adaptive_0", "naive", 0.217, "adaptive beats naive"),
    Claim(("large",), "adaptive_10", "traditional", 0.161, "a threshold of 10 % beats traditional"),
    Claim(("small",), "adaptive_0", "traditional", -0.166, "adaptive loses to traditional"),
    Claim(("random1", "random2"), "adaptive_0", "traditional", 0.1852,
          "adaptive beats traditional"),
    Claim(("random1", "random2"), "adaptive_0", "naive", 0.3607, "adaptive beats naive"),
    Claim(("large",), "adaptive_30", "adaptive_0", 0.021, "a threshold of 10 to 30 % helps"),
    Claim(("random1", "random2", "small"), "adaptive_30", "adaptive_0", 0.026,
          "a threshold helps, below"),
    Claim(("large",), "adaptive_0", "adaptive_unbounded", 0.338, "without any bound it is worse"),
)


class PublishedFinding(NamedTuple):
    """A claim beside what was measured here."""

    claim: Claim
    mean: float
    half_width: float
    """Of the 95 % interval of the mean over seeds."""
    best: float
    """At the bound where it is largest."""
    worst: float

    @property
    def verdict(self) -> str:
        """One of those of `wattline.studies.published`."""
        if np.isnan(self.half_width):
            return "not reproduced"
        here, there = self.mean, self.claim.published
        if abs(here) <= self.half_width:
            return "fails"
        turns = self.worst if there > 0 else -self.best
        verdict = judge(there, here)
        return "holds on average" if verdict == "holds" and turns < 0 else verdict

    @property
    def why(self) -> str:
        """What the verdict does not say."""
        if np.isnan(self.half_width):
            return "one seed says nothing"
        if abs(self.mean) <= self.half_width:
            return "no difference"
        if (self.mean > 0) != (self.claim.published > 0):
            return "the reverse"
        part = self.mean / self.claim.published
        low, high = (f"{round(100 * each) + 0:+d}" for each in (self.worst, self.best))
        by_bound = f"by bound from {low} to {high} %"
        return f"the same sign, {part:.2g} times as much; {by_bound}"


def improvement(
    result: RmapResult, traces: tuple[str, ...], policy: str, against: str
) -> FloatArray:
    """1 - turnaround / turnaround of the other; rows are bounds, columns seeds of all traces."""
    rows = []
    for bound in result.setting.bounds:
        parts = [1.0 - result.of("turnaround_s", trace, bound, policy)
                 / result.of("turnaround_s", trace, bound, against) for trace in traces]
        rows.append(np.concatenate(parts))
    return np.array(rows)


def findings(result: RmapResult) -> Iterator[PublishedFinding]:
    """Every claim whose traces and policies were run."""
    for claim in CLAIMS:
        traces = tuple(trace for trace in claim.traces if trace in result.setting.traces)
        known = {claim.policy, claim.against} <= set(result.setting.policies)
        if not traces or not known:
            continue
        gains = improvement(result, traces, claim.policy, claim.against)
        by_seed = gains.mean(axis=0)
        by_bound = gains.mean(axis=1)
        # Traces of several kinds, one of each, differ by their kind and say nothing of chance.
        half = half_interval(by_seed) if len(result.setting.seeds) > 1 else float("nan")
        yield PublishedFinding(claim, float(by_seed.mean()), half, float(by_bound.max()),
                      float(by_bound.min()))


def said_of_tables(left_out: Mapping[str, str], notes: Iterable[str]) -> tuple[str, ...]:
    """Which applications were left out and why, and what must be known of the others."""
    return (*(f"'{name}' is left out: {why}" for name, why in left_out.items()), *notes)


def as_dict(result: RmapResult) -> dict[str, Any]:
    """Means and intervals by trace, bound and policy, and the findings."""
    setting = result.setting

    def nested(figure: str, summary: Any) -> dict[str, Any]:
        return {
            trace: {f"{bound:g}": {policy: summary(result.of(figure, trace, bound, policy))
                                   for policy in setting.policies} for bound in setting.bounds}
            for trace in setting.traces
        }

    return {
        "nodes": setting.nodes, "peak_w": result.peak_w, "jobs": setting.jobs,
        "seeds": len(setting.seeds), "load": setting.load, "set_up": setting.set_up.as_dict(),
        "applications": list(result.applications), "left_out": dict(result.left_out),
        "notes": list(result.notes),
        "bounds_w": {f"{bound:g}": bound * result.peak_w for bound in setting.bounds},
        **{figure: nested(figure, lambda values: float(values.mean()))
           for figure in Figures._fields},
        "turnaround_s_interval_95": nested("turnaround_s", half_interval),
        "findings": [
            {"traces": list(one.claim.traces), "policy": one.claim.policy,
             "against": one.claim.against, "published": one.claim.published,
             "measured": one.mean,
             "interval_95": None if np.isnan(one.half_width) else one.half_width,
             "best_bound": one.best, "worst_bound": one.worst, "verdict": one.verdict,
             "why": one.why}
            for one in findings(result)
        ],
    }
