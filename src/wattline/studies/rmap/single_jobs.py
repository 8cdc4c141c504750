"""What each job gains, and the power that each gets: sections 5.6.3 and 5.6.4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from wattline.analysis.intervals import half_interval
from wattline.model.progress import silent
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.policies.configuration.offers import Offers, make_offers
from wattline.studies.rmap.study import RmapSetting, peak_w_per_node, ready_tables, run_one
from wattline.studies.rmap.workloads import make_trace

USERS = ("traditional", "naive", "adaptive_0", "adaptive_10", "adaptive_20", "adaptive_30")
BOUND_OF_USERS, BOUND_OF_POWER = 0.44, 0.95
"""Those of table 5.4 and of figure 5.12."""
SAME = 1e-6
"""Turnarounds that differ by less than this part are the same."""
Tables = Mapping[str, ConfigurationTable]


def _runs(
    tables: Tables, setting: RmapSetting, trace: str, bound: float, policies: tuple[str, ...],
    progress: Callable[[float], None],
) -> Iterator[tuple[dict[str, Run], Offers]]:
    """One trace a seed, under each policy."""
    usable = ready_tables(tables, setting).tables
    for done, seed in enumerate(setting.seeds):
        jobs = make_trace(trace, list(usable.values()), setting.nodes, seed, jobs=setting.jobs,
                          load=setting.load, request=setting.set_up.request)
        offers = make_offers(jobs, usable)
        bound_w = bound * setting.nodes * peak_w_per_node(usable)
        yield {policy: run_one(jobs, offers, setting.nodes, bound_w, policy, setting.set_up)
               for policy in policies}, offers
        progress((done + 1) / len(setting.seeds))


def _turnaround_s(run: Run) -> FloatArray:
    return np.asarray(run.schedule.end_s - run.jobs.submit_s, dtype=np.float64)


def gains_of_users(
    tables: Tables, setting: RmapSetting, progress: Callable[[float], None] = silent,
    trace: str = "large", bound: float = BOUND_OF_USERS,
) -> dict[str, Any]:
    """Table 5.4, figures 5.10 and 5.11: mean turnarounds, and how many jobs gain by a policy."""
    means: dict[str, list[float]] = {policy: [] for policy in USERS}
    against: dict[str, list[list[float]]] = {}
    for runs, _ in _runs(tables, setting, trace, bound, USERS, progress):
        times = {policy: _turnaround_s(run) for policy, run in runs.items()}
        for policy, values in times.items():
            means[policy].append(float(values.mean()))
        pairs = [(policy, "traditional") for policy in USERS[2:5]] + [("adaptive_20", "adaptive_0")]
        for policy, other in pairs:
            ratio = times[policy] / times[other]
            against.setdefault(f"{policy} against {other}", []).append([
                float((ratio < 1 - SAME).sum()), float((np.abs(ratio - 1) <= SAME).sum()),
                float((ratio > 1 + SAME).sum()), float(1 - ratio.min()), float(ratio.max() - 1)])
    traditional = np.array(means["traditional"])
    return {
        "trace": trace, "bound": bound, "jobs": setting.jobs, "seeds": len(setting.seeds),
        "turnaround_s": {policy: _with_interval(np.array(values))
                         for policy, values in means.items()},
        "below_traditional": {policy: _with_interval(1 - np.array(values) / traditional)
                              for policy, values in means.items() if policy != "traditional"},
        "users": {name: {what: _with_interval(np.array(rows)[:, at]) for at, what in enumerate(
            ("better", "same", "worse", "largest_gain", "largest_loss"))}
            for name, rows in against.items()},
    }


def power_of_jobs(
    tables: Tables, setting: RmapSetting, progress: Callable[[float], None] = silent,
    trace: str = "random2", bound: float = BOUND_OF_POWER,
) -> dict[str, Any]:
    """Figures 5.12 and 5.13: the power that jobs get, and that is used when each is started."""
    found: dict[str, list[float]] = {}
    for runs, offers in _runs(tables, setting, trace, bound, ("traditional", "adaptive_0"),
                              progress):
        one, other = runs["traditional"], runs["adaptive_0"]
        gain = 1 - _turnaround_s(other) / _turnaround_s(one)
        drawn = {name: _power_w(run, offers) for name, run in runs.items()}
        figures = {
            "jobs_without_wait_traditional": float(
                (one.schedule.start_s - one.jobs.submit_s <= 1e-9).sum()),
            "jobs_better": float((gain > SAME).sum()),
            "jobs_twice_as_fast": float((gain > 0.5).sum()),
            "mean_gain_of_jobs": float(gain.mean()),
            "power_of_jobs_above_traditional": float(
                (drawn["adaptive_0"] / drawn["traditional"] - 1).mean()),
            **{f"power_at_starts_{name}": _power_at_starts(run, drawn[name])
               for name, run in runs.items()},
        }
        for name, value in figures.items():
            found.setdefault(name, []).append(value)
    return {"trace": trace, "bound": bound, "jobs": setting.jobs, "seeds": len(setting.seeds),
            **{name: _with_interval(np.array(values)) for name, values in found.items()}}


def _power_w(run: Run, offers: Offers) -> FloatArray:
    """What each job was started with."""
    power_w: FloatArray = offers.row_power_w[np.asarray(run.schedule.configuration) - 1]
    return power_w


def _power_at_starts(run: Run, drawn_w: FloatArray) -> float:
    """Power in use over the bound when a job is scheduled, mean over the jobs (figure 5.12)."""
    start_s, end_s = run.schedule.start_s, run.schedule.end_s
    assert run.cap_w is not None
    runs_then = (start_s[None, :] <= start_s[:, None]) & (end_s[None, :] > start_s[:, None])
    return float((runs_then @ drawn_w).mean() / run.cap_w.value[0])


def _with_interval(values: FloatArray) -> dict[str, float | None]:
    width = half_interval(values)
    return {"mean": float(values.mean()), "interval_95": None if np.isnan(width) else width}
