"""DVFS: all processors run at the highest level that keeps the machine under the cap."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import implement, kernel
from wattline.model.promises import STOPS
from wattline.policies.admission.power import exceeds_alone, never_fits, raised_w
from wattline.policies.contract import (
    START,
    STOP,
    Composition,
    admit,
    before_queue,
    carries,
    exceeds,
    keeps_bounds,
    least_factor,
    refuses,
    sets_aside,
    settle,
)
from wattline.policies.control import level_settings, settings
from wattline.policies.from_view import decides_from_view
from wattline.policies.starting import note
from wattline.policies.state import ACT_LEVEL, State
from wattline.policies.traits import common_levels, power_wait, steers_all


@decides_from_view()
class Dvfs(NamedTuple):
    """Levels from the slowest to the fastest: progress per second and power relative to full.

    `share` is the frequency of each level relative to the highest: what a machine is asked for.
    `jobs_only`: the cap counts running jobs, and idle units come on top.
    """

    speed: Any
    power_factor: Any
    latency_s: float = 0.0
    share: Any = None
    jobs_only: bool = False

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@implement(admit, Dvfs)
@kernel
def _admit(st: State, admission: Dvfs, policy: Composition, job: int) -> int:
    return START if carries(st, admission, job) else STOP


@implement(carries, Dvfs)
@kernel
def _carries(st: State, admission: Dvfs, job: int) -> bool:
    """Say whether the machine can carry a job at the lowest level, and its idle units after it."""
    clock = st.clock[0]
    live = st.live[job]
    lowest = admission.power_factor[0]
    jobs_w = (clock.running_watts + live.watts) * lowest
    rest_w = clock.power_w - clock.running_watts * clock.power_factor
    if admission.jobs_only:
        needed_w = jobs_w
    elif st.kinds.size < 2:
        idle_w = live.units * clock.idle_w
        below_w = clock.below_idle_w + max(idle_w - live.watts * lowest, 0.0)
        needed_w = rest_w - idle_w + jobs_w + below_w
    else:
        needed_w = rest_w + clock.running_watts * lowest + clock.below_idle_w + max(
            raised_w(st, job, lowest), 0.0)
    return bool(needed_w <= clock.cap_w * (1.0 + CAP_SLACK))


@implement(least_factor, Dvfs)
@kernel
def _least_factor(st: State, admission: Dvfs) -> float:
    return float(admission.power_factor[0])


@implement(before_queue, Dvfs)
@kernel
def _before_queue(st: State, admission: Dvfs, policy: Composition) -> bool:
    """The machine begins at the highest level, which need not be full speed."""
    clock = st.clock[0]
    highest = admission.speed.size - 1
    if clock.power_factor > admission.power_factor[highest]:
        clock.speed = admission.speed[highest]
        clock.power_factor = admission.power_factor[highest]
    return True


@implement(settle, Dvfs)
@kernel
def _settle(st: State, admission: Dvfs, policy: Composition) -> None:
    clock = st.clock[0]
    rest_w = 0.0
    if not admission.jobs_only:
        rest_w = clock.power_w - clock.running_watts * clock.power_factor
    level = admission.speed.size - 1
    while level > 0:
        needed_w = rest_w + clock.running_watts * admission.power_factor[level]
        if needed_w <= clock.cap_w * (1.0 + CAP_SLACK) and keeps_bounds(
            st, policy.placement, admission.power_factor[level]
        ):
            break
        level -= 1
    # Where jobs do not slow down (beta = 0), levels differ in power alone.
    slower = admission.speed[level] != clock.speed
    if slower or admission.power_factor[level] != clock.power_factor:
        clock.latency_s = admission.latency_s
        note(st, ACT_LEVEL, level, admission.speed[level], admission.power_factor[level])


@implement(refuses, Dvfs)
@kernel
def _refuses(st: State, admission: Dvfs, job: int) -> bool:
    return never_fits(st, job, admission.power_factor[0], admission.jobs_only)


@implement(sets_aside, Dvfs)
@kernel
def _sets_aside(st: State, admission: Dvfs) -> bool:
    return True


@implement(exceeds, Dvfs)
@kernel
def _exceeds(st: State, admission: Dvfs, job: int, cap_w: float, idle_w: float) -> bool:
    return exceeds_alone(st, job, admission.power_factor[0], admission.jobs_only, cap_w, idle_w)


@settings.register
def _settings(axis: Dvfs, st: State, job: int) -> dict[str, Any]:
    """A job begins at the level of the machine."""
    at = np.flatnonzero(np.asarray(axis.power_factor) == st.clock[0].power_factor)
    return level_settings(axis, int(at[-1])) if at.size else {}


@level_settings.register
def _level_settings(axis: Dvfs, level: int) -> dict[str, Any]:
    return {} if axis.share is None else {"frequency_share": float(axis.share[level])}


@steers_all.register
def _steers_all(admission: Dvfs) -> bool:
    return True


@power_wait.register
def _power_wait(admission: Dvfs) -> str | None:
    """A change that stops all jobs for a while puts their ends off, as no record says."""
    untold = admission.jobs_only or admission.latency_s > 0.0 or admission.speed.size < 2
    return None if untold else STOPS


@common_levels.register
def _common_levels(admission: Dvfs) -> tuple[float, float]:
    return float(admission.power_factor[0]), float(admission.speed[-1])
