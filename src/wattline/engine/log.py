"""Writing the event log."""

from __future__ import annotations

from wattline.engine.world import World
from wattline.model.kernel import kernel
from wattline.model.run import EventKind
from wattline.policies.state import State

END = int(EventKind.END)
PAUSE = int(EventKind.PAUSE)
NODE = int(EventKind.NODE)
CAP_STEP = int(EventKind.CAP)
RESERVATION = int(EventKind.RESERVATION)
SUBMIT = int(EventKind.SUBMIT)
CONTROL = int(EventKind.CONTROL)
RATE = int(EventKind.RATE)
START = int(EventKind.START)
RESUME = int(EventKind.RESUME)
WAKE = int(EventKind.WAKE)


@kernel
def log_event(st: State, world: World, kind: int, job: int, value: float) -> None:
    """Write a row. Submissions, starts and ends have their room; others use spare rows."""
    clock = st.clock[0]
    meter = world.meter[0]
    row = meter.rows
    world.log_time_s[row] = clock.now_s
    world.log_power_w[row] = clock.power_w - meter.pending_w
    world.log_value[row] = value
    world.log_kind[row] = kind
    world.log_job[row] = job
    idle = clock.free + clock.off + clock.changing + clock.reserved + meter.pending_units
    world.log_busy[row] = clock.units - idle
    waiting = clock.queue_last - clock.queue_first + clock.aside
    world.log_queued[row] = waiting + meter.pending_jobs
    meter.rows += 1
    if kind not in (SUBMIT, START, END, CAP_STEP):
        meter.spare_rows -= 1
