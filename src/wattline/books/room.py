"""Room for what the next step may write: kernels do not look where they write."""

from __future__ import annotations

import numpy as np

from wattline.books.record import ANSWER, Record, grow_log, grow_spans
from wattline.policies.state import State, grow
from wattline.policies.state_records import ActionRecord


def make_room(
    state: State, record: Record, events: int, keeps_log: bool
) -> tuple[State, Record]:
    """State and record in which a step with so many events finds room for whatever it does."""
    meter = record.meter[0]
    meter.decided = 0
    meter.answers = 0
    if not keeps_log:
        meter.rows = 0
        meter.spans = 0
        meter.spare_rows = len(record.log_time_s)
    waiting = int(state.clock[0].queue_last - state.clock[0].queue_first)
    waiting += int(state.clock[0].aside) + events
    running = int(state.clock[0].running)
    most = 4 * (waiting + running) + 256
    while len(record.log_time_s) - meter.rows < most or meter.spare_rows < most:
        record = grow_log(record)
        meter = record.meter[0]
    while state.nodes.size and len(record.spans) - meter.spans <= state.nodes.size:
        record = grow_spans(record)
    while len(state.timers) - meter.timers < waiting + events + 128:
        state = grow(state, "timers")
    if len(record.decided) < 3 * (waiting + running) + 64:
        size = 6 * (waiting + running) + 128
        record = record.with_arrays(decided=ActionRecord.table(size),
                                    answers=np.zeros(size, ANSWER).view(np.recarray))
    return state, record
