"""The ramp limit: how fast the power of the machine may change, in both directions.

A *level* follows the power of the machine at no more than the allowed rate. The power may be above
or below that level by what the rate gives in a minute (`ramp_w`): so much may come at once, more
only as fast as the level follows. Work that ends and work that starts in its place cancel out. A
change larger than that (one large job) waits until power and level are the same.

What nobody decides, the end of a job, is not held back: it takes the power down at once, and the
level follows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.cap_slack import CAP_SLACK, fits
from wattline.model.kernel import kernel
from wattline.policies.starting import note
from wattline.policies.state import ACT_WAKE, State

RAMP = np.dtype([("level_w", "f8"), ("level_s", "f8"), ("since_w", "f8")])
"""What is remembered: the level, as of when, and the power since then."""


@kernel
def follow(st: State, admission: Any) -> None:
    """Bring the level up to now. Power was the same since the last call, up to this instant."""
    clock = st.clock[0]
    ramp = admission.memory.ramp[0]
    if ramp.since_w == 0.0:  # the first call: no job has run yet
        ramp.level_w = clock.power_w
        ramp.since_w = clock.power_w
    step_w = (clock.now_s - ramp.level_s) * admission.ramp_w_per_s
    gap_w = ramp.since_w - ramp.level_w
    ramp.level_w += min(max(gap_w, -step_w), step_w)
    ramp.level_s = clock.now_s


@kernel
def remember(st: State, admission: Any, change_w: float) -> None:
    """Called after each decision, which still changes the power by so much: what holds then."""
    follow(st, admission)
    admission.memory.ramp[0].since_w = st.clock[0].power_w + change_w


@kernel
def rise_left_w(st: State, admission: Any) -> float:
    """By how much the power may rise now."""
    follow(st, admission)
    return float(admission.memory.ramp[0].level_w + admission.ramp_w - st.clock[0].power_w)


@kernel
def may_rise(st: State, admission: Any, job: int, rise_w: float) -> bool:
    """Whether the power may rise so much now; if not, asks to be called when it may."""
    left_w = rise_left_w(st, admission)
    needed_w = min(rise_w, admission.ramp_w)
    if fits(needed_w, left_w):
        return True
    wake_up(st, st.clock[0].now_s + (needed_w - left_w) / admission.ramp_w_per_s, job)
    return False


@kernel
def units_that_may_change(st: State, admission: Any, units: int, change_w: float) -> int:
    """So many of these units may be switched now, each by `change_w`; at least one when level.

    Where it is not all of them, asks to be called when one more may.
    """
    if admission.ramp_w_per_s == 0.0 or change_w == 0.0 or units == 0:
        return units
    follow(st, admission)
    clock = st.clock[0]
    sign = 1.0 if change_w > 0.0 else -1.0
    used_w = (clock.power_w - admission.memory.ramp[0].level_w) * sign
    each_w = abs(change_w)
    left_w = admission.ramp_w - used_w
    most = int(max(left_w, 0.0) * (1.0 + CAP_SLACK) / each_w)
    if most == 0 and each_w > admission.ramp_w and used_w <= 0.0:
        most = 1
    if most < units:
        left_w -= most * each_w
        needed_w = min(each_w, admission.ramp_w)
        wait_s = max(needed_w - left_w, 0.0) / admission.ramp_w_per_s
        wake_up(st, clock.now_s + max(wait_s, 1.0), -1)
    return min(units, most)


@kernel
def wake_up(st: State, time_s: float, job: int) -> None:
    """Ask to be called at a time, unless an earlier call is already asked for."""
    clock = st.clock[0]
    if clock.wake_s <= clock.now_s or time_s < clock.wake_s:
        clock.wake_s = time_s
        note(st, ACT_WAKE, job, time_s, 0.0)
