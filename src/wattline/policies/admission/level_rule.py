"""The arithmetic of power-adaptive scheduling: at which frequency may a job start, if at all.

The rule is that of the power-adaptive scheduling of Slurm 15.08: at its highest frequency if the
machine then stays under the cap; else at the *optimal* one, the highest at which all idle nodes
could be given to jobs; else at the lowest that the job allows; else it waits.
"""

from __future__ import annotations

from wattline.model.cap_slack import fits
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray

WAIT = -1


@kernel
def optimal_level(
    room_w: float, idle_rise_w: float, dynamic: FloatArray, low: int, high: int
) -> int:
    """The highest level at which all idle nodes would fit into the room, or WAIT.

    `idle_rise_w` is what all idle nodes would draw at full speed above their idle power,
    `dynamic[level]` the part of that rise at a level, `room_w` what is left under the cap.
    """
    for level in range(high, low - 1, -1):
        if fits(idle_rise_w * dynamic[level], room_w):
            return level
    return WAIT


@kernel
def choose_level(
    room_w: float, rise_w: float, idle_rise_w: float, dynamic: FloatArray, low: int, high: int
) -> int:
    """The level at which a job that raises power by `rise_w` at full speed starts, or WAIT."""
    if fits(rise_w * dynamic[high], room_w):
        return high
    best = optimal_level(room_w, idle_rise_w, dynamic, low, high)
    if best != WAIT and fits(rise_w * dynamic[best], room_w):
        return best
    if fits(rise_w * dynamic[low], room_w):
        return low
    return WAIT
