"""Writing the event log."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.books.record import Record
from wattline.model.kernel import kernel
from wattline.model.run import EventKind
from wattline.policies.state import State

# As numpy's integers: for each Python integer that a kernel is called with, numba would compile
# the kernel once more.
END: Any = np.int64(EventKind.END)
PAUSE: Any = np.int64(EventKind.PAUSE)
NODE: Any = np.int64(EventKind.NODE)
CAP_STEP: Any = np.int64(EventKind.CAP)
RESERVATION: Any = np.int64(EventKind.RESERVATION)
SUBMIT: Any = np.int64(EventKind.SUBMIT)
CONTROL: Any = np.int64(EventKind.CONTROL)
RATE: Any = np.int64(EventKind.RATE)
START: Any = np.int64(EventKind.START)
RESUME: Any = np.int64(EventKind.RESUME)
WAKE: Any = np.int64(EventKind.WAKE)

NO_JOB: Any = np.int64(-1)


@kernel
def log_event(st: State, record: Record, kind: int, job: int, value: float) -> None:
    """Write a row. Submissions, starts and ends have their room; others use spare rows."""
    if record.log_time_s.size == 0:  # nobody wants to know
        return
    clock = st.clock[0]
    meter = record.meter[0]
    row = meter.rows
    record.log_time_s[row] = clock.now_s
    record.log_power_w[row] = clock.power_w - meter.pending_w
    record.log_value[row] = value
    record.log_kind[row] = kind
    record.log_job[row] = job
    idle = clock.free + clock.off + clock.changing + clock.down + clock.reserved
    idle += meter.pending_units
    record.log_busy[row] = clock.units - idle
    waiting = clock.queue_last - clock.queue_first + clock.aside
    record.log_queued[row] = waiting + meter.pending_jobs
    meter.rows += 1
    if kind not in (SUBMIT, START, END, CAP_STEP):
        meter.spare_rows -= 1
