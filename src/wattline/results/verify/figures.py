"""The rule of printed figures: the metrics of a run, worked out again from its records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from wattline.model.run import LOST, Outcome, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import Finding, Skipped, Verdicts, held_s, jobs_that
from wattline.results.verify.group_figures import (
    MOST_USERS,
    Rows,
    classes,
    sizes,
    told_groups,
    users,
)

SHORTEST_S = 10.0
"""In the bounded slowdown shorter jobs count as this long, and no job as less than one."""
_NEAR = 1e-9
_PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


def figures(run: Run, told: Mapping[str, Any]) -> Verdicts:
    """Each figure that is told of the run and its groups is the one that its records give.

    What a policy notes of itself, assumptions and remarks are words of whoever made the run.
    """
    expected = _flat(_expected(run))
    said = _flat(told)
    for name, value in expected.items():
        if name not in said:
            yield Skipped(f"the run tells no figure '{name}'")
        elif not _same(said[name], value):
            yield Finding(f"the metric {name} is {said[name]!r}, the records give {value!r}")
    groups = told_groups(told)
    for table, those in _groups(run).items():
        if table in groups:
            yield from _of_groups(run, table, those, groups[table])
        else:
            yield Skipped(f"the run tells no figures '{table}'")
    if len({group.node_class.name for group in run.machine.groups}) > 1:
        yield Skipped("by_class.busy of several node classes is not worked out again")


def _of_groups(run: Run, table: str, those: Mapping[str, Mapping[str, Any]],
               told: Mapping[str, Mapping[str, Any]]) -> Verdicts:
    """Each group is told, and no other, with the figures that the records give."""
    names = set(those)
    if table == "by_user":  # of several who used as much any may be among the first
        names &= set(told)
        count = min(len(np.unique(run.jobs.user[run.ran])), MOST_USERS)
        if len(names) != count or len(told) != count:
            yield Finding(f"{table} has {len(told)} rows, of which {len(names)} are of the {count} "
                          "who used most")
    elif names != set(told):
        yield Finding(f"{table} has rows of {', '.join(told) or 'none'}, the records of "
                      f"{', '.join(those) or 'none'}")
    for group in sorted(names & set(told)):
        said = _flat(told[group])
        for name, value in _flat(those[group]).items():
            if not _same(said.get(name, math.nan), value):
                yield Finding(f"the metric {table}.{group}.{name} is {said.get(name)!r}, the "
                              f"records give {value!r}")


def job_columns(run: Run, columns: Mapping[str, FloatArray]) -> Verdicts:
    """Waits and run times of the table of jobs are those between its times."""
    schedule = run.schedule
    expected = {"wait_s": schedule.start_s - run.jobs.submit_s,
                "elapsed_s": schedule.end_s - schedule.start_s}
    for name, values in expected.items():
        if name not in columns:
            yield Skipped(f"the table of jobs has no column '{name}'")
        else:
            wrong = ~np.isclose(columns[name], values, rtol=_NEAR, atol=1e-9, equal_nan=True)
            yield from jobs_that(run, wrong, f"have another {name} than between their times")


def _expected(run: Run) -> dict[str, Any]:
    ran, schedule = np.flatnonzero(run.ran), run.schedule
    whole = _whole(run, ran)
    makespan_s = (float(schedule.end_s[ran].max() - run.jobs.submit_s[0]) if ran.size
                  else math.nan)
    busy_s = float(np.sum(run.events.busy * held_s(run)))
    span_s = run.end_s - run.start_s
    energy_j = float(np.dot(run.events.power_w, held_s(run)))
    capped = run.cap_w is not None
    return {
        "jobs.total": len(run.jobs),
        **{f"jobs.{kind.name.lower()}": count for kind in Outcome
           if (count := int(np.sum(schedule.outcome == kind))) or kind not in LOST},
        **_waits(run, ran),
        "makespan_s": makespan_s,
        "utilisation": busy_s / (run.units * makespan_s) if makespan_s > 0 else math.nan,
        "energy_j": energy_j,
        "job_energy_j": float(schedule.energy_j[ran].sum()),
        "edp_js": energy_j * makespan_s,
        "power_w.mean": energy_j / span_s if span_s > 0 else math.nan,
        "power_w.peak": float(run.events.power_w[held_s(run) > 0].max(initial=0.0)),
        # These two of the run itself are held to its log by the rule cap.totals.
        "time_above_cap_s": run.time_above_cap_s if capped else math.nan,
        "energy_above_cap_j": run.energy_above_cap_j if capped else math.nan,
        **_by_user(run, whole, _slowdown(run, whole)),
    }


def _whole(run: Run, rows: Rows) -> Rows:
    """Of these jobs those that were not lost while they ran."""
    return rows[~np.isin(run.schedule.outcome[rows], LOST)]


def _slowdown(run: Run, rows: Rows) -> FloatArray:
    turnaround_s = run.schedule.end_s[rows] - run.jobs.submit_s[rows]
    length_s = np.maximum(run.schedule.end_s[rows] - run.schedule.start_s[rows], SHORTEST_S)
    return np.maximum(turnaround_s / length_s, 1.0)


def _waits(run: Run, rows: Rows) -> dict[str, Any]:
    """Waits, turnarounds and slowdowns of these jobs."""
    whole, submit_s = _whole(run, rows), run.jobs.submit_s
    return {"wait_s": _spread(run.schedule.start_s[rows] - submit_s[rows]),
            "turnaround_s": _spread(run.schedule.end_s[whole] - submit_s[whole]),
            "bounded_slowdown": _spread(_slowdown(run, whole))}


def _groups(run: Run) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures of each group, by table and by the group's name."""
    ran, schedule = np.flatnonzero(run.ran), run.schedule
    unit_s = schedule.nodes * (schedule.end_s - schedule.start_s)
    total = float(unit_s[ran].sum())

    def group(rows: Rows) -> dict[str, Any]:
        used = float(unit_s[rows].sum())
        return {"jobs": len(rows), **_waits(run, rows), "unit_s": used,
                "share": used / total if total > 0 else math.nan,
                "energy_j": float(schedule.energy_j[rows].sum())}

    def on_class(mine: dict[str, Any]) -> dict[str, Any]:
        rows = mine["jobs"]
        served = np.zeros(0, np.intp) if rows is None else rows
        return {**mine, "jobs": None if rows is None else len(rows), **_waits(run, served)}

    return {
        "by_size": {name: group(rows) for name, rows in sizes(run, ran).items()},
        "by_user": {name: group(rows) for name, rows in users(run, ran, unit_s[ran]).items()},
        "by_class": {name: on_class(mine) for name, mine in classes(run, ran).items()},
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
