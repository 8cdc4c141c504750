"""Records of what happens when: timers, times for which jobs are suspended, nodes they left."""

from __future__ import annotations

from wattline.model.records import Record


class Timer(Record):
    time_s: float
    kind: int
    job: int
    generation: int


class Gap(Record):
    """A job was suspended (see suspending.py), or lost its run and was requeued."""

    job: int
    start_s: float  # of the run
    from_s: float
    to_s: float  # NaN while a suspension lasts, and of a run that was lost
    energy_j: float  # of the job up to then
    is_lost: int  # the run


class Stay(Record):
    """What a job had on one node until it left the node, to start again or to go on."""

    job: int
    node: int
    cpus: int
    memory: int
    watts: float  # added by the job; none while its nodes boot
    given_s: float  # since when it held the node, which may have booted first
    from_s: float
    to_s: float
