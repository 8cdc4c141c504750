"""EnergyQARE: follow the target or serve the jobs, whichever is relatively worse off now."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import Composition, cycle_s, regulate
from wattline.policies.regulation.cycle import begin_cycle, end_cycle, hour_of
from wattline.policies.regulation.quality import mean_relative
from wattline.policies.regulation.timing import next_cycle_s
from wattline.policies.regulation.tracking import track
from wattline.policies.state import State

ERROR_LIMIT = 0.3


class EnergyQare(NamedTuple):
    """Follow the target; while the jobs' mean degradation, relative to their thresholds, exceeds
    the relative error, let the power exceed the target by as much as brings the two to balance.
    """

    desk: Any

    @property
    def axis(self) -> Literal["regulation"]:
        return "regulation"


@implement(regulate, EnergyQare)
@kernel
def _regulate(st: State, regulation: EnergyQare, policy: Composition) -> None:
    desk = regulation.desk
    control = desk.control[0]
    # The error that the last decision left, against the target that it was made for.
    gap_w = abs(st.clock[0].power_w - control.target_w)
    cycle = begin_cycle(st, desk)
    if cycle < 0:
        return
    reserve_w = desk.reserve[hour_of(st, desk)]
    error = gap_w / reserve_w if reserve_w > 0.0 else 0.0
    quality = mean_relative(st, desk)
    target_w = control.target_w
    if quality > error / ERROR_LIMIT:
        # Jobs start until the error that they bring weighs as much as the degradation.
        raised_w = target_w + quality * ERROR_LIMIT * reserve_w
        control.target_w = min(raised_w, control.limit_w)
    track(st, desk, policy)
    control.target_w = target_w
    end_cycle(st, desk, cycle)


@implement(cycle_s, EnergyQare)
@kernel
def _cycle_s(st: State, regulation: EnergyQare) -> float:
    return next_cycle_s(st, regulation.desk)
