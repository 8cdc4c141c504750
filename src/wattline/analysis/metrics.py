"""The figures of a run, as a pure function of it. docs/metrics.md defines each one.

Only numpy is used here: a command that prints these figures must not pay for pandas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.run import LOST, Outcome, Run
from wattline.model.signal import FloatArray

SLOWDOWN_BOUND_S = 10.0
"""Jobs shorter than this count as this long in the bounded slowdown."""
TOP_USERS = 20
_QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class JobFigures:
    """The figures of the jobs that ran, one row each; `row` leads back to the job table."""

    row: npt.NDArray[np.intp]
    wait_s: FloatArray
    turnaround_s: FloatArray
    bounded_slowdown: FloatArray
    nodes: IntArray
    unit_s: FloatArray
    energy_j: FloatArray
    done: npt.NDArray[np.bool_]
    """Not lost while they ran: turnarounds and slowdowns are of these."""

    def __len__(self) -> int:
        return len(self.row)


def job_figures(run: Run) -> JobFigures:
    """Wait, turnaround, slowdown and use of each job that ran."""
    ran = run.ran
    row, mine = np.flatnonzero(ran), _chosen(ran)
    submit_s = run.jobs.submit_s[mine]
    start_s, end_s = run.schedule.start_s[mine], run.schedule.end_s[mine]
    held_s = end_s - start_s
    turnaround_s = end_s - submit_s
    nodes = run.schedule.nodes[mine]
    return JobFigures(
        row=row,
        wait_s=start_s - submit_s,
        turnaround_s=turnaround_s,
        bounded_slowdown=np.maximum(turnaround_s / np.maximum(held_s, SLOWDOWN_BOUND_S), 1.0),
        nodes=nodes,
        unit_s=nodes * held_s,
        energy_j=run.schedule.energy_j[mine],
        done=run.schedule.outcome[mine] < min(LOST),
    )


def _chosen(rows: npt.NDArray[np.bool_]) -> Any:
    """These rows, to index with: by their numbers, which is quicker than by flags; where it is all
    of them, nothing has to be copied."""
    return slice(None) if rows.all() else np.flatnonzero(rows)


def metrics(run: Run) -> dict[str, Any]:
    """All metrics of a run. A figure that does not exist (no job ran, no cap) is NaN.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300))
    >>> wl.metrics(run)["jobs"]["completed"]
    20
    """
    jobs = job_figures(run)
    used_unit_s = busy_unit_s(run)
    return {
        **_totals(run, jobs, used_unit_s),
        "by_size": _by_size(jobs),
        "by_user": _by_user(run, jobs),
        "by_class": _by_class(run, jobs, used_unit_s),
        "budget": dict(run.budget),
        "notes": dict(run.notes),
        "assumed": list(run.assumed),
        "remarks": list(run.remarks),
    }


def totals(run: Run) -> dict[str, Any]:
    """The metrics of all jobs together, without tables by size, user and class: where thousands
    of runs are compared, those would cost more than the runs."""
    return {**_totals(run, job_figures(run), busy_unit_s(run)),
            "budget": dict(run.budget), "notes": dict(run.notes)}


def _totals(run: Run, jobs: JobFigures, used_unit_s: float) -> dict[str, Any]:
    makespan_s = _makespan_s(run, jobs)
    span_s = run.end_s - run.start_s
    capped, done = run.cap_w is not None, _chosen(jobs.done)
    return {
        "jobs": _counts(run),
        "wait_s": spread(jobs.wait_s),
        "turnaround_s": spread(jobs.turnaround_s[done]),
        "bounded_slowdown": spread(jobs.bounded_slowdown[done]),
        "utilisation": _ratio(used_unit_s, run.units * makespan_s),
        "makespan_s": makespan_s,
        "energy_j": run.energy_j,
        "job_energy_j": float(jobs.energy_j.sum()),
        "edp_js": run.energy_j * makespan_s,
        "power_w": {"mean": _ratio(run.energy_j, span_s), "peak": run.power_w_peak},
        "time_above_cap_s": run.time_above_cap_s if capped else float("nan"),
        "energy_above_cap_j": run.energy_above_cap_j if capped else float("nan"),
        "fairness": _fairness(run, jobs, done),
    }


def spread(values: FloatArray) -> dict[str, float]:
    """Mean, percentiles (linear between ranks) and maximum."""
    if not values.size:
        return dict.fromkeys(("mean", *_QUANTILES, "max"), float("nan"))
    ordered = _ordered(values)
    points = _quantiles(ordered, _QUANTILES.values())
    return {
        "mean": float(values.mean()),
        **dict(zip(_QUANTILES, points, strict=True)),
        "max": float(ordered[-1]),
    }


def quantiles(values: FloatArray, parts: Iterable[float]) -> list[float]:
    """Quantiles, linear between ranks: the same as those of `np.quantile`, which takes several
    times as long on a few thousand values, and loads all of masked arrays to say it."""
    return _quantiles(_ordered(values), parts)


def _ordered(values: FloatArray) -> FloatArray:
    """All values in order, what is no number at the end: less than half the time of putting a few
    ranks alone in order."""
    return np.sort(values)


def _quantiles(ordered: FloatArray, parts: Iterable[float]) -> list[float]:
    last = ordered.size - 1
    if math.isnan(ordered[-1]):
        return [float("nan") for _ in parts]
    return [_between(ordered, part * last) for part in parts]


def _between(ordered: FloatArray, place: float) -> float:
    rank, over = int(place), place - int(place)
    low, high = float(ordered[rank]), float(ordered[min(rank + 1, len(ordered) - 1)])
    return low + (high - low) * over if over < 0.5 else high - (high - low) * (1 - over)


def busy_unit_s(run: Run) -> float:
    """Unit-seconds in use: the integral of the busy units over the event log."""
    log = run.events
    if not len(log):
        return float(job_figures(run).unit_s.sum())
    held_s = np.empty(len(log))  # np.diff with an end appended takes twice as long
    np.subtract(log.time_s[1:], log.time_s[:-1], out=held_s[:-1])
    held_s[-1] = max(run.end_s, log.time_s[-1]) - log.time_s[-1]
    # Not np.dot: threads of a linear algebra library cost more than the sum of a short log.
    return float((log.busy * held_s).sum())


def size_class(nodes: IntArray) -> IntArray:
    """Sizes in powers of two: 0 for 1, 1 for 2, 2 for 3-4, 3 for 5-8, and so on."""
    return np.ceil(np.log2(np.maximum(nodes, 1))).astype(np.int64)


def size_label(code: int) -> str:
    low, high = (2 ** (code - 1) + 1 if code else 1), 2**code
    return str(high) if low >= high else f"{low}-{high}"


def _counts(run: Run) -> dict[str, int]:
    by_outcome = np.bincount(run.schedule.outcome, minlength=len(Outcome))
    counts = {outcome.name.lower(): int(by_outcome[outcome]) for outcome in Outcome
              if outcome not in LOST or by_outcome[outcome]}
    return {"total": len(run.jobs), **counts}


def _makespan_s(run: Run, jobs: JobFigures) -> float:
    if not len(jobs):
        return float("nan")
    return float(run.schedule.end_s[jobs.row].max() - run.jobs.submit_s[0])


def _fairness(run: Run, jobs: JobFigures, done: Any) -> dict[str, float]:
    """How evenly the users were served: Jain's index and worst over mean, of mean slowdowns.

    `done` are the rows of the jobs that were not lost.
    """
    user = run.jobs.user[jobs.row[done]]
    if not (user >= 0).any():
        return {"users": 0, "jain": float("nan"), "max_over_mean": float("nan")}
    slowdown = jobs.bounded_slowdown[done]
    users, rows = _grouped(user)
    means = np.array([
        slowdown[mine].mean()
        for who, mine in zip(users, rows, strict=True) if who >= 0
    ])
    return {
        "users": int(means.size),
        "jain": float(means.sum() ** 2 / (means.size * np.dot(means, means))),
        "max_over_mean": float(means.max() / means.mean()),
    }


def _by_size(jobs: JobFigures) -> list[dict[str, Any]]:
    sizes, rows = _grouped(size_class(jobs.nodes))
    total = float(jobs.unit_s.sum())
    return [
        {"nodes": size_label(int(size)), **_group(jobs, mine, total)}
        for size, mine in zip(sizes, rows, strict=True)
    ]


def _by_user(run: Run, jobs: JobFigures) -> list[dict[str, Any]]:
    """The users who used most, largest first."""
    users, rows = _grouped(run.jobs.user[jobs.row])
    total = float(jobs.unit_s.sum())
    used_unit_s = np.array([jobs.unit_s[mine].sum() for mine in rows])
    top = np.argsort(-used_unit_s, kind="stable")[:TOP_USERS]
    return [
        {
            "user": run.jobs.name_of("user", int(users[rank])) if users[rank] >= 0 else "unknown",
            **_group(jobs, rows[rank], total),
        }
        for rank in top.tolist()
    ]


def _grouped(code: IntArray) -> tuple[IntArray, list[Rows]]:
    """The distinct codes, and the rows of each: one sort instead of a mask for every code."""
    if not code.size:
        return code, []
    low, high = int(code.min()), int(code.max())
    narrow = (code - low).astype(np.uint16) if high - low < 2**16 else code  # sorts in linear time
    order = np.argsort(narrow, kind="stable")
    codes = code[order]
    first = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    return codes[first], np.split(order, first[1:])


def _group(jobs: JobFigures, rows: Rows, total_unit_s: float) -> dict[str, Any]:
    used_unit_s = float(jobs.unit_s[rows].sum())
    return {
        **_waits(jobs, rows),
        "unit_s": used_unit_s,
        "share": _ratio(used_unit_s, total_unit_s),
        "energy_j": float(jobs.energy_j[rows].sum()),
    }


def _by_class(run: Run, jobs: JobFigures, used_unit_s: float) -> list[dict[str, Any]]:
    """By node class; a job that ran on nodes of several classes counts in each of them."""
    nodes: dict[str, int] = {}
    units: dict[str, int] = {}
    for group, count in zip(run.machine.groups, _group_units(run), strict=True):
        name = group.node_class.name
        nodes[name] = nodes.get(name, 0) + group.count
        units[name] = units.get(name, 0) + count
    used = _class_unit_s(run, used_unit_s)
    served = _class_jobs(run, jobs)
    span_s = run.end_s - run.start_s
    return [
        {
            "class": name,
            "nodes": count,
            "energy_j": run.class_energy_j.get(name, float("nan")),
            "busy": _ratio(used.get(name, float("nan")), units[name] * span_s),
            **_waits(jobs, served.get(name)),
        }
        for name, count in nodes.items()
    ]


def _group_units(run: Run) -> list[int]:
    """The units of each group of nodes: its nodes, or their cores."""
    by_core = run.units != run.machine.node_count
    return [group.count * (group.node_class.cores if by_core else 1)
            for group in run.machine.groups]


def _waits(jobs: JobFigures, rows: Rows | None) -> dict[str, Any]:
    """How many jobs, and how they fared; without rows it is not known which jobs are meant."""
    chosen = np.zeros(0, np.intp) if rows is None else rows
    done = chosen[jobs.done[chosen]]
    return {
        "jobs": len(chosen) if rows is not None else None,
        "wait_s": spread(jobs.wait_s[chosen]),
        "turnaround_s": spread(jobs.turnaround_s[done]),
        "bounded_slowdown": spread(jobs.bounded_slowdown[done]),
    }


def _class_jobs(run: Run, jobs: JobFigures) -> dict[str, Rows]:
    """Rows of the jobs that ran on each class: all with one class, or from their placement."""
    names = {group.node_class.name for group in run.machine.groups}
    if len(names) == 1:
        return {names.pop(): np.arange(len(jobs))}
    if run.placement is None:
        return {}
    place = run.placement
    on_class = {name: np.zeros(len(run.jobs), dtype=bool) for name in names}
    first = 0
    for group, count in zip(run.machine.groups, _group_units(run), strict=True):
        inside = (place.first < first + count) & (place.first + place.count > first)
        on_class[group.node_class.name][place.job[inside]] = True
        first += count
    return {name: np.flatnonzero(ran_there[jobs.row]) for name, ran_there in on_class.items()}


def _class_unit_s(run: Run, used_unit_s: float) -> Mapping[str, float]:
    """Unit-seconds used on each class: known with one class, or from the placement of jobs."""
    names = {group.node_class.name for group in run.machine.groups}
    if len(names) == 1:
        return {names.pop(): used_unit_s}
    if run.placement is None:
        return {}
    place = run.placement
    held_s = (run.schedule.end_s - run.schedule.start_s)[place.job]
    used: dict[str, float] = {}
    first = 0
    for group, count in zip(run.machine.groups, _group_units(run), strict=True):
        inside = np.clip(
            np.minimum(place.first + place.count, first + count)
            - np.maximum(place.first, first), 0, None
        )
        name = group.node_class.name
        used[name] = used.get(name, 0.0) + float(np.dot(inside, held_s))
        first += count
    # Of a job that ran in several stretches not all of them are known.
    return used if math.isclose(sum(used.values()), used_unit_s, rel_tol=1e-6) else {}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")
