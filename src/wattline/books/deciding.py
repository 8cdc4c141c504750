"""One decision: the policy is asked, and what it asked for is carried out in the books."""

from __future__ import annotations

from typing import Any

from wattline.books.keeping import (
    begin,
    pause,
    set_level,
    set_speed,
    set_speeds,
)
from wattline.books.log import CONTROL, NO_JOB, log_event
from wattline.books.power_states import power_down, power_up
from wattline.books.record import Record
from wattline.books.timers import WAKE_UP, push_timer
from wattline.books.world import answer
from wattline.model.kernel import implement, kernel, kernel_part, slot
from wattline.policies.contract import (
    Composition,
    Everything,
    cycle_s,
    marks_nodes,
    regulate,
    schedule,
    settle,
)
from wattline.policies.set_aside import follow_cap
from wattline.policies.state import (
    ACT_DOWN,
    ACT_LEVEL,
    ACT_PAUSE,
    ACT_RESUME,
    ACT_SPEED,
    ACT_START,
    ACT_UP,
    ACT_WAKE,
    State,
)


@kernel_part
def decide(st: State, record: Record, world: Any, policy: Composition) -> None:
    """After all events of an instant: the control cycle where it is due, then the scheduler."""
    clock = st.clock[0]
    meter = record.meter[0]
    if meter.next_cycle_s <= clock.now_s:
        meter.next_cycle_s = clock.now_s + cycle_s(st, policy.regulation)
        log_event(st, record, CONTROL, NO_JOB, 0.0)
        regulate(st, policy.regulation, policy)
        apply_actions(st, record, world, policy)
    follow_cap(st, policy)
    schedule(st, policy.backfill, policy)
    if clock.actions > 0:
        apply_actions(st, record, world, policy)
    settle(st, policy.admission, policy)
    if clock.actions > 0:
        apply_actions(st, record, world, policy)
    answer(st, record, world, policy)


@kernel_part
def apply_actions(st: State, record: Record, world: Any, policy: Composition) -> None:
    """Carry out what the decision asked for."""
    clock = st.clock[0]
    _count_pending(st, record)
    if record.decided.size > 0:
        _keep(st, record)
    if clock.together:
        _steer_together(st, record, policy.scope, world, policy)
    for index in range(clock.actions):
        action = st.actions[index]
        kind = action.kind
        if kind in (ACT_START, ACT_RESUME):
            begin(st, record, world, policy, action.job, kind == ACT_RESUME, action.cap_w)
        else:
            _steer(st, record, policy.scope, world, policy, index)
    clock.actions = 0


@kernel
def _keep(st: State, record: Record) -> None:
    """Keep what was asked for; whoever reads it sees to it that there is room."""
    meter = record.meter[0]
    for index in range(st.clock[0].actions):
        record.decided[meter.decided] = st.actions[index]
        meter.decided += 1


@kernel
def _name_batch(st: State, record: Record, index: int, batch: int) -> None:
    """Say of a decision that was kept which nodes it is about."""
    if record.decided.size > 0:
        record.decided[record.meter[0].decided - st.clock[0].actions + index].job = batch


@kernel
def _count_pending(st: State, record: Record) -> None:
    meter = record.meter[0]
    for index in range(st.clock[0].actions):
        action = st.actions[index]
        if action.kind in (ACT_START, ACT_RESUME):
            meter.pending_w += action.power_w - st.live[action.job].idle_w
            meter.pending_units += st.live[action.job].units
            meter.pending_jobs += 1


@slot(2, default=True)
def _steer(
    st: State, record: Record, scope: Any, world: Any, policy: Composition, index: int
) -> None:
    """Carry out an action that is not a start; in a scope of starts only, count it as an error."""
    record.meter[0].undone += 1


@slot(2, default=True)
def _steer_together(
    st: State, record: Record, scope: Any, world: Any, policy: Composition
) -> None:
    """Change all speeds of a decision at once; a scope of starts only changes none."""
    return


@implement(_steer_together, Everything)
@kernel
def _speeds_together(
    st: State, record: Record, scope: Everything, world: Any, policy: Composition
) -> None:
    set_speeds(st, record, world, policy)


@implement(_steer, Everything)
@kernel
def _steer_all(
    st: State, record: Record, scope: Everything, world: Any, policy: Composition, index: int
) -> None:
    action = st.actions[index]
    kind = action.kind
    if kind == ACT_SPEED:
        set_speed(st, record, world, policy, action.job, action.value, action.power_w,
                  action.cap_w)
    elif kind == ACT_LEVEL:
        set_level(st, record, world, action.value, action.power_w, action.job)
    elif kind == ACT_PAUSE:
        pause(st, record, world, policy, action.job)
    elif kind == ACT_DOWN:
        marked = action.job >= 0 and marks_nodes(st, policy.placement, action.job)
        _name_batch(st, record, index, power_down(st, record, int(action.value), marked))
    elif kind == ACT_UP:
        marked = action.job >= 0 and marks_nodes(st, policy.placement, action.job)
        _name_batch(st, record, index, power_up(st, record, int(action.value), marked))
    elif kind == ACT_WAKE:
        push_timer(st, record.meter[0].timers, action.value, WAKE_UP, action.job)
        record.meter[0].timers += 1
