"""What is allowed but may surprise: settings without effect, requests that are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.engine.prepare import sizes_of
from wattline.model.fields import name_of
from wattline.model.unit_power import unit_idle_w_least
from wattline.model.units import counted, format_duration, format_power, joules_text
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.configuration.moldable_setup import notes_of
from wattline.policies.configuration.offers import tables_used
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.scenario.build import Plan
from wattline.scenario.model import PowerSection, Scenario
from wattline.scenario.unused import WATTS_UNUSED, unused
from wattline.traces import Trace


def cleaned(trace: Trace, *, run_times_used: bool = True) -> list[str]:
    """What the reader did to the log, a line for each rule.

    Where jobs run for the time of a configuration, run times above requests say nothing.
    """
    found = list(trace.remarks)
    for rule in trace.cleaning.touched:
        if rule.name == "overrun" and not run_times_used:
            continue
        jobs = f"{rule.jobs:,} job" + ("" if rule.jobs == 1 else "s")
        lost = f" Joules left out: {joules_text(rule.energy_j)}." if rule.lacks_joules else ""
        found.append(f"{trace.source}: {jobs}: {rule.statement}{lost}")
    return found


def remarks(plan: Plan) -> list[str]:
    """A line for each setting that changes nothing, and for requests that are not met as made."""
    if plan.scenario.twin is not None:
        from wattline.scenario.twin.planning import TwinPlan

        assert isinstance(plan, TwinPlan)
        return [*plan.told(), *_before_the_cap(plan)]
    found = [*plan.left_out, *_fewer_jobs(plan), *_before_the_cap(plan)]
    policy = plan.policy
    if (
        isinstance(policy, Composition)
        and isinstance(policy.backfill, Conservative)
        and not isinstance(policy.order, Fcfs)
    ):
        found.append(
            "policy.order has no effect: under conservative backfilling every job gets its "
            "reservation when it arrives"
        )
    if plan.rules.cap_w is not None and not isinstance(policy, Composition):
        found.append(f"power.cap: keeping it is the business of the policy "
                     f"{type(policy).__name__}, which sees it in view.cap_w")
    if plan.rules.cap_w is None and any(each.watts for each in plan.rules.reservations):
        found.append(WATTS_UNUSED)
    if plan.rules.cap_counts == "jobs":
        found.append("power.cap_counts is 'jobs': the cap is held against running jobs; idle nodes "
                     f"draw up to {format_power(plan.machine.power_w_idle)} beyond it")
    found += unused(plan)
    found += _of_cores(plan.scenario)
    found += _of_ledger(plan.scenario)
    if isinstance(policy, Composition) and plan.tables is not None:
        found += notes_of(plan.tables, plan.jobs)
        found += _below_idle(plan)
        found += _of_rule(plan.scenario.policy.configure)
        found += _rounded_down(plan, policy.configuration)
    if plan.tables is None:
        found += _jobs_below_idle(plan)
    return found


def _before_the_cap(plan: Plan) -> list[str]:
    """A list or a file of steps may begin when jobs are there already."""
    cap = plan.rules.cap_w
    if cap is None or float(cap.time_s[0]) <= float(plan.jobs.submit_s[0]):
        return []
    return [f"power.cap: its first step is at {format_duration(float(cap.time_s[0]))}, after the "
            "first submission; its watts hold before that too"]


def _fewer_jobs(plan: Plan) -> list[str]:
    """More jobs are asked for than the log has: a count that is mistyped, or a log that is cut."""
    asked, there = plan.scenario.trace.jobs, len(plan.trace.jobs)
    if asked is None or asked <= there or plan.scenario.trace.generate is not None:
        return []
    return [f"trace.jobs is {asked:,}, and the log has {counted(there, 'job')}; all are taken"]


def _of_cores(scenario: Scenario) -> list[str]:
    """Settings of `dvfs` where a policy takes frequencies and power from a table of cores."""
    chosen = scenario.policy.power
    name = name_of(chosen)
    if scenario.policy.python is not None or name not in ("adaptive", "budget"):
        return []
    usual = PowerSection()
    given = [field for field in ("alpha", "beta", "core_share", "levels")
             if getattr(scenario.power, field) != getattr(usual, field)]
    instead = {"beta": "policy.power.beta", "levels": "policy.power.frequency_ghz and core_w"}
    return [f"power.{field} has no effect on '{name}', which has a table of cores; set "
            f"{instead.get(field, 'policy.power.core_w and frequency_ghz')} instead"
            for field in given]


def _of_ledger(scenario: Scenario) -> list[str]:
    """What the order by joules takes from a measured ledger."""
    order = scenario.policy.order
    store = None if isinstance(order, str) else order.get("store")
    if scenario.policy.python is not None or name_of(order) != "energy-share" or not store:
        return []
    return ["policy.order.store: the run begins with what users drew by the measured ledger, in "
            "all its clusters, faded up to its last job; users without a share count for nobody"]


def _of_rule(choice: Any) -> list[str]:
    """What a rule for configurations takes from elsewhere than the log, or does not take."""
    given = {"name": choice} if isinstance(choice, str) else choice
    found = ["jobs run for the time of their configuration; the run times of the log are not used"]
    if given["name"] != "adaptive" and "threshold" in given:
        found.append(f"policy.configure.threshold has no effect on '{given['name']}'")
    if given["name"] == "fixed" and not any(
            given.get(what) for what in ("cores", "cap_w", "settings")):
        found.append("policy.configure 'fixed' without cores, cap_w and settings takes the most "
                     "cores and the highest cap of each table, like 'traditional'")
    return found


def _below_idle(plan: Plan) -> list[str]:
    """Applications by whose tables a busy node draws less than an idle one of this machine."""
    assert plan.tables is not None
    idle_w = min(group.node_class.power_w_idle for group in plan.machine.groups)
    found = []
    for name in tables_used(plan.jobs, plan.tables)[0]:
        table = plan.tables[name]
        each_w = table.power_w / table.nodes
        below = int((each_w < idle_w).sum())
        if below:
            found.append(f"{name}: in {below:,} of {len(table):,} configurations a node draws less "
                         f"({each_w.min():.3g} W at least) than the {idle_w:.3g} W of an idle one, "
                         "so that a start lowers the power; where that is wrong, set "
                         "machine.node_idle_w")
    return found


def _jobs_below_idle(plan: Plan) -> list[str]:
    """Jobs of the log whose own power is below that of as many idle nodes or cores."""
    unit = plan.scenario.machine.granularity
    idle_w = unit_idle_w_least(plan.machine, unit)
    each_w = plan.jobs.power_w / sizes_of(plan.jobs, plan.machine, unit)
    below = int(np.count_nonzero(each_w < idle_w))
    if not below:
        return []
    several = len(plan.machine.groups) > 1
    jobs = "1 job draws" if below == 1 else f"{below:,} jobs draw"
    return [f"{jobs} less than idle {unit}s: down to {format_power(np.nanmin(each_w))} per {unit}, "
            f"and an idle one draws {'at least ' if several else ''}{format_power(idle_w)}; where "
            f"that is wrong, set machine.{'classes.idle_w' if several else 'node_idle_w'}"]


def _rounded_down(plan: Plan, rule: Any) -> list[str]:
    """Requests that the tables do not have, where a rule keeps to what was requested."""
    from wattline.policies.configuration.moldable import FIXED

    if rule.rule != FIXED:
        return []
    offers = rule.offers
    units = sizes_of(plan.jobs, plan.machine, plan.scenario.machine.granularity)
    count, first = 0, ""
    for row, code in enumerate(offers.code):
        rungs = offers.rung_row[offers.first_rung[code]:offers.first_rung[code + 1]]
        below = offers.row_nodes[rungs][offers.row_nodes[rungs] <= units[row]]
        if below.size and below.max() < units[row]:
            count += 1
            first = first or f"job {plan.jobs.job_id[row]}: {below.max()} for {units[row]}"
    if not count:
        return []
    jobs = f"{count:,} job" + ("" if count == 1 else "s")
    return [f"{jobs} asked for a node count that the table does not have; the next smaller one "
            f"is used ({first})"]
