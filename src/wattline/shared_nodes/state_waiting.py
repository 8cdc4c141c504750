"""Records of what jobs wait for beside nodes: other jobs, and reservations."""

from __future__ import annotations

from wattline.model.records import Record


class Wait(Record):
    """A condition that a job waits for; the jobs it is about stand in `awaited`."""

    job: int
    kind: int
    delay_s: float
    first: int
    count: int
    state: int
    due_s: float  # a timer is set for then


class Resv(Record):
    """Nodes that are kept for some jobs: see reserving.py."""

    start_s: float
    end_s: float
    kill_s: float
    maint: int
    overlap: int
    failed: int  # the last main pass in which one of its jobs could not start
