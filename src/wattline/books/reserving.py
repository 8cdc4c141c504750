"""The cap, and reservations of units and watts: made, begun, over, removed."""

from __future__ import annotations

from wattline.books.log import CAP_STEP, NO_JOB, log_event
from wattline.books.outages import pay_down
from wattline.books.record import Record
from wattline.books.timers import WINDOW_END, WINDOW_START, drop_window_timers, push_timer
from wattline.model.kernel import kernel
from wattline.policies.state import BEGUN, OVER, PLAN_STALE, State


@kernel
def change_cap(st: State, record: Record, cap_w: float) -> None:
    """From now on the machine may draw so much, less what reservations take from it."""
    clock = st.clock[0]
    meter = record.meter[0]
    meter.told_cap_w = cap_w
    clock.cap_w = cap_w - meter.held_w
    clock.cap_w_max = max(clock.cap_w_max, cap_w)
    clock.examined = 0
    clock.smallest = 1  # another cap may mean configurations of fewer units
    log_event(st, record, CAP_STEP, NO_JOB, clock.cap_w)


@kernel
def make_window(st: State, record: Record, index: int) -> None:
    """A reservation was made: from now on plans go around it."""
    clock = st.clock[0]
    meter = record.meter[0]
    window = st.windows[index]
    if window.units > 0:
        clock.windows += 1
    push_timer(st, meter.timers, max(window.start_s, clock.now_s), WINDOW_START, index)
    push_timer(st, meter.timers + 1, window.end_s, WINDOW_END, index)
    meter.timers += 2
    clock.examined = 0
    clock.replan = PLAN_STALE


@kernel
def remove_window(st: State, record: Record, index: int) -> None:
    """A reservation that is not over will not be, or is no more."""
    meter = record.meter[0]
    meter.timers = drop_window_timers(st, meter.timers, index)
    window = st.windows[index]
    if window.stage == BEGUN:
        end_window(st, record, index)
    elif window.units > 0:
        st.clock[0].windows -= 1
    window.stage = OVER
    window.end_s = -float("inf")
    st.clock[0].examined = 0
    st.clock[0].replan = PLAN_STALE


@kernel
def begin_window(st: State, record: Record, index: int) -> None:
    window = st.windows[index]
    window.stage = BEGUN
    st.clock[0].owed += window.units
    if window.watts > 0.0:
        _take_from_cap(st, record)


@kernel
def end_window(st: State, record: Record, index: int) -> None:
    clock = st.clock[0]
    window = st.windows[index]
    window.stage = OVER
    never_paid = min(window.units, clock.owed)
    clock.owed -= never_paid
    clock.reserved -= window.units - never_paid
    clock.free += window.units - never_paid
    if clock.down_owed > 0:
        pay_down(st)  # units failed while they were reserved
    if window.units > 0:
        clock.windows -= 1
    clock.examined = 0
    if window.watts > 0.0:
        _take_from_cap(st, record)


@kernel
def pay_windows(st: State) -> None:
    """Give free units to reservations that have begun."""
    clock = st.clock[0]
    units = min(clock.free, clock.owed)
    clock.free -= units
    clock.owed -= units
    clock.reserved += units


@kernel
def _take_from_cap(st: State, record: Record) -> None:
    """Reservations that have begun lower the cap; summed anew, for sums of floats drift."""
    meter = record.meter[0]
    meter.held_w = 0.0
    for index in range(st.windows.size):
        if st.windows[index].stage == BEGUN:
            meter.held_w += st.windows[index].watts
    change_cap(st, record, meter.told_cap_w)
