"""One step of the books as a kernel: time passes, events are applied, the policy decides.

The simulator's loop calls the same functions (`wattline.engine.loop`); here they are driven by
events that somebody tells, and the world may be a real one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.books.applying import let_timers_go_off, release_dependents, submit
from wattline.books.arriving import (
    cancel,
    change_request,
    confirm,
    hold_until,
    start_elsewhere,
    take_back,
)
from wattline.books.deciding import decide
from wattline.books.keeping import bring_up_to_date, close_job, correct, end_job, integrate
from wattline.books.measuring import measure_job, measure_machine
from wattline.books.outages import units_down, units_up
from wattline.books.record import Record
from wattline.books.reserving import change_cap, make_window, remove_window
from wattline.model.kernel import constants, kernel, kernel_part
from wattline.policies.contract import Composition, counters_read
from wattline.policies.state import PAUSED, State

EVENT = np.dtype([("kind", "i8"), ("job", "i8"), ("value", "f8"), ("more", "f8"), ("rest", "f8")])

# Kinds of events, in the order in which they are applied; NODE_OF and, where nodes are chosen, DOWN
# and UP come one per node.
(ENDED, CONFIRMED, NODE_OF, ELSEWHERE, NOT_STARTED, DOWN, UP, UNRESERVED, RESERVED, CAP, MEASURED,
 MACHINE, PACED, COUNTED, SUBMITTED, WITHDRAWN, CHANGED) = constants(17)


@kernel
def step(
    st: State, record: Record, world: Any, policy: Composition, events: Any, count: int,
    now_s: float, deciding: bool,
) -> None:
    """Apply events in their order, let timers go off between them, and decide."""
    integrate(st, record, now_s)
    index = 0
    while index < count and events[index].kind <= RESERVED:
        _apply(st, record, world, policy, events[index])
        index += 1
    if deciding:
        let_timers_go_off(st, record, policy)
    while index < count:
        _apply(st, record, world, policy, events[index])
        index += 1
    if deciding:
        decide(st, record, world, policy)


@kernel_part
def _apply(st: State, record: Record, world: Any, policy: Composition, event: Any) -> None:
    kind = event.kind
    job = event.job
    if kind == ENDED:
        if st.live[job].state == PAUSED:
            close_job(st, record, job, event.value != 0.0)
        else:
            bring_up_to_date(st, job)
            if not np.isnan(event.more):
                st.live[job].energy_j = event.more
            end_job(st, record, world, policy, job, event.value != 0.0)
        if st.jobs[job].first_dependent >= 0:
            release_dependents(st, record, policy, job)
    elif kind == CONFIRMED:
        confirm(st, job)
    elif kind == NODE_OF:
        st.scratch_nodes[int(event.more)] = int(event.value)
    elif kind == ELSEWHERE:
        start_elsewhere(st, record, world, policy, job, int(event.value))
    elif kind == NOT_STARTED:
        take_back(st, record, world, policy, job, event.value)
    elif kind == DOWN:
        units_down(st, job, int(event.value))
    elif kind == UP:
        units_up(st, job, int(event.value))
    elif kind == UNRESERVED:
        remove_window(st, record, int(event.value))
    elif kind == RESERVED:
        make_window(st, record, int(event.value))
    elif kind == SUBMITTED:
        submit(st, record, policy, job)
        record.meter[0].arrived += 1
        if event.value > st.clock[0].now_s:
            hold_until(st, record, job, event.value)
    else:
        _apply_later(st, record, world, policy, event)


@kernel_part
def _apply_later(st: State, record: Record, world: Any, policy: Composition, event: Any) -> None:
    kind = event.kind
    job = event.job
    if kind == CAP:
        change_cap(st, record, event.value)
    elif kind == MEASURED:
        measure_job(st, policy, job, event.value, event.more)
    elif kind == MACHINE:
        measure_machine(st, event.value)
    elif kind == PACED:
        st.live[job].stretch = event.rest
        correct(st, record, world, policy, job, event.value, event.more)
    elif kind == COUNTED:
        counters_read(st, policy.placement, job, event.value)
    elif kind == WITHDRAWN:
        cancel(st, record, policy, job)
    elif kind == CHANGED:
        change_request(st, policy, job, event.value)
