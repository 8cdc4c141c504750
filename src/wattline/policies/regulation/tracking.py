"""Tracking-only: follow the target, whatever becomes of the jobs."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel, kernel_part
from wattline.policies.contract import Composition, cycle_s, regulate
from wattline.policies.regulation.byage import choose_by_age
from wattline.policies.regulation.cycle import (
    add_standby,
    begin_cycle,
    carry_out,
    common_ratio,
    end_cycle,
)
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.preemption import pause_surplus, resume_paused
from wattline.policies.regulation.timing import next_cycle_s
from wattline.policies.state import State


class Tracking(NamedTuple):
    """Start the oldest jobs that fit below the target; cap all alike when above it."""

    desk: Any

    @property
    def axis(self) -> Literal["regulation"]:
        return "regulation"


@implement(regulate, Tracking)
@kernel
def _regulate(st: State, regulation: Tracking, policy: Composition) -> None:
    desk = regulation.desk
    cycle = begin_cycle(st, desk)
    if cycle < 0:
        return
    track(st, desk, policy)
    end_cycle(st, desk, cycle)


@kernel_part
def track(st: State, desk: Desk, policy: Composition) -> None:
    """Match the target with starts by age and one cap ratio."""
    resume_paused(st, desk)
    choose_by_age(st, desk)
    add_standby(st, desk)
    pause_surplus(st, desk)
    carry_out(st, desk, policy, common_ratio(st, desk))


@implement(cycle_s, Tracking)
@kernel
def _cycle_s(st: State, regulation: Tracking) -> float:
    return next_cycle_s(st, regulation.desk)
