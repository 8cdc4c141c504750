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
from wattline.scenario.model import CapPlan, Scenario, name_of
from wattline.scenario.parameters import MOST_PERIODS, policy_parameters

if TYPE_CHECKING:
    from wattline.model.jobs import JobTable
    from wattline.model.run import PowerBound
    from wattline.model.views import View
    from wattline.physics.core_power import CorePower, FrequencyRange
    from wattline.physics.powercap import PowerCap
    from wattline.policies.configuration.claimed import Claimed
    from wattline.scenario.axes import Setting

MOST_USERS = 1_000_000
SHARE_FIRST = 8
"""Where fair-share keeps its figures in `numbers`: behind those of admission."""


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


def room_for(policy: Any, jobs: int) -> int:
    """Room in `numbers` that a composition needs."""
    from wattline.policies.contract import Composition

    if not isinstance(policy, Composition):
        return 0
    from wattline.policies.order.energy_share import EnergyShare, numbers_needed

    room = SHARE_FIRST
    if isinstance(policy.order, EnergyShare):
        room += numbers_needed(policy.order, jobs)
    return room


# ---- admission -------------------------------------------------------------------------------


def adaptive_admission(
    setting: Setting, strategy: str = "dvfs", cpu_freq: str = "", **core: Any
) -> Any:
    """Parameters: strategy, cpu_freq (for jobs whose log names none), and a core table."""
    from wattline.physics.powercap import WattReservation
    from wattline.policies.admission.adaptive_setup import Strategy, adaptive

    plan = cap_plan(setting.scenario, setting.machine)
    planned = tuple(WattReservation(r.start_s, r.duration_s, r.watts, r.name)
                    for r in setting.scenario.reservations if r.watts)
    from dataclasses import replace

    table = core_power(**core)
    return adaptive(
        setting.machine, replace(plan, reservations=(*plan.reservations, *planned)), core=table,
        strategy=Strategy.parse(strategy), ranges=_ranges(setting, cpu_freq, table),
        jobs=setting.jobs if setting.scenario.machine.granularity == "node" else None,
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


def _ranges(
    setting: Setting, cpu_freq: str, core: CorePower
) -> list[FrequencyRange | None] | None:
    """What each job allows: what its log says, else what the scenario says for all."""
    from wattline.physics.core_power import FrequencyRange, parse_cpu_freq

    common = parse_cpu_freq(cpu_freq, core) if cpu_freq else None
    low = setting.logged.get("frequency_hz_min")
    high = setting.logged.get("frequency_hz_max")
    if low is None or high is None:
        return None if common is None else [common] * len(setting.jobs)
    least, most = core.frequency_hz[0], core.frequency_hz[-1]
    found: list[FrequencyRange | None] = []
    for a, b in zip(low, high, strict=True):
        if np.isnan(a) and np.isnan(b):
            found.append(common)
            continue
        # A frequency that these cores do not have means the nearest that they have.
        wanted_low = least if np.isnan(a) else min(max(float(a), least), most)
        wanted_high = most if np.isnan(b) else min(max(float(b), wanted_low), most)
        found.append(_nearest(FrequencyRange(wanted_low, wanted_high), core))
    return found


def _nearest(wanted: FrequencyRange, core: CorePower) -> FrequencyRange:
    from wattline.physics.core_power import FrequencyRange

    inside = [f for f in core.frequency_hz if wanted.min_hz <= f <= wanted.max_hz]
    if inside:
        return wanted
    near = min(core.frequency_hz, key=lambda f: abs(f - wanted.min_hz))
    return FrequencyRange(near, near, wanted.governor)


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
    from wattline.policies.order.energy_share import EnergyShare

    jobs = setting.jobs
    users = user_names(jobs) or ["0"]
    tree = read_shares(Path(shares)) if shares else ShareTree.flat(users)
    used = {jobs.name_of("user", int(code)) for code in np.unique(jobs.user) if code >= 0}
    missing = sorted(user for user in used if user not in tree.index)
    if missing:
        raise InputError(f"{shares}: user '{missing[0]}' of the log is in no account")
    return EnergyShare(
        parent=tree.parent, share=tree.share, norm_share=tree.norm_share, order=tree.order,
        account=np.array([tree.index.get(user, 0) for user in users], dtype=np.int64),
        fair=fair, age=age, size=size, age_max_s=age_max_s, half_life_s=half_life,
        first=SHARE_FIRST,
    )


# ---- bounds at every level -------------------------------------------------------------------


def bounded_placement(setting: Setting, **parameters: Any) -> Any:
    """Parameters: limits by entity (rack0, pdu1, site), or a views file with bounds."""
    from wattline.policies.placement.bounded_setup import bounded

    if setting.scenario.machine.granularity == "core":
        raise InputError("policy.placement: bounded chooses nodes, not cores")
    if len(setting.machine.groups) > 1:
        raise InputError("policy.placement: bounded spreads a job's power over its nodes equally, "
                         "which nodes of several classes do not; use one class of nodes")
    if name_of(setting.scenario.policy.power) == "lending":
        raise InputError("policy.power 'lending' and policy.placement 'bounded' cannot go "
                         "together: loans raise a job's power after its rack had room for it; "
                         "use power = 'watts'")
    return bounded(_bounded_view(setting.machine, **parameters), setting.machine)


def power_bounds(scenario: Scenario, machine: Machine) -> tuple[PowerBound, ...]:
    """The bounds that the scenario's placement keeps; none for all placements but one."""
    chosen = scenario.policy.placement
    if scenario.policy.python is not None or name_of(chosen) != "bounded":
        return ()
    from wattline.policies.placement.bounded_setup import bounds_of

    return bounds_of(_bounded_view(machine, **policy_parameters("placement", chosen)), machine)


def _bounded_view(
    machine: Machine, limits: dict[str, float] | None = None, views: str = "",
    view: str = "power", racks_per_pdu: int = 8,
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
    from wattline.physics.claims import Objective, npb_claims, read_claims
    from wattline.policies.configuration.claimed import Claimed
    from wattline.policies.configuration.claimed_setup import options_of

    source = parameters.get("claims", "npb")
    objective = Objective.parse(parameters.get("objective", "energy"))
    jobs = setting.jobs
    book = npb_claims() if source == "npb" else read_claims(Path(source))
    names = [jobs.name_of("application", int(code)) for code in jobs.application]
    options, first, count = options_of(book, book, setting.machine, names, jobs.procs.tolist())
    return Claimed(options, first, count, np.ones(1), objective.time_weight,
                   objective.energy_weight, 0.0, parameters.get("caution", 0.0),
                   patience=parameters.get("patience", 0.0))


def claims_placement(setting: Setting) -> Any:
    """It has the very arrays of the configuration: what one learns, the other knows."""
    from wattline.policies.configuration.claimed import Claimed
    from wattline.policies.placement.claimed import ClaimedNodes

    if not isinstance(setting.configuration, Claimed):
        raise InputError("policy.placement: claims needs policy.configure = 'claims' too")
    return ClaimedNodes(setting.configuration)
