"""The rule of printed figures: the metrics of a run, worked out again from its records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wattline.model.run import Outcome, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import Finding, Skipped, Verdicts, held_s

SHORTEST_S = 10.0
"""In the bounded slowdown shorter jobs count as this long, and no job as less than one."""
_NEAR = 1e-9
_PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


def figures(run: Run, told: Mapping[str, Any]) -> Verdicts:
    """Each figure that is told of the run as a whole is the one that its records give."""
    expected = _flat(_expected(run))
    said = _flat(told)
    for name, value in expected.items():
        if name not in said:
            yield Skipped(f"the run tells no figure '{name}'")
        elif not _same(said[name], value):
            yield Finding(f"the metric {name} is {said[name]!r}, the records give {value!r}")


def _expected(run: Run) -> dict[str, Any]:
    ran = np.flatnonzero(run.ran)
    schedule, submit_s = run.schedule, run.jobs.submit_s
    whole = ran[(schedule.outcome[ran] == Outcome.COMPLETED)
                | (schedule.outcome[ran] == Outcome.KILLED)]
    turnaround_s = schedule.end_s[whole] - submit_s[whole]
    length_s = np.maximum(schedule.end_s[whole] - schedule.start_s[whole], SHORTEST_S)
    slowdown = np.maximum(turnaround_s / length_s, 1.0)
    makespan_s = float(schedule.end_s[ran].max() - submit_s[0]) if ran.size else math.nan
    busy_s = float(np.sum(run.events.busy * held_s(run)))
    span_s = run.end_s - run.start_s
    return {
        "jobs.total": len(run.jobs),
        "jobs.completed": int(np.sum(schedule.outcome == Outcome.COMPLETED)),
        "jobs.killed": int(np.sum(schedule.outcome == Outcome.KILLED)),
        "wait_s": _spread(schedule.start_s[ran] - submit_s[ran]),
        "turnaround_s": _spread(turnaround_s),
        "bounded_slowdown": _spread(slowdown),
        "makespan_s": makespan_s,
        "utilisation": busy_s / (run.units * makespan_s) if makespan_s > 0 else math.nan,
        "energy_j": float(np.dot(run.events.power_w, held_s(run))),
        "job_energy_j": float(schedule.energy_j[ran].sum()),
        "power_w.mean": (float(np.dot(run.events.power_w, held_s(run))) / span_s
                         if span_s > 0 else math.nan),
        "power_w.peak": float(run.events.power_w[held_s(run) > 0].max(initial=0.0)),
        **_by_user(run, whole, slowdown),
    }


def _by_user(run: Run, rows: np.ndarray[Any, Any], slowdown: FloatArray) -> dict[str, float]:
    """Fairness among known users: Jain's index, and worst over mean, of mean slowdowns."""
    user = run.jobs.user[rows]
    means = np.array([slowdown[user == each].mean() for each in np.unique(user[user >= 0])])
    if not means.size:
        return {"fairness.users": 0}
    return {"fairness.users": means.size,
            "fairness.jain": float(means.sum() ** 2 / (means.size * (means**2).sum())),
            "fairness.max_over_mean": float(means.max() / means.mean())}


def _spread(values: FloatArray) -> dict[str, float]:
    if not values.size:
        return dict.fromkeys(("mean", *_PERCENTILES, "max"), math.nan)
    return {"mean": float(values.mean()), "max": float(values.max()),
            **{name: float(np.percentile(values, part)) for name, part in _PERCENTILES.items()}}


def _flat(nested: Mapping[str, Any], path: str = "") -> dict[str, float]:
    """Numbers at any depth under their place with dots; what is no number counts as NaN."""
    found: dict[str, float] = {}
    for name, value in nested.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{path}{name}.")
        elif value is None or isinstance(value, (int, float)):
            found[path + name] = math.nan if value is None else value
    return found


def _same(first: float, second: float) -> bool:
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return math.isclose(first, second, rel_tol=_NEAR, abs_tol=1e-9)
