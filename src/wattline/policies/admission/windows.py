"""Caps that are known in advance: no job starts that would keep a planned window from holding.

Windows are those of the plan that the policy was made with, and behind them the reservations of
watts that were made since: those stand in the books.
"""

from __future__ import annotations

import math
from typing import Any

from wattline.model.cap_slack import fits
from wattline.model.kernel import kernel
from wattline.policies.admission.level_rule import WAIT as NO_LEVEL
from wattline.policies.admission.levels import exceeds_at_lowest, held_rise_w, lowest
from wattline.policies.committed import committed_w, held_above_idle_w
from wattline.policies.set_aside import idle_alone_w, idle_now_w
from wattline.policies.state import BLOCK, State


@kernel
def windows_known(st: State, admission: Any) -> int:
    """How many windows there may be; some may be over, or keep no watts."""
    return int(admission.window_start_s.size + st.windows.size)


@kernel
def window_start_s(st: State, admission: Any, window: int) -> float:
    planned = admission.window_start_s.size
    if window < planned:
        return float(admission.window_start_s[window])
    return float(st.windows[window - planned].start_s)


@kernel
def window_end_s(st: State, admission: Any, window: int) -> float:
    """Of one that keeps no watts, or is over: long ago."""
    planned = admission.window_start_s.size
    if window < planned:
        return float(admission.window_end_s[window])
    made = st.windows[window - planned]
    return float(made.end_s) if made.watts > 0.0 else -float("inf")


@kernel
def held_at(st: State, admission: Any, time_s: float) -> float:
    """What windows take from the cap at a time."""
    held_w = 0.0
    for window in range(admission.window_start_s.size):
        if admission.window_start_s[window] <= time_s < admission.window_end_s[window]:
            held_w = admission.window_held_w[window]
            break
    for window in range(st.windows.size):
        made = st.windows[window]
        if made.watts > 0.0 and made.start_s <= time_s < made.end_s:
            held_w += made.watts
    return float(held_w)


@kernel
def cap_at(st: State, admission: Any, time_s: float) -> float:
    """The cap at a later time, as far as is known: the one of now, with the windows of then.

    The cap of now may be another than the plan began with: changes are not known beforehand.
    """
    clock = st.clock[0]
    without_w = clock.cap_w + held_at(st, admission, clock.now_s)
    held_w = held_at(st, admission, time_s)
    if held_w > 0.0:
        return float((admission.machine_w if math.isinf(without_w) else without_w) - held_w)
    return float(without_w)


@kernel
def risen_s(st: State, admission: Any, alone_w: float, from_s: float) -> float:
    """The first time, `from_s` or the end of a window, at which the cap has room for so much."""
    clock = st.clock[0]
    cap_w = clock.cap_w if from_s <= clock.now_s else cap_at(st, admission, from_s)
    if fits(alone_w, cap_w):
        return float(from_s)
    first_s = float("inf")
    for window in range(windows_known(st, admission)):
        ends_s = window_end_s(st, admission, window)
        if from_s < ends_s < first_s and fits(alone_w, cap_at(st, admission, ends_s)):
            first_s = ends_s
    return float(first_s)


@kernel
def first_end_s(st: State, admission: Any, after_s: float) -> float:
    """The first time after another at which a window ends."""
    first_s = float("inf")
    for window in range(windows_known(st, admission)):
        ends_s = window_end_s(st, admission, window)
        if after_s < ends_s < first_s:
            first_s = ends_s
    return float(first_s)


@kernel
def level_for_windows(st: State, admission: Any, job: int, level: int) -> int:
    """The highest level not above `level` at which all windows can be kept, or NO_LEVEL."""
    now_s = st.clock[0].now_s
    for lower in range(level, lowest(admission, job) - 1, -1):
        if keeps_windows(st, admission, job, now_s, lower, False):
            return lower
    return NO_LEVEL


@kernel
def keeps_windows(
    st: State, admission: Any, job: int, start_s: float, level: int, later: bool
) -> bool:
    """Whether a job that starts at this time and level leaves every window under its cap.

    With `later`, every one that has not begun by then.
    """
    end_s = start_s + st.live[job].requested_s / admission.speed[level]
    rise_w = held_rise_w(st, job) * admission.dynamic[level]
    for window in range(windows_known(st, admission)):
        begins_s = window_start_s(st, admission, window)
        if begins_s >= end_s or window_end_s(st, admission, window) <= start_s:
            continue
        if later and begins_s <= start_s:
            continue
        at_s = max(begins_s, start_s)
        if not fits(power_at(st, at_s) + rise_w, cap_at(st, admission, at_s)):
            return False
    return True


@kernel
def power_at(st: State, time_s: float) -> float:
    """Return what the machine may draw at a later time by the requested times of running jobs.

    A job that is overdue counts as running on, and one that draws less than idle units as they do.
    """
    clock = st.clock[0]
    power_w = committed_w(st)
    for place in range(clock.blocks):
        block = st.blocks[place].order
        for index in range(block * BLOCK, block * BLOCK + st.blocks[block].count):
            expected_s = st.releases[index].expected_s
            if expected_s > time_s:
                return float(power_w)
            if expected_s >= clock.now_s:
                power_w -= held_above_idle_w(st, st.releases[index].job)
    return float(power_w)


@kernel
def after_windows_s(st: State, admission: Any, job: int, from_s: float) -> float:
    """The first time, `from_s` or the end of a window, at which no window is in a job's way."""
    count = windows_known(st, admission)
    if count == 0 or _clear_of_windows(st, admission, job, from_s):
        return float(from_s)
    first_s = float("inf")
    for window in range(count):
        ends_s = window_end_s(st, admission, window)
        if from_s < ends_s < first_s and _clear_of_windows(st, admission, job, ends_s):
            first_s = ends_s
    return float(first_s)


@kernel
def _clear_of_windows(st: State, admission: Any, job: int, start_s: float) -> bool:
    """Whether a job that starts then at its lowest level leaves all later windows under their cap,
    and has room in one that it starts in, if need be alone: others may have ended by then."""
    level = lowest(admission, job)
    if not keeps_windows(st, admission, job, start_s, level, True):
        return False
    idle_w = idle_alone_w(st, job, idle_now_w(st))
    return not exceeds_at_lowest(st, admission, job, cap_at(st, admission, start_s), idle_w)


@kernel
def spares_at(st: State, admission: Any, job: int, level: int, head: int) -> bool:
    """Say whether a job that starts now at a level leaves room for the head job, planned from the
    shadow time on, in every window that begins while both run."""
    clock = st.clock[0]
    end_s = clock.now_s + st.live[job].requested_s / admission.speed[level]
    least = lowest(admission, head)
    head_end_s = clock.shadow_s + st.live[head].requested_s / admission.speed[least]
    both_w = held_rise_w(st, job) * admission.dynamic[level]
    both_w += held_rise_w(st, head) * admission.dynamic[least]
    for window in range(windows_known(st, admission)):
        begins_s = window_start_s(st, admission, window)
        if clock.shadow_s <= begins_s < min(end_s, head_end_s) and (
                window_end_s(st, admission, window) > begins_s) and (
                not fits(power_at(st, begins_s) + both_w, cap_at(st, admission, begins_s))):
            return False
    return True
