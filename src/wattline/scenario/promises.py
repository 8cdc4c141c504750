"""What scenario and log ask of a policy, written down beside its run for whoever checks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.engine.simulate import queue_promises
from wattline.model.promises import EnergyPeriods, Frequencies, PowerShares, Promises
from wattline.physics.budget_terms import CARRIES, UNSPENT
from wattline.policies.admission.none import NoLimit
from wattline.policies.contract import Composition
from wattline.policies.traits import keeps_full_speed
from wattline.scenario.budget_notes import period_edges
from wattline.scenario.caps import cap_plan
from wattline.scenario.model import CapPlan
from wattline.scenario.times import clock_of

if TYPE_CHECKING:
    from wattline.physics.core_power import FrequencyRange
    from wattline.scenario.build import Plan


def promises(plan: Plan, until_s: float) -> Promises:
    """What the plan's policy has to keep up to a time; a policy in Python promises nothing."""
    if not isinstance(plan.policy, Composition):
        return Promises()
    return replace(_of_power(plan, plan.policy, until_s), shares=_shares(plan, plan.policy),
                   full_speed=keeps_full_speed(plan.policy),
                   **queue_promises(plan.policy, plan.jobs, plan.rules))


def _of_power(plan: Plan, policy: Composition, until_s: float) -> Promises:
    limited = plan.rules.cap_w is not None and plan.scenario.power.watch_cap is None
    admission, budget = policy.admission, None
    if isinstance(admission, NoLimit):  # most runs; to import the others takes a while
        return Promises(keeps_cap=limited)
    from wattline.policies.admission.adaptive import Adaptive
    from wattline.policies.admission.budget import Budget

    if isinstance(admission, Budget):
        budget = energy_periods(admission, until_s)
    ladder = admission.adaptive if isinstance(admission, Budget) else admission
    if not isinstance(ladder, Adaptive):
        return Promises(keeps_cap=limited)
    return Promises(keeps_cap=limited, windows=_windows(plan), budget=budget,
                    frequencies=_frequencies(plan, ladder))


def energy_periods(admission: Any, until_s: float) -> EnergyPeriods:
    """Return joules and slots of the periods up to a time; of later ones only the last planned."""
    edge_s = period_edges(admission, until_s)
    last = len(admission.first) - 2
    planned = [*range(min(len(edge_s) - 1, last)), last]
    slots = [slice(admission.first[each], admission.first[each + 1]) for each in planned]
    return EnergyPeriods(
        float(admission.energy_j), edge_s, CARRIES[admission.carry], UNSPENT[admission.unspent],
        slot_s=np.concatenate([admission.edge_s[each.start + at:each.stop + at]
                               for at, each in zip(planned, slots, strict=True)]),
        slot_place=np.concatenate([np.argsort(admission.order[each]) for each in slots]),
        slot_count=np.array([each.stop - each.start for each in slots], dtype=np.int64))


def _shares(plan: Plan, policy: Composition) -> PowerShares | None:
    """Return the power that a rule of shares lets each job draw; None without such a rule."""
    from wattline.policies.configuration.moldable import FIXED, Moldable

    rule = policy.configuration
    if not isinstance(rule, Moldable) or rule.rule == FIXED:
        return None
    from wattline.policies.placement.varied import Varied

    offers = rule.offers
    measured = offers.code >= 0
    least_w = np.zeros(len(measured))
    for job in np.flatnonzero(measured) if rule.least_power else ():
        points = offers.first_point[offers.first_level[offers.code[job] : offers.code[job] + 2]]
        rows = offers.row[points[0] : points[1]]
        nodes = offers.row_nodes[rows]
        given = (nodes >= offers.least[job]) & (nodes <= min(offers.most[job],
                                                             plan.machine.node_count))
        least_w[job] = offers.row_power_w[rows[given]].min(initial=np.inf)
    return PowerShares(np.where(measured, offers.weight, np.nan),
                       np.where(np.isfinite(least_w), least_w, 0.0),
                       not isinstance(policy.placement, Varied))


def _windows(plan: Plan) -> tuple[tuple[float, float], ...]:
    """Windows of a lower cap before whose end the cap is not changed without notice."""
    cap, jobs = plan.scenario.power.cap, plan.jobs
    if plan.rules.cap_w is None or not len(jobs):
        return ()
    planned: list[Any] = [*plan.rules.reservations]
    changes_s = plan.rules.cap_w.time_s
    if isinstance(cap, CapPlan):
        timed = cap_plan(plan.scenario, plan.machine, clock_of(plan.scenario, jobs))
        planned += timed.reservations
        changes_s = np.array([change.at_s for change in timed.changes])
    sudden_s = float(changes_s[changes_s > jobs.submit_s[0]].min(initial=np.inf))
    spans = ((each.start_s, each.start_s + each.duration_s) for each in planned if each.watts)
    return tuple(sorted(span for span in spans if span[1] <= sudden_s))


def _frequencies(plan: Plan, ladder: Any) -> Frequencies:
    from wattline.policies.admission.adaptive_setup import MIX_LEAST_HZ, Strategy

    chosen = plan.scenario.policy.power
    given: Mapping[str, Any] = {} if isinstance(chosen, str) else chosen
    strategy = Strategy.parse(str(given.get("strategy", Strategy.DVFS)))
    least_hz = {Strategy.DVFS: 0.0, Strategy.CAP: 0.0,
                Strategy.MIX: MIX_LEAST_HZ}.get(strategy, np.inf)
    allowed = _allowed(str(given.get("cpu_freq", "")), ladder)
    silent = np.full(len(plan.jobs), np.nan)
    low_hz = np.asarray(plan.rules.logged.get("frequency_hz_min", silent), dtype=np.float64)
    high_hz = np.asarray(plan.rules.logged.get("frequency_hz_max", silent), dtype=np.float64)
    says_nothing = np.isnan(low_hz) & np.isnan(high_hz)
    return Frequencies(
        frequency_hz=ladder.frequency_hz, speed=ladder.speed, dynamic=ladder.dynamic,
        low_hz=np.where(says_nothing, allowed.min_hz,
                        np.where(np.isnan(low_hz), 0.0, low_hz)),
        high_hz=np.where(says_nothing, allowed.max_hz,
                         np.where(np.isnan(high_hz), np.inf, high_hz)),
        least_hz=least_hz,
    )


def _allowed(cpu_freq: str, ladder: Any) -> FrequencyRange:
    from wattline.physics.core_power import CorePower, FrequencyRange, parse_cpu_freq

    steps = tuple(ladder.frequency_hz.tolist())
    if not cpu_freq:
        return FrequencyRange(steps[0], steps[-1])
    return parse_cpu_freq(cpu_freq, CorePower(steps, tuple(ladder.dynamic.tolist()), 0.0))
