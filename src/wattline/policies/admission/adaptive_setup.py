"""From a machine, its core power and a cap plan to the parameters of adaptive admission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from wattline.model.errors import InputError
from wattline.model.fields import Number, Said, Watts
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine
from wattline.model.signal import FloatArray
from wattline.model.unit_power import unit_active_w
from wattline.physics.core_power import (
    GHZ,
    POSSIBLE_GHZ,
    SANDY_BRIDGE,
    CorePower,
    FrequencyRange,
    parse_cpu_freq,
)
from wattline.physics.powercap import DrawLimits, PowerCap
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.setting import Setting

if TYPE_CHECKING:
    from wattline.policies.admission.adaptive import Adaptive

MIX_LEAST_HZ = 2.0 * GHZ
"""Below this a core of the table saves less power than it loses time; MIX switches off instead."""
RAMP_KEPT_S = 60.0


class Strategy(StrEnum):
    """How power is reduced."""

    IDLE = "idle"
    """Only by leaving nodes idle: jobs run at full speed or wait."""
    SHUT = "shut"
    """By switching nodes off; jobs run at full speed."""
    DVFS = "dvfs"
    """By lower frequency."""
    MIX = "mix"
    """By both, frequency not below 2.0 GHz."""
    CAP = "cap"
    """By a cap of each node, which its hardware keeps: as fast as the cap lets its cores run."""

    @classmethod
    def parse(cls, text: str) -> Strategy:
        try:
            return cls(text.strip().lower())
        except ValueError:
            raise InputError(
                f"strategy '{text}' is unknown; write {', '.join(cls)}"
            ) from None


def _known(text: Any) -> Any:
    """A strategy in any letters, as it is called."""
    try:
        return Strategy.parse(text).value if isinstance(text, str) else text
    except InputError as error:
        raise ValueError(str(error)) from None


Gigahertz = Annotated[Number, Field(ge=POSSIBLE_GHZ[0], le=POSSIBLE_GHZ[1])]


class LevelParameters(Parameters):
    """`cpu_freq` is for jobs whose log names none; the others are the table of a core."""

    strategy: Annotated[Literal["idle", "shut", "dvfs", "mix", "cap"],
                        BeforeValidator(_known)] = "dvfs"
    cpu_freq: Annotated[str, Said("forms", "kHz or words, like 1200000-2400000 or high")] = ""
    frequency_ghz: tuple[Gigahertz, ...] | None = None
    core_w: tuple[Annotated[Watts, Field(gt=0)], ...] | None = None
    idle_core_w: Watts | None = Field(None, ge=0)
    beta: Number = Field(1.0, ge=0, le=1)


class AdaptiveParameters(LevelParameters):
    """With `follow_cap`, running jobs are slowed down and sped up as the cap changes."""

    follow_cap: bool = False


def adaptive_of(setting: Setting, given: LevelParameters) -> Adaptive:
    """Adaptive admission as a scenario asks for it."""
    core = core_power(given)
    return adaptive(
        setting.machine, setting.cap_plan, core=core, strategy=Strategy(given.strategy),
        allowed=parse_cpu_freq(given.cpu_freq, core) if given.cpu_freq else None,
        jobs=setting.jobs if setting.granularity == "node" else None, logged=setting.logged,
        granularity=setting.granularity,
        follow=isinstance(given, AdaptiveParameters) and given.follow_cap,
    )


def core_power(given: LevelParameters) -> CorePower:
    """The table of a core; the shipped one where nothing is given."""
    frequency_ghz, core_w, idle_w = given.frequency_ghz, given.core_w, given.idle_core_w
    if (frequency_ghz is None) != (core_w is None):
        raise InputError("policy.power: frequency_ghz and core_w belong together")
    if frequency_ghz is None or core_w is None:
        return CorePower(SANDY_BRIDGE.frequency_hz, SANDY_BRIDGE.power_w,
                         SANDY_BRIDGE.idle_w if idle_w is None else idle_w, given.beta)
    return CorePower(tuple(f * GHZ for f in frequency_ghz), core_w,
                     0.0 if idle_w is None else idle_w, given.beta)


def adaptive(
    machine: Machine, plan: PowerCap | None = None, *, core: CorePower = SANDY_BRIDGE,
    strategy: Strategy = Strategy.DVFS, allowed: FrequencyRange | None = None,
    jobs: JobTable | None = None, logged: Mapping[str, Any] | None = None, follow: bool = False,
    granularity: str = "node",
) -> Adaptive:
    """Parameters for this machine.

    The frequencies that a job allows stand in the columns `frequency_hz_min` and `_max` of what is
    logged of it; `allowed` is for jobs that say nothing. `jobs` and `logged`, where they are known
    beforehand, tell the least that any of them needs, so that a full machine is noticed at once.
    Reservations of the plan become windows that are kept; its changes on the fly do not: nobody
    knows of them beforehand. With `follow`, running jobs are slowed down and sped up as the cap
    changes.
    """
    from wattline.policies.admission.adaptive import Adaptive, AdaptiveMemory
    from wattline.policies.admission.ramp import RAMP

    shuts = strategy in (Strategy.SHUT, Strategy.MIX)
    if shuts and len(machine.groups) > 1:
        raise InputError(
            f"strategy '{strategy.name.lower()}' switches nodes off by their number, which on a "
            "machine of several node classes does not say which; choose dvfs"
        )
    plan = (plan or PowerCap()).checked(DrawLimits.of(machine))
    start, end, held = windows_of(plan)
    levels_of = _levels(core, strategy, allowed)
    return Adaptive(
        speed=core.speed(),
        dynamic=core.dynamic(),
        frequency_hz=np.array(core.frequency_hz),
        memory=AdaptiveMemory.start(
            {"low": lambda jobs, logged: levels_of(jobs, logged)[0],
             "high": lambda jobs, logged: levels_of(jobs, logged)[1]},
            ramp=np.zeros(1, RAMP).view(np.recarray), cap_w=np.full(1, np.nan)),
        window_start_s=start,
        window_end_s=end,
        window_held_w=held,
        machine_w=machine.power_w_max,
        unit_w=unit_active_w(machine, granularity),
        least_rise_w=_least_rise_w(machine, jobs),
        **_bounds(core, levels_of, jobs, logged),
        shut=int(shuts),
        floor_w=plan.floor_w,
        ramp_w_per_s=plan.change_rate_w_per_s,
        ramp_w=plan.change_rate_w_per_s * RAMP_KEPT_S,
        follow=int(follow),
        caps=int(strategy is Strategy.CAP),
    )


def _least_rise_w(machine: Machine, jobs: JobTable | None) -> float:
    """What a node of the thriftiest job draws above idle at full speed; 0 is always safe."""
    node = machine.groups[0].node_class
    if jobs is None or len(machine.groups) > 1 or not len(jobs):
        return 0.0
    nodes = -(-jobs.procs // node.cores)
    own = jobs.power_w / nodes - node.power_w_idle
    rise = np.where(np.isnan(own), node.power_w_active - node.power_w_idle, own)
    return max(float(rise.min()), 0.0)


LevelsOf = Callable[[JobTable, Mapping[str, Any]], tuple[IntArray, IntArray]]


def _levels(core: CorePower, strategy: Strategy, allowed: FrequencyRange | None) -> LevelsOf:
    """How the lowest and highest level of jobs are found."""
    top = core.levels - 1
    least = {Strategy.DVFS: 0, Strategy.CAP: 0,
             Strategy.MIX: _level_at(core, MIX_LEAST_HZ)}.get(strategy, top)
    silent = (0, top) if allowed is None else core.level_range(allowed)

    def find(jobs: JobTable, logged: Mapping[str, Any]) -> tuple[IntArray, IntArray]:
        nothing = np.full(len(jobs), np.nan)
        low_hz = logged.get("frequency_hz_min", nothing)
        high_hz = logged.get("frequency_hz_max", nothing)
        asked = {(a, b) for a, b in zip(low_hz, high_hz, strict=True)
                 if not (np.isnan(a) and np.isnan(b))}
        known = {pair: core.level_range(_nearest(*pair, core)) for pair in asked}
        pairs = [known.get((a, b), silent) for a, b in zip(low_hz, high_hz, strict=True)]
        high = np.array([pair[1] for pair in pairs], dtype=np.int64)
        # A strategy that does not slow jobs down leaves each at the highest that it allows.
        low = np.minimum(np.maximum([pair[0] for pair in pairs], least), high).astype(np.int64)
        return low, high

    return find


def _nearest(low_hz: float, high_hz: float, core: CorePower) -> FrequencyRange:
    """A frequency that these cores do not have means the nearest that they have."""
    least, most = core.frequency_hz[0], core.frequency_hz[-1]
    wanted_low = least if np.isnan(low_hz) else min(max(float(low_hz), least), most)
    wanted_high = most if np.isnan(high_hz) else min(max(float(high_hz), wanted_low), most)
    if any(wanted_low <= f <= wanted_high for f in core.frequency_hz):
        return FrequencyRange(wanted_low, wanted_high)
    near = min(core.frequency_hz, key=lambda f: abs(f - wanted_low))
    return FrequencyRange(near, near)


def _bounds(
    core: CorePower, levels_of: LevelsOf, jobs: JobTable | None, logged: Mapping[str, Any] | None
) -> dict[str, int]:
    """Bounds on what jobs allow; where they are not known beforehand, those that always hold."""
    if jobs is None or not len(jobs):
        usual = 0 if jobs is None else int(levels_of(_SILENT, {})[0][0])
        return {"least": 0, "highest_low": core.levels - 1, "lowest_high": 0, "usual": usual}
    low, high = levels_of(jobs, logged or {})
    return {"least": int(low.min()), "highest_low": int(low.max()),
            "lowest_high": int(high.min()), "usual": int(low.min())}


_SILENT = JobTable.build(submit_s=[0.0], run_s=[1.0], procs=[1])
"""A job that says nothing of frequencies."""


def _level_at(core: CorePower, frequency_hz: float) -> int:
    steps = core.frequency_hz
    return min(sum(1 for step in steps if step < frequency_hz * (1 - 1e-9)), len(steps) - 1)


def windows_of(plan: PowerCap) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The stretches in which reservations lower the cap, each with what they take from it."""
    times = {t for r in plan.reservations for t in (r.start_s, r.end_s)}
    edges = np.array(sorted(times), dtype=np.float64)
    held = np.array([
        sum(r.watts for r in plan.reservations if r.start_s <= t < r.end_s) for t in edges[:-1]
    ], dtype=np.float64)
    kept = held > 0
    return edges[:-1][kept], edges[1:][kept], held[kept]


ADAPTIVE = Declaration(
    "power", "adaptive", "A job starts at a frequency that the cap and planned windows allow.",
    adaptive_of, AdaptiveParameters)
