"""Why a job was refused at its submission, in words for whoever sent it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wattline.engine.prepare import effective_cap, sizes_of
from wattline.policies.configuration.moldable import ADAPTIVE, FIXED, Moldable
from wattline.policies.contract import Composition
from wattline.scenario.build import Plan

if TYPE_CHECKING:
    from wattline.model.run import Run


def not_run(plan: Plan, run: Run) -> list[str]:
    """A line for jobs that were refused, one for those that were never let; none where all ran."""
    refused = refusals(plan, run)
    found = [f"{refused}; the figures are of the others"] if refused else []
    missing = int((~run.ran & ~run.refused).sum())
    if missing:
        found.append(f"{missing:,} of {len(run.jobs):,} jobs never ran (the policy, or a cap that "
                     "no moment satisfies, never let them); the figures are of the others")
    return found


def refusals(plan: Plan, run: Run) -> str:
    """A line that says how many jobs were refused and why the first of them; empty for none."""
    rows = np.flatnonzero(run.refused)
    if not rows.size:
        return ""
    count = f"{rows.size:,} of {len(run.jobs):,} jobs "
    count += "was" if rows.size == 1 else "were"
    count += " refused at submission because they could never start; "
    return f"{count}the first is {_of(plan, int(rows[0]))}"


def _of(plan: Plan, row: int) -> str:
    jobs = plan.jobs
    units = int(sizes_of(jobs, plan.machine, plan.scenario.machine.granularity)[row])
    where = f"{units} {'node' if plan.scenario.machine.granularity == 'node' else 'core'}"
    where += "" if units == 1 else "s"
    code = int(jobs.application[row])
    name = f"{jobs.name_of('application', code)} on " if code >= 0 else ""
    job = f"job {jobs.job_id[row]} ({name}{where})"
    policy = plan.policy
    if isinstance(policy, Composition) and isinstance(policy.configuration, Moldable):
        return f"{job}: {_without_configuration(plan, policy.configuration, row, units)}"
    return f"{job}: alone on the machine it exceeds every cap to come, or a bound of its nodes"


def _without_configuration(plan: Plan, rule: Moldable, row: int, units: int) -> str:
    """Which of the limits leaves a moldable job without a configuration."""
    cap = effective_cap(plan.rules)
    cap_w = np.inf if cap is None else float(cap.value.max())
    possible_w = cap_w - plan.machine.power_w_idle
    offers = rule.offers
    code = int(offers.code[row])
    if rule.rule == FIXED:
        rungs = offers.rung_row[offers.first_rung[code]:offers.first_rung[code + 1]]
        fewest = int(offers.row_nodes[rungs].min())
        if fewest > units:
            return f"its smallest configuration needs {fewest} nodes"
        return (f"on {fewest} nodes it draws {offers.row_power_w[rungs[0]]:.0f} W, and the cap "
                f"leaves {possible_w:.0f} W beside idle nodes")
    own = slice(offers.first_row[code], offers.first_row[code + 1])
    fits = offers.row_nodes[own] <= plan.machine.node_count
    if not fits.any():
        return f"its smallest configuration needs {offers.row_nodes[own].min()} nodes"
    least_w = float(offers.row_power_w[own][fits].min())
    if least_w > possible_w:
        return (f"its thriftiest configuration draws {least_w:.0f} W, and the cap leaves "
                f"{possible_w:.0f} W beside idle nodes")
    share_w = offers.weight[row] * units / plan.machine.node_count * cap_w
    said = (f"its thriftiest configuration draws {least_w:.0f} W, its fair share of the power is "
            f"{share_w:.0f} W")
    if rule.rule == ADAPTIVE:
        limit_s = (1.0 + rule.threshold) * float(plan.jobs.requested_s[row])
        possible = fits & (offers.row_power_w[own] <= possible_w)
        best_s = float(offers.row_time_s[own][possible].min())
        said += f", and even alone it takes {best_s:.4g} s where {limit_s:.4g} s are accepted"
    return said
