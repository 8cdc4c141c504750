"""Energy policies from a scenario: adaptive admission, budgets, fair-share by joules, claims.

Kernels are imported only when a policy is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.scenario.model import CapPlan, Scenario
from wattline.scenario.parameters import MOST_PERIODS

if TYPE_CHECKING:
    from wattline.model.jobs import JobTable
    from wattline.model.views import View
    from wattline.physics.core_power import CorePower
    from wattline.physics.powercap import PowerCap
    from wattline.policies.configuration.claimed import Claimed
    from wattline.scenario.axes import Setting

MOST_USERS = 1_000_000


def cap_plan(scenario: Scenario, machine: Machine) -> PowerCap:
    """The `[power.cap]` table as a plan, checked against the machine."""
    from wattline.physics.powercap import CapChange, Limits, PowerCap, WattReservation

    given = scenario.power.cap
    if not isinstance(given, CapPlan):
        return PowerCap()
    plan = PowerCap(
        watts=float("inf") if given.watts is None else given.watts,
        changes=tuple(CapChange(c.at_s, c.watts) for c in given.changes),
        reservations=tuple(WattReservation(r.start_s, r.duration_s, r.watts, r.name)
                           for r in given.reservations),
        floor_w=given.floor_w,
        change_rate_w_per_s=given.change_rate_w_per_s,
    )
    try:
        return plan.checked(Limits.of(machine))
    except InputError as error:
        raise InputError(f"power.cap: {error}") from None


# ---- admission -------------------------------------------------------------------------------


def adaptive_admission(
    setting: Setting, strategy: str = "dvfs", cpu_freq: str = "", **core: Any
) -> Any:
    """Parameters: strategy, cpu_freq (for jobs whose log names none), and a core table."""
    from wattline.physics.core_power import parse_cpu_freq
    from wattline.physics.powercap import WattReservation
    from wattline.policies.admission.adaptive_setup import Strategy, adaptive

    plan = cap_plan(setting.scenario, setting.machine)
    planned = tuple(WattReservation(r.start_s, r.duration_s, r.watts, r.name)
                    for r in setting.scenario.reservations if r.watts)
    from dataclasses import replace

    table = core_power(**core)
    return adaptive(
        setting.machine, replace(plan, reservations=(*plan.reservations, *planned)), core=table,
        strategy=Strategy.parse(strategy),
        allowed=parse_cpu_freq(cpu_freq, table) if cpu_freq else None,
        jobs=setting.jobs if setting.scenario.machine.granularity == "node" else None,
        logged=setting.logged,
    )


def core_power(
    frequency_ghz: list[float] | None = None, core_w: list[float] | None = None,
    idle_core_w: float | None = None, beta: float = 1.0,
) -> CorePower:
    """The table of a core; the shipped one where nothing is given."""
    from wattline.physics.core_power import GHZ, SANDY_BRIDGE, CorePower

    if (frequency_ghz is None) != (core_w is None):
        raise InputError("policy.power: frequency_ghz and core_w belong together")
    if frequency_ghz is None or core_w is None:
        return CorePower(SANDY_BRIDGE.frequency_hz, SANDY_BRIDGE.power_w,
                         SANDY_BRIDGE.idle_w if idle_core_w is None else idle_core_w, beta)
    return CorePower(tuple(f * GHZ for f in frequency_ghz), tuple(core_w),
                     0.0 if idle_core_w is None else idle_core_w, beta)


def budget_admission(
    setting: Setting, energy: float | None = None, period: float = 604800.0, price: str = "",
    carbon: str = "", start: str = "", carbon_weight: float = 0.0, periods: int = 0,
    **adaptive: Any,
) -> Any:
    """Parameters: energy and period, price and carbon tables, and those of `adaptive`."""
    from wattline.physics.budget import EnergyBudget
    from wattline.policies.admission.budget_setup import budgeted

    if energy is None:
        raise InputError("policy.power: a budget needs energy, like energy = '900MWh'")
    jobs = setting.jobs
    start_s = float(jobs.submit_s[0]) if len(jobs) else 0.0
    budget = EnergyBudget(energy, start_s, start_s + period,
                          _cost(price, carbon, start, carbon_weight, start_s))
    count = periods or _periods_for(setting, energy, start_s, period)
    return budgeted(setting.machine, budget, adaptive_admission(setting, **adaptive), count)


def _periods_for(setting: Setting, energy_j: float, start_s: float, period_s: float) -> int:
    """Enough periods for all jobs: those of the log, and those that a backlog can take after it."""
    jobs, machine = setting.jobs, setting.machine
    if not len(jobs):
        return 1
    rise_w = (machine.power_w_max - machine.power_w_idle) / machine.node_count
    nodes = -(-jobs.procs // machine.groups[0].node_class.cores)
    own_w = np.where(np.isnan(jobs.power_w), nodes * rise_w, jobs.power_w)
    # Twice what they draw at full speed: a lower frequency may take more. Jobs that no period has
    # room for start when the last one is over, which the run then says.
    wanted_j = 2.0 * float(np.sum(own_w * jobs.requested_s))
    left_j = max(energy_j - machine.power_w_idle * period_s, 1e-3 * energy_j)
    span = (float(jobs.submit_s[-1]) - start_s) / period_s
    return int(min(np.ceil(span + wanted_j / left_j) + 30, MOST_PERIODS))


def _cost(price: str, carbon: str, start: str, weight: float, start_s: float) -> Signal:
    from wattline.physics.budget import blended
    from wattline.traces.tariffs import read_tariff

    found = [read_tariff(Path(name), start=start) if name else None for name in (price, carbon)]
    if found[0] is not None and found[1] is not None:
        cost = blended(found[0], found[1], weight)
    else:
        cost = found[0] or found[1] or Signal.constant(1.0)
    return Signal(cost.time_s + start_s, cost.value, cost.unit)


def user_names(jobs: JobTable) -> list[str]:
    """The name of each user by code, in a list that is as long as the highest code is high."""
    last = int(jobs.user.max(initial=-1))
    if last >= MOST_USERS:
        raise InputError(f"the log has a user number {last}; shares work up to {MOST_USERS:,}, so "
                         "number the users from 0 on")
    return [jobs.name_of("user", code) for code in range(last + 1)]


# ---- order -----------------------------------------------------------------------------------


def energy_share(
    setting: Setting, shares: str = "", half_life: float = 604800.0, fair: float = 1.0,
    age: float = 0.0, size: float = 0.0, age_max_s: float = 604800.0,
) -> Any:
    """Parameters: a shares file, the half-life, and the weights of the factors."""
    from wattline.account.fairshare import ShareTree, read_shares
    from wattline.policies.order.energy_share import EnergyShare, account_of, fresh_memory

    jobs = setting.jobs
    users = user_names(jobs) or ["0"]
    tree = read_shares(Path(shares)) if shares else ShareTree.flat(users)
    used = {jobs.name_of("user", int(code)) for code in np.unique(jobs.user) if code >= 0}
    missing = sorted(user for user in used if user not in tree.index)
    if missing:
        raise InputError(f"{shares}: user '{missing[0]}' of the log is in no account")
    return EnergyShare(
        parent=tree.parent, share=tree.share, norm_share=tree.norm_share, order=tree.order,
        memory=fresh_memory(len(tree.parent), account_of(tree.index)),
        fair=fair, age=age, size=size, age_max_s=age_max_s, half_life_s=half_life,
    )


# ---- bounds at every level -------------------------------------------------------------------


def bounded_placement(
    setting: Setting, limits: dict[str, float] | None = None, views: str = "",
    view: str = "power", racks_per_pdu: int = 8,
) -> Any:
    """Parameters: limits by entity (rack0, pdu1, site), or a views file with bounds."""
    from wattline.policies.placement.bounded_setup import bounded, bounds_of

    machine = setting.machine
    if setting.scenario.machine.granularity == "core":
        raise InputError("policy.placement: bounded chooses nodes, not cores")
    if len(machine.groups) > 1:
        raise InputError("policy.placement: bounded spreads a job's power over its nodes equally, "
                         "which nodes of several classes do not; use one class of nodes")
    tree = _bounded_view(machine, limits, views, view, racks_per_pdu)
    made = bounded(tree, machine)
    setting.made["bounds"] = bounds_of(tree, machine)
    return made


def _bounded_view(
    machine: Machine, limits: dict[str, float] | None, views: str, view: str, racks_per_pdu: int
) -> View:
    from wattline.model.views.build import power_view, read_views

    if views:
        found = read_views(Path(views))
        if view not in found:
            raise InputError(f"{views} has no view '{view}'; it has {', '.join(found)}")
        return found[view]
    if not limits:
        raise InputError("policy.placement: bounded needs limits, like limits = {rack0 = '20kW'}")
    return power_view(machine, racks_per_pdu=racks_per_pdu, limits_w=limits)


# ---- claims ----------------------------------------------------------------------------------


def claims_configuration(setting: Setting, **parameters: Any) -> Claimed:
    """Parameters: claims (a CSV file or npb), objective, caution, patience."""
    return claimed(setting, parameters)[0]


def claims_placement(setting: Setting) -> Any:
    """It shares the memory of the configuration: what one learns, the other knows."""
    from wattline.policies.placement.claimed import ClaimedNodes
    from wattline.scenario.parameters import policy_parameters

    chosen = setting.scenario.policy.configure
    return ClaimedNodes(claimed(setting, policy_parameters("configure", chosen))[0])


def claimed(setting: Setting, given: dict[str, Any]) -> tuple[Claimed, Any]:
    """How claims choose, and what is true of them: what is claimed, where nothing else is known."""
    if "claims" not in setting.made:
        setting.made["claims"] = _read_claims(setting, given)
    found: tuple[Claimed, Any] = setting.made["claims"]
    return found


def _read_claims(setting: Setting, given: dict[str, Any]) -> tuple[Claimed, Any]:
    from wattline.engine.truth import TrueClaims
    from wattline.physics.claims import Objective, npb_claims, read_claims
    from wattline.policies.configuration.claimed import Claimed
    from wattline.policies.configuration.claimed_setup import options_of

    source = given.get("claims", "npb")
    objective = Objective.parse(given.get("objective", "energy"))
    jobs = setting.jobs
    book = npb_claims() if source == "npb" else read_claims(Path(source))
    names = [jobs.name_of("application", int(code)) for code in jobs.application]
    options = options_of(book, book, setting.machine, names, jobs.procs.tolist())
    claims = Claimed(options.memory, objective.time_weight, objective.energy_weight, 0.0,
                     given.get("caution", 0.0), patience=given.get("patience", 0.0))
    return claims, TrueClaims(options.true_s, options.true_w, np.ones(1))
