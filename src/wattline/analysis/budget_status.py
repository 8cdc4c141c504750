"""An energy budget at a time of a run: what periods have drawn and promised, and who waits for it.

Everything comes from the run: its log, its jobs' requests, and what its policy promised. What is
said of the time after is what was known then.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wattline.analysis.series import power_steps
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.promises import EnergyPeriods
from wattline.model.run import Run
from wattline.model.shown import Shown
from wattline.model.signal import FloatArray
from wattline.results.verify.pace import due_s, idle_and_rise


@dataclass(frozen=True)
class PeriodStatus:
    """Joules of a period. `left_j` is what nobody has drawn or been promised."""

    period: int
    start_s: float
    end_s: float
    budget_j: float
    drawn_j: float
    idle_j: float
    """What idle nodes are still to draw in it..."""
    promised_j: float
    """...and running jobs above that, by their requests."""
    left_j: float


@dataclass(frozen=True)
class Waiting:
    """A job that has not started, and why."""

    job_id: int
    nodes: int
    since_s: float
    why: str
    needs_j: float
    """Above idle power: in the period of now, if it started now at full speed; of a job that no
    period has room for, what one would have to give."""
    for_energy: bool


@dataclass(frozen=True, repr=False)
class EnergyStatus(Shown):
    """The budget at a time, by period, and the jobs that wait.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> run = wl.simulate(trace, machine=machine, power=wl.Budget(energy="150kWh", period="1d"))
    >>> wl.energy_status(run, at="2h").now.period
    1
    """

    now_s: float
    carry: str
    unspent: str
    periods: tuple[PeriodStatus, ...]
    waiting: tuple[Waiting, ...]

    @property
    def now(self) -> PeriodStatus:
        """The period that holds at that time."""
        return next(row for row in reversed(self.periods) if row.start_s <= self.now_s)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"now": asdict(self.now)}


def status_at(run: Run, now_s: float) -> EnergyStatus:
    """Of a run under a budget, at a time of it."""
    promised = run.promises.budget
    if promised is None:
        raise InputError("this run has no energy budget: nothing is promised in joules; run it "
                         "with policy.power = 'budget'")
    if run.scenario.get("twin"):
        raise InputError("what waiting jobs need is worked out with whole nodes; of a twin's run "
                         "the periods are in its metrics (budget.by_period)")
    if not run.start_s <= now_s <= run.end_s:
        raise InputError(f"--at is {now_s - run.start_s:g} s after the first submission, the run "
                         f"lasts {run.end_s - run.start_s:g} s")
    runs = np.flatnonzero(run.ran & (run.schedule.start_s <= now_s) & (run.schedule.end_s > now_s))
    periods = _periods(run, promised, runs, now_s)
    now = next(row for row in reversed(periods) if row.start_s <= now_s)
    return EnergyStatus(now_s, promised.carry, promised.unspent, tuple(periods),
                        tuple(_waiting(run, now, runs, now_s)))


def _periods(
    run: Run, promised: EnergyPeriods, runs: IntArray, now_s: float
) -> list[PeriodStatus]:
    """All up to the one after now, and later ones that jobs are promised joules of."""
    until_s, above_w = due_s(run)[runs], _above_w(run, runs)
    edges = promised.edge_s
    length_s = float(edges[1] - edges[0])
    here = min(int((now_s - edges[0]) // length_s), len(edges) - 2)
    last_s = float(np.max(until_s[np.isfinite(until_s)], initial=now_s))
    count = max(int((last_s - edges[0]) // length_s), here + 1) + 1
    given_j, found = float(promised.energy_j), []
    for period in range(count):
        start_s = float(edges[0]) + period * length_s
        end_s = start_s + length_s
        drawn_j = _drawn_j(run, min(end_s, now_s)) - _drawn_j(run, min(start_s, now_s))
        ahead_s = max(end_s - max(start_s, now_s), 0.0)
        idle_j = run.machine.power_w_idle * ahead_s
        # A job that is overdue may stay.
        ends_s = np.where(until_s < now_s, end_s, until_s)
        shared_s = np.clip(np.minimum(ends_s, end_s) - max(start_s, now_s), 0.0, None)
        jobs_j = float(np.dot(above_w, shared_s))
        left_j = given_j - drawn_j - idle_j - jobs_j
        found.append(PeriodStatus(period + 1, start_s, end_s, given_j, drawn_j, idle_j, jobs_j,
                                  left_j))
        kept = promised.unspent == "carry" and end_s <= now_s
        given_j = float(promised.energy_j) + (max(left_j, 0.0) if kept else 0.0)
    return found


def _waiting(run: Run, now: PeriodStatus, runs: IntArray, now_s: float) -> list[Waiting]:
    free = run.units - int(run.schedule.nodes[runs].sum())
    no_room = {(job["job_id"], job["restart"]): job for job in run.budget.get("no_room", ())}
    rise_w = idle_and_rise(run)[1]
    started_s = np.where(run.ran, run.schedule.start_s, np.inf)
    found = []
    for row in np.flatnonzero((run.jobs.submit_s <= now_s) & (started_s > now_s)).tolist():
        key = (int(run.jobs.job_id[row]), int(run.jobs.restart[row]))
        nodes = int(run.schedule.nodes[row]) or _size(run, row)
        rest_s = min(float(run.jobs.requested_s[row]), now.end_s - now_s)
        needs_j = float(rise_w[row]) * rest_s
        why, for_energy = "its turn, or the power of this slot", False
        if key in no_room:
            why, for_energy = f"{no_room[key]['state']}: no period has room for it", True
            needs_j = float(no_room[key]["needs_j"])
        elif run.refused[row]:
            continue
        elif nodes > free:
            why = f"nodes: {nodes:,} of {free:,} free"
        elif needs_j > now.left_j:
            why, for_energy = "energy: this period has less left than it needs", True
        found.append(Waiting(key[0], nodes, float(run.jobs.submit_s[row]), why, needs_j,
                             for_energy))
    return found


def _size(run: Run, row: int) -> int:
    """Units of a job that never had any."""
    whole = run.units == run.machine.node_count
    cores = run.machine.groups[0].node_class.cores if whole else 1
    return -(-int(run.jobs.procs[row]) // cores)


def _above_w(run: Run, runs: IntArray) -> FloatArray:
    took_s = run.schedule.end_s[runs] - run.schedule.start_s[runs]
    idle_w = run.schedule.nodes[runs] * run.machine.power_w_idle / run.units
    return np.asarray(np.maximum(run.schedule.energy_j[runs] / took_s - idle_w, 0.0))


def _drawn_j(run: Run, time_s: float) -> float:
    steps = power_steps(run)
    drawn_j = np.append(0.0, np.cumsum(steps.value * np.diff(steps.edge_s)))
    return float(np.interp(time_s, steps.edge_s, drawn_j))
