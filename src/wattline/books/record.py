"""What the books write down beside the state: meters, the log of events, where jobs were placed."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel_arrays import KernelArrays
from wattline.model.records import copied
from wattline.policies.state_records import ActionRecord

METER = np.dtype(
    [
        ("energy_j", "f8"),
        ("energy_above_j", "f8"),
        ("time_above_s", "f8"),
        ("peak_w", "f8"),
        ("start_s", "f8"),
        ("told_cap_w", "f8"),  # the cap as it was told, and what reservations take from it now
        ("held_w", "f8"),
        ("next_cycle_s", "f8"),
        ("arrived", "i8"),  # rows of the job table that have been submitted
        ("done", "i8"),
        ("timers", "i8"),
        # Booked by the decision and not carried out yet: a row of the log must not count them.
        ("pending_w", "f8"),
        ("pending_units", "i8"),
        ("pending_jobs", "i8"),
        ("rows", "i8"),  # of the event log
        ("spare_rows", "i8"),  # rows beyond the three that every job is sure to need
        ("spans", "i8"),
        ("undone", "i8"),  # actions that the scope of the policy cannot carry out
        ("decided", "i8"),  # entries of `decided` and `answers`: emptied before each decision
        ("answers", "i8"),
    ]
)

# The event log is kept in columns, so that the result can have them without a copy.
LOG = {
    "log_time_s": np.float64,
    "log_power_w": np.float64,
    "log_value": np.float64,
    "log_kind": np.int64,
    "log_job": np.int64,
    "log_busy": np.int64,
    "log_queued": np.int64,
}

SPAN = np.dtype([("job", "i4"), ("first", "i4"), ("count", "i4")])
ANSWER = np.dtype([("job", "i8"), ("rate", "f8"), ("power_w", "f8"), ("stretch", "f8")])

SPARE_ROWS = 4096
NEVER_FULL = 2**62


class Record(KernelArrays):
    """Arrays by column; `meter` has one record.

    `decided` keeps what the last decision asked for, and `answers` how the world answered otherwise
    than was expected. Both are empty where nobody wants to know, and so is `spans`.
    """

    FIELDS = ("meter", "spans", "decided", "answers", *LOG)
    meter: Any
    decided: Any
    answers: Any
    log_time_s: Any
    log_power_w: Any
    log_value: Any
    log_kind: Any
    log_job: Any
    log_busy: Any
    log_queued: Any
    spans: Any


def make_record(
    jobs: int, cap_steps: int, start_s: float, nodes: int, spare_rows: int = SPARE_ROWS
) -> Record:
    """An empty record with room for three rows of the log per job and the steps of a cap."""
    meter = np.zeros(1, METER).view(np.recarray)
    meter.start_s = start_s
    meter.told_cap_w = np.inf
    meter.next_cycle_s = np.inf
    meter.spare_rows = spare_rows
    rows = 3 * jobs + cap_steps + spare_rows
    return Record(
        meter=meter,
        decided=ActionRecord.table(0),
        answers=np.zeros(0, ANSWER).view(np.recarray),
        spans=np.zeros(2 * jobs + nodes + 1 if nodes else 0, SPAN).view(np.recarray),
        **{column: np.zeros(rows, dtype) for column, dtype in LOG.items()},
    )


def copied_record(record: Record, with_log: bool) -> Record:
    """A record of its own; where nobody reads the log, only the room for it is there again."""
    return Record(**{
        name: copied(getattr(record, name)) if with_log or name not in LOG
        else np.zeros_like(getattr(record, name)) for name in Record.FIELDS})


def unheard(record: Record) -> Record:
    """The same record without a list of what is decided: nobody reads it, or makes room in it."""
    record.meter[0].decided = record.meter[0].answers = 0
    return record.with_arrays(decided=ActionRecord.table(0),
                              answers=np.zeros(0, ANSWER).view(np.recarray))


def unplaced(record: Record) -> Record:
    """The same record without a list of where jobs were placed, in which nobody makes room."""
    record.meter[0].spans = 0
    return record.with_arrays(spans=record.spans[:0])


def unlogged(record: Record) -> Record:
    """The same record without a log of events, which then never is full."""
    record.meter[0].rows = 0
    record.meter[0].spare_rows = NEVER_FULL
    return record.with_arrays(**{column: getattr(record, column)[:0] for column in LOG})


def grow_log(record: Record) -> Record:
    """The same record with twice the room for events that are not sure to happen."""
    room = len(record.log_time_s)
    record.meter[0].spare_rows += room
    columns = {
        column: np.concatenate([getattr(record, column), np.zeros(room, dtype)])
        for column, dtype in LOG.items()
    }
    return record.with_arrays(**columns)


def grow_spans(record: Record) -> Record:
    room = np.zeros(len(record.spans), SPAN)
    spans = np.concatenate([record.spans, room]).view(np.recarray)
    return record.with_arrays(spans=spans)
