"""What is allowed but may surprise: settings without effect, requests that are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.engine.congestion import Congestion
from wattline.engine.prepare import effective_cap, sizes_of
from wattline.model.fields import name_of
from wattline.model.run import Run
from wattline.model.run_clock import steps_outside
from wattline.model.unit_power import unit_idle_w_least
from wattline.model.units import counted, format_power, joules_text
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.configuration.moldable_setup import notes_of, unmeasured_jobs
from wattline.policies.configuration.offers import tables_used
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.results.verify.job_limits import above_share
from wattline.scenario.build import Plan
from wattline.scenario.caps import above_busy, cap_windows, steps_written
from wattline.scenario.model import PowerSection, Scenario
from wattline.scenario.times import clock_of, reservations_of
from wattline.scenario.unused import WATTS_UNUSED, implausible, unused, unused_changes
from wattline.traces import Trace

NOT_RANKED = ("network: the slow-down of jobs is too mild here, and does not rank placements as "
              "packets do; `wattline network place JOBS --packets` ranks them")
"""Beside every answer in which congestion slows jobs down."""


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
        return plan.told()
    found = [*plan.left_out, *_fewer_jobs(plan)]
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
    found += [*_cap_below_idle(plan), *unused(plan), *unused_changes(plan), *implausible(plan)]
    found += _of_cores(plan.scenario)
    found += _of_ledger(plan.scenario)
    if isinstance(policy, Composition) and plan.tables is not None:
        found += notes_of(plan.tables, plan.jobs)
        found += _below_idle(plan)
        found += _of_rule(plan.scenario.policy.configure, unmeasured_jobs(policy) > 0)
        found += _rounded_down(plan, policy.configuration)
    if plan.tables is None:
        found += _jobs_below_idle(plan)
    if isinstance(plan.rules.nature.network, Congestion):
        found.append(NOT_RANKED)
    return found


def shares_exceeded(run: Run) -> tuple[dict[str, float], list[str]]:
    """Count the jobs that drew more than their share of the power, as notes and in words."""
    parts = above_share(run)
    rows = np.flatnonzero(parts)
    if not rows.size:
        return {}, []
    jobs = "1 job has" if rows.size == 1 else f"{rows.size:,} jobs have"
    return {"above_share_jobs": float(rows.size), "above_share_most": float(parts.max())}, [
        f"{jobs} no configuration within the share of the power and ran in the one that draws "
        f"least (policy.configure.above_share = 'least-power'): up to {parts.max():.3g} times the "
        f"share; the first is job {run.jobs.job_id[rows[0]]}"]


def above_rated(plan: Plan, run: Run) -> list[str]:
    """A line where the machine draws more than its rated power because of the powers of the log."""
    rated_w, unit = plan.machine.power_w_max, plan.scenario.machine.granularity
    if plan.scenario.twin is not None or plan.tables is not None:
        return []
    if run.power_w_peak <= rated_w * (1.0 + 1e-9):
        return []
    unit_w, above_w = above_busy(plan.jobs, plan.machine, unit)
    if not above_w.size:
        return []
    jobs = "1 job draws" if above_w.size == 1 else f"{above_w.size:,} jobs draw"
    several = len(plan.machine.groups) > 1
    return [f"the machine draws up to {format_power(run.power_w_peak)}, and its rated power is "
            f"{format_power(rated_w)}: by the log {jobs} more than the {format_power(unit_w)} of a "
            f"busy {unit}, up to {format_power(above_w.max())} per {unit}; are "
            f"machine.{'classes.cores' if several else 'cores_per_node'} and "
            f"machine.{'classes.active_w' if several else 'node_active_w'} right?"]


def outside_run(plan: Plan, run: Run) -> list[str]:
    """A line for each series with times before or after the run, which change nothing."""
    clock, found = clock_of(plan.scenario, plan.jobs), []
    if plan.rules.cap_w is not None:
        name = "power.cap" if plan.scenario.power.watch_cap is None else "power.watch_cap"
        found += steps_outside(name, steps_written(plan.scenario, clock), clock, run.start_s,
                               run.end_s)
    for name, signal in plan.rules.signals.items():
        if not ((signal.time_s > run.start_s) & (signal.time_s < run.end_s)).any():
            found += steps_outside(f"signals.{name}", signal.time_s, clock, run.start_s, run.end_s)
    of_cap = [(each.start_s, each.end_s) for each in cap_windows(plan.scenario, clock)]
    of_both = [(each.start_s, each.end_s) for each in reservations_of(plan.scenario, clock)]
    for name, windows in (("power.cap.reservations", of_cap), ("reservations", of_both)):
        never = [start_s for start_s, end_s in windows
                 if end_s <= run.start_s or start_s >= run.end_s]
        if never:
            found.append(f"{name}: {len(never):,} of {len(windows):,} lie outside of the run and "
                         f"have no effect; the first begins {clock.text(never[0])}")
    return found


def _cap_below_idle(plan: Plan) -> list[str]:
    """Stretches in which a change or reserved watts leave less than the idle machine draws."""
    cap, idle_w = effective_cap(plan.rules), plan.machine.power_w_idle
    if plan.scenario.power.cap is None or cap is None or plan.rules.cap_counts == "jobs":
        return []
    below = np.flatnonzero(cap.value < idle_w)
    if not below.size:
        return []
    clock, first = clock_of(plan.scenario, plan.jobs), int(below[0])
    until = ("" if first + 1 == cap.time_s.size
             else f" until {clock.text(float(cap.time_s[first + 1]))}")
    more = f" (and at {below.size - 1:,} later steps)" if below.size > 1 else ""
    return [f"power.cap: {cap.value[first]:,.0f} W are left from "
            f"{clock.text(float(cap.time_s[first]))}{until}{more}, below the {idle_w:,.0f} W of "
            "the idle machine: only a policy that switches nodes off can keep that"]


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


def _of_rule(choice: Any, some_unmeasured: bool) -> list[str]:
    """What a rule for configurations takes from elsewhere than the log, or does not take."""
    given = {"name": choice} if isinstance(choice, str) else choice
    found = ["jobs run for the time of their configuration; the run times of the log are not used"
             + (" but of jobs without one" if some_unmeasured else "")]
    if given["name"] != "adaptive" and "threshold" in given:
        found.append(f"policy.configure.threshold has no effect on '{given['name']}'")
    if given["name"] == "fixed" and not any(
            given.get(what) for what in ("cores", "cap_w", "settings")):
        found.append("policy.configure 'fixed' without cores, cap_w and settings takes the most "
                     "cores and the highest cap of each table, like 'traditional'")
    return found


def _below_idle(plan: Plan) -> list[str]:
    """Applications by whose tables a busy node draws less than is assumed of an idle one.

    Where idle power is known, such a table is refused.
    """
    assert plan.tables is not None
    idle_w = min(group.node_class.power_w_idle for group in plan.machine.groups)
    found = []
    for name in tables_used(plan.jobs, plan.tables)[0]:
        table = plan.tables[name]
        each_w = table.power_w / table.nodes
        below = int((each_w < idle_w).sum())
        if below:
            found.append(f"{name}: in {below:,} of {len(table):,} configurations a node draws less "
                         f"({each_w.min():.3g} W at least) than the {idle_w:.3g} W assumed of "
                         "an idle one, so that a start lowers the power; give "
                         "machine.node_idle_w, and what a node draws beside its devices "
                         "(machine.node_base_w)")
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
        if code < 0:
            continue
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
