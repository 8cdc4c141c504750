"""Power-adaptive admission: start at a frequency that the cap allows, or wait.

The rule of docs/energy.md: a job starts at its highest frequency if the machine then stays under
the cap; else at the optimal one, the highest at which all idle nodes could be given to jobs; else
at its lowest; else it waits. A job that would run into a planned window is admitted only if the
window can still be kept. Nodes are switched off where that gives jobs room (SHUT, MIX).

A job keeps its frequency until it ends, unless running jobs follow the cap (`following`). Its level
stands in the books as a power (`live.watts`) and a slowdown (`live.slowdown`), so that everything
else works as for any other job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.model.promises import PLANNED
from wattline.policies.admission.following import follow_cap
from wattline.policies.admission.level_rule import WAIT as NO_LEVEL
from wattline.policies.admission.levels import (
    exceeds_at_lowest,
    held_watts,
    level_of,
    lowest,
    never_fits,
    no_room_for_any,
    reach_under,
    rise_of,
    set_level,
    time_at_level,
    watts_at_level,
)
from wattline.policies.admission.ramp import may_rise
from wattline.policies.admission.switching import settle_under
from wattline.policies.admission.windows import (
    after_windows_s,
    cap_at,
    first_end_s,
    held_at,
    level_for_windows,
    spares_at,
    windows_known,
)
from wattline.policies.committed import committed_w
from wattline.policies.contract import (
    START,
    WAIT,
    Composition,
    Reach,
    admit,
    cap_to_come_w,
    carries,
    exceeds,
    exhausted,
    not_before_s,
    planned_s,
    reach,
    refuses,
    sets_aside,
    settle,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.control import settings
from wattline.policies.from_view import decides_from_view
from wattline.policies.memory import Memory
from wattline.policies.planning import (
    faster_when_full,
    planned_w,
    reserved_s,
    rises_s,
    spares,
)
from wattline.policies.state import State
from wattline.policies.traits import JobLevels, job_levels, power_wait


class AdaptiveMemory(Memory):
    """The ramp so far (one record), and the lowest and highest level that each job allows.

    Where running jobs follow the cap: the one that they follow, and room for what they are to have.
    """

    FIELDS = ("ramp", "cap_w", "low", "high", "aim")
    PER_JOB: ClassVar[Mapping[str, str]] = {"low": "i8", "high": "i8", "aim": "i8"}
    ramp: Any
    cap_w: Any
    low: Any
    high: Any
    aim: Any


def _beside_the_view(admission: Adaptive) -> str:
    if admission.least != admission.highest_low:
        return "has the frequencies that each job allows, which a view does not show"
    if admission.follow:
        return "changes the levels of running jobs, which a view does not show"
    if admission.shut:
        return "switches nodes off and on, which a snapshot cannot ask for"
    if admission.ramp_w_per_s > 0.0:
        return "remembers how the power rose and fell, for its ramp"
    return ""


@decides_from_view(unless=_beside_the_view)
class Adaptive(NamedTuple):
    """Levels from the slowest to the fastest, and planned windows."""

    speed: Any
    """Progress a second at each level, relative to full speed."""
    dynamic: Any
    """Power above idle at each level, relative to full speed."""
    window_start_s: Any
    window_end_s: Any
    window_held_w: Any
    """What is taken from the cap in each window known in advance, in the order of their starts."""
    machine_w: float
    """All units at full speed: a cap above that leaves no more to take from."""
    unit_w: float
    """A unit at full speed; of several classes, the one that raises the power most."""
    memory: AdaptiveMemory
    frequency_hz: Any
    """Of each level: what the cores are set to."""
    least_rise_w: float = 0.0
    """No job raises the power by less a unit, at full speed."""
    least: int = 0
    """The lowest level that any job allows."""
    highest_low: int = 0
    """No job's lowest level is higher than this..."""
    lowest_high: int = 0
    """...and no job's highest is lower than this."""
    usual: int = 0
    """The lowest level in use, by which units that cannot be busy are counted; where jobs are not
    known beforehand, that of one that asks for no frequency."""
    shut: int = 0
    """1: units that only take power from jobs are switched off."""
    floor_w: float = 0.0
    """Switching off does not take the machine below this; units are switched on for it."""
    ramp_w_per_s: float = 0.0
    """How fast decisions may change the power; 0 for no limit. See `ramp`."""
    ramp_w: float = 0.0
    """How much of a change may come at once."""
    follow: int = 0
    """1: running jobs are slowed down and sped up as the cap wants it."""
    caps: int = 0
    """1: nodes are asked for a cap instead of a frequency; their hardware keeps it."""

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@kernel
def start_level(st: State, admission: Adaptive, job: int, cap_w: float) -> int:
    """The level at which a job may start now under this cap and all windows, or NO_LEVEL."""
    level = level_of(st, admission, job, cap_w - committed_w(st))
    if level != NO_LEVEL and windows_known(st, admission) > 0:
        level = level_for_windows(st, admission, job, level)
    return level


@kernel
def admit_under(st: State, admission: Adaptive, job: int, cap_w: float) -> int:
    """The verdict under this cap; on START the job's level is set."""
    level = start_level(st, admission, job, cap_w)
    return WAIT if level == NO_LEVEL else admit_at(st, admission, job, level)


@kernel
def admit_at(st: State, admission: Adaptive, job: int, level: int) -> int:
    """The verdict where cap and windows allow this level; on START it is set."""
    if admission.ramp_w_per_s > 0.0:
        rise_w = rise_of(st, job) * admission.dynamic[level]
        if not may_rise(st, admission, job, rise_w):
            return WAIT
    set_level(st, admission, job, level)
    return START


@implement(admit, Adaptive)
@kernel
def _admit(st: State, admission: Adaptive, policy: Composition, job: int) -> int:
    return admit_under(st, admission, job, st.clock[0].cap_w)


@implement(carries, Adaptive)
@kernel
def _carries(st: State, admission: Adaptive, job: int) -> bool:
    return start_level(st, admission, job, st.clock[0].cap_w) != NO_LEVEL


@implement(planned_s, Adaptive)
@kernel
def _planned_s(st: State, admission: Adaptive, job: int, requested_s: float) -> float:
    return time_at_level(admission, start_level(st, admission, job, st.clock[0].cap_w),
                         requested_s)


@implement(planned_w, Adaptive)
@kernel
def _planned_w(st: State, admission: Adaptive, job: int) -> float:
    level = start_level(st, admission, job, st.clock[0].cap_w)
    return watts_at_level(st, admission, job, level)


@implement(reserved_s, Adaptive)
@kernel
def _reserved_s(st: State, admission: Adaptive, job: int, requested_s: float) -> float:
    return time_at_level(admission, lowest(admission, job), requested_s)


@implement(spares, Adaptive)
@kernel
def _spares(st: State, admission: Adaptive, job: int, head: int) -> bool:
    if windows_known(st, admission) == 0:
        return True
    level = start_level(st, admission, job, st.clock[0].cap_w)
    return level == NO_LEVEL or spares_at(st, admission, job, level, head)


@implement(faster_when_full, Adaptive)
@kernel
def _faster_when_full(st: State, admission: Adaptive) -> bool:
    """The optimal level is higher where fewer units are idle."""
    return True


@implement(exhausted, Adaptive)
@kernel
def _exhausted(st: State, admission: Adaptive) -> bool:
    return no_room_for_any(st, admission, st.clock[0].cap_w)


@implement(reach, Adaptive)
@kernel
def _reach(st: State, admission: Adaptive) -> Reach:
    return reach_under(st, admission, st.clock[0].cap_w)


@implement(watts_available, Adaptive)
@kernel
def _watts_available(st: State, admission: Adaptive) -> float:
    return float(st.clock[0].cap_w - committed_w(st))


@implement(watts_at, Adaptive)
@kernel
def _watts_at(st: State, admission: Adaptive, time_s: float) -> float:
    clock = st.clock[0]
    if time_s <= clock.now_s:
        return float(clock.cap_w - committed_w(st))
    return cap_at(st, admission, time_s) - committed_w(st)


@implement(watts_of, Adaptive)
@kernel
def _watts_of(st: State, admission: Adaptive, job: int) -> float:
    return held_watts(st, admission, job)


@implement(not_before_s, Adaptive)
@kernel
def _not_before_s(st: State, admission: Adaptive, job: int, from_s: float) -> float:
    return after_windows_s(st, admission, job, from_s)


@implement(rises_s, Adaptive)
@kernel
def _rises_s(st: State, admission: Adaptive, after_s: float) -> float:
    return first_end_s(st, admission, after_s)


@implement(settle, Adaptive)
@kernel
def _settle(st: State, admission: Adaptive, policy: Composition) -> None:
    cap_w = st.clock[0].cap_w
    change_w = 0.0
    if admission.follow:
        change_w = follow_cap(st, admission, policy, cap_w)
    settle_under(st, admission, policy, cap_w, change_w, st.clock[0].units)


@implement(refuses, Adaptive)
@kernel
def _refuses(st: State, admission: Adaptive, job: int) -> bool:
    return never_fits(st, admission, job)


@implement(sets_aside, Adaptive)
@kernel
def _sets_aside(st: State, admission: Adaptive) -> bool:
    return True


@implement(exceeds, Adaptive)
@kernel
def _exceeds(st: State, admission: Adaptive, job: int, cap_w: float, idle_w: float) -> bool:
    return exceeds_at_lowest(st, admission, job, cap_w, idle_w)


@implement(cap_to_come_w, Adaptive)
@kernel
def _cap_to_come_w(st: State, admission: Adaptive) -> float:
    return float(st.clock[0].cap_w + held_at(st, admission, st.clock[0].now_s))


@settings.register
def _settings(axis: Adaptive, st: State, job: int) -> dict[str, Any]:
    live = st.live[job]
    if live.level < 0:
        return {}
    if axis.caps and len(st.kinds) > 1:
        return {"cap_w": float(live.watts / live.units)}
    if axis.caps:
        above_idle_w = rise_of(st, job) * axis.dynamic[live.level]
        return {"cap_w": float(st.clock[0].idle_w + above_idle_w / live.units)}
    return {"frequency_hz": float(axis.frequency_hz[live.level])}


@job_levels.register
def _job_levels(admission: Adaptive) -> JobLevels:
    return JobLevels(admission.speed, admission.dynamic)


@power_wait.register
def _power_wait(admission: Adaptive) -> str | None:
    """Windows, switched nodes, a ramp and jobs that follow the cap are told by no record."""
    untold = (admission.window_start_s.size or admission.shut or admission.follow
              or admission.ramp_w_per_s > 0.0)
    return None if untold else PLANNED
