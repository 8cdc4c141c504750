"""What the simulator keeps beside the scheduler's state: meters, the event log, caps to come."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.books import Books

METER = np.dtype(
    [
        ("energy_j", "f8"),
        ("energy_above_j", "f8"),
        ("time_above_s", "f8"),
        ("peak_w", "f8"),
        ("start_s", "f8"),
        ("next_cycle_s", "f8"),
        ("arrived", "i8"),  # rows of the job table that have been submitted
        ("done", "i8"),
        ("heap", "i8"),  # jobs in the heap of ends
        ("timers", "i8"),
        ("caps", "i8"),  # steps of the cap that have been taken
        # Booked by the decision and not carried out yet: a row of the log must not count them.
        ("pending_w", "f8"),
        ("pending_units", "i8"),
        ("pending_jobs", "i8"),
        ("rows", "i8"),  # of the event log
        ("spare_rows", "i8"),  # rows beyond the three that every job is sure to need
        ("spans", "i8"),
        ("undone", "i8"),  # actions that the scope of the policy cannot carry out
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

CAP = np.dtype([("time_s", "f8"), ("cap_w", "f8")])
SPAN = np.dtype([("job", "i4"), ("first", "i4"), ("count", "i4")])

SPARE_ROWS = 4096


class World(Books):
    """Record arrays; `meter` has one record."""

    FIELDS = ("meter", "caps", "spans", *LOG)
    meter: Any
    log_time_s: Any
    log_power_w: Any
    log_value: Any
    log_kind: Any
    log_job: Any
    log_busy: Any
    log_queued: Any
    caps: Any
    spans: Any


def make_world(
    jobs: int, caps: Any, first_s: float, nodes: int, spare_rows: int = SPARE_ROWS
) -> World:
    """An empty log with room for three rows a job and the steps of the cap."""
    meter = np.zeros(1, METER).view(np.recarray)
    meter.start_s = first_s
    meter.spare_rows = spare_rows
    rows = 3 * jobs + len(caps) + spare_rows
    return World(
        meter=meter,
        caps=caps,
        spans=np.zeros(2 * jobs + nodes + 1 if nodes else 0, SPAN).view(np.recarray),
        **{column: np.zeros(rows, dtype) for column, dtype in LOG.items()},
    )


def grow_log(world: World) -> World:
    """The same world with twice the room for events that are not sure to happen."""
    room = len(world.log_time_s)
    world.meter[0].spare_rows += room
    columns = {
        column: np.concatenate([getattr(world, column), np.zeros(room, dtype)])
        for column, dtype in LOG.items()
    }
    return world.with_arrays(**columns)


def grow_spans(world: World) -> World:
    room = np.zeros(len(world.spans), SPAN)
    spans = np.concatenate([world.spans, room]).view(np.recarray)
    return world.with_arrays(spans=spans)
