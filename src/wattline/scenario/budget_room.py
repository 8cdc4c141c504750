"""Jobs that no period of an energy budget has the joules for, and what they would need."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.engine.prepare import Rules, effective_cap, sizes_of
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.model.unit_power import unit_idle_w_least, unit_rise_w_most
from wattline.physics.budget_terms import ALLOW, CHARGE_NOW, KEEP, MOST_PERIODS
from wattline.scenario.budget_notes import named


def without_room(budget: Any, run: Run, rules: Rules) -> list[dict[str, Any]]:
    """Of each job that did not run for want of joules: those that it needs and those there are.

    Both are above idle power. `needs_j` is what a period would have to give at the best moment for
    it, at the frequency that needs least; `gives_j` is the most that a period gives.
    """
    rows = np.flatnonzero(~run.ran)
    if not rows.size:
        return []
    jobs, ladder = run.jobs, budget.adaptive
    units = sizes_of(jobs, run.machine, rules.granularity)[rows]
    own_w = jobs.power_w[rows]
    rise_w = np.where(np.isnan(own_w), units * unit_rise_w_most(run.machine, rules.granularity),
                      own_w - units * unit_idle_w_least(run.machine, rules.granularity))
    low, high = (ladder.memory.find[name](jobs, rules.logged) for name in ("low", "high"))
    cap = effective_cap(rules)
    # With other nodes off a little more may fit under a cap than is reckoned here.
    cap_w = np.inf if cap is None or ladder.shut else float(cap.value.max())
    gives_j = most_given_j(budget)
    found = []
    for row, full in zip(rows.tolist(), rise_w.tolist(), strict=True):
        needs_j = min((
            most_needed_j(budget, full * ladder.dynamic[level],
                          jobs.requested_s[row] * budget.slowest / ladder.speed[level])
            for level in range(low[row], high[row] + 1)
            if budget.min_w + full * ladder.dynamic[level] <= cap_w * (1 + CAP_SLACK)), default=0.0)
        if needs_j > gives_j:
            found.append({**named(run, row), "needs_j": float(needs_j), "gives_j": gives_j,
                          "state": "refused" if run.refused[row] else "held"})
    return found


def most_given_j(budget: Any) -> float:
    """The most that a period gives above idle; with what was saved up, where that is kept."""
    gives_j = float(budget.energy_j - budget.min_w * budget.length_s - budget.switching_j)
    return gives_j * (MOST_PERIODS + 1) if budget.unspent == KEEP else gives_j


def most_needed_j(budget: Any, rise_w: float, time_s: float) -> float:
    """What the period that a job draws most from would have to give, at the best slot for it."""
    if budget.carry == CHARGE_NOW or budget.unspent == KEEP:
        return rise_w * time_s
    planned = len(budget.first) - 2
    first = budget.first[planned] + planned
    edge_s = np.asarray(budget.edge_s[first:budget.first[planned + 1] + planned])
    return float(np.maximum(*(_most_j(budget, rise_w, time_s, budget.length_s - edge_s - delay_s)
                              for delay_s in (0.0, budget.switching_s))).min())


def _most_j(budget: Any, rise_w: float, time_s: float, left_s: FloatArray) -> FloatArray:
    """What a period would have to give if the job starts so long before the end of one."""
    here_s = np.minimum(time_s, left_s)
    next_s = np.clip(time_s - left_s, 0.0, budget.length_s) if budget.carry != ALLOW else 0.0
    return np.where(left_s > 0, rise_w * np.maximum(here_s, next_s), np.inf)
