"""From a machine, its core power and a cap plan to the parameters of adaptive admission."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine
from wattline.model.signal import FloatArray
from wattline.physics.core_power import GHZ, SANDY_BRIDGE, CorePower, FrequencyRange
from wattline.physics.powercap import Limits, PowerCap
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

    @classmethod
    def parse(cls, text: str) -> Strategy:
        try:
            return cls(text.strip().lower())
        except ValueError:
            raise InputError(
                f"strategy '{text}' is unknown; write {', '.join(cls)}"
            ) from None


def adaptive(
    machine: Machine, plan: PowerCap | None = None, *, core: CorePower = SANDY_BRIDGE,
    strategy: Strategy = Strategy.DVFS, ranges: Sequence[FrequencyRange | None] | None = None,
    jobs: JobTable | None = None,
) -> Adaptive:
    """Parameters for this machine; `ranges` are the frequencies that each job allows.

    `jobs` tell the least power that any of them needs, so that a full machine is noticed at once.
    A job without a range allows all. Reservations of the plan become windows that are kept;
    its changes on the fly do not: nobody knows of them beforehand.
    """
    shuts = strategy in (Strategy.SHUT, Strategy.MIX)
    if shuts and len(machine.groups) > 1:
        raise InputError(
            f"strategy '{strategy.name.lower()}' switches nodes off by their number, which on a "
            "machine of several node classes does not say which; choose dvfs"
        )
    plan = (plan or PowerCap()).checked(Limits.of(machine))
    low, high = _levels(core, strategy, ranges)
    start, end, held = _windows(plan)
    return Adaptive(
        speed=core.speed(),
        dynamic=core.dynamic(),
        low=low,
        high=high,
        window_start_s=start,
        window_end_s=end,
        window_held_w=held,
        machine_w=machine.power_w_max,
        node_w=machine.groups[0].node_class.power_w_active,
        least_rise_w=_least_rise_w(machine, jobs),
        least=int(low.min()),
        highest_low=int(low.max()),
        lowest_high=int(high.min()),
        shut=int(shuts),
        floor_w=plan.floor_w,
        ramp_w_per_s=plan.change_rate_w_per_s,
        ramp_w=plan.change_rate_w_per_s * RAMP_KEPT_S,
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


def _levels(
    core: CorePower, strategy: Strategy, ranges: Sequence[FrequencyRange | None] | None
) -> tuple[IntArray, IntArray]:
    top = core.levels - 1
    least = {Strategy.DVFS: 0, Strategy.MIX: _level_at(core, MIX_LEAST_HZ)}.get(strategy, top)
    if ranges is None:
        return np.array([least], dtype=np.int64), np.array([top], dtype=np.int64)
    pairs = [(0, top) if wanted is None else core.level_range(wanted) for wanted in ranges]
    high = np.array([pair[1] for pair in pairs], dtype=np.int64)
    # A strategy that does not slow jobs down leaves each at the highest that it allows.
    low = np.minimum(np.maximum([pair[0] for pair in pairs], least), high).astype(np.int64)
    return low, high


def _level_at(core: CorePower, frequency_hz: float) -> int:
    steps = core.frequency_hz
    return min(sum(1 for step in steps if step < frequency_hz * (1 - 1e-9)), len(steps) - 1)


def _windows(plan: PowerCap) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The stretches in which reservations lower the cap, each with what they take from it."""
    times = {t for r in plan.reservations for t in (r.start_s, r.end_s)}
    edges = np.array(sorted(times), dtype=np.float64)
    held = np.array([
        sum(r.watts for r in plan.reservations if r.start_s <= t < r.end_s) for t in edges[:-1]
    ], dtype=np.float64)
    kept = held > 0
    return edges[:-1][kept], edges[1:][kept], held[kept]
