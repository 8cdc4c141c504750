"""The control desk: what a regulation policy knows between two control cycles.

It holds the job types as the policy believes them to be, the contract hour by hour, the signal
cycle by cycle, and the books that the policies keep: how many jobs of each type run and wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from wattline.policies.memory import Memory

TYPE = np.dtype(
    [
        # what a type is; powers are of one server
        ("servers", "i8"),
        ("time_s_min", "f8"),
        ("time_s_max", "f8"),
        ("power_w_max", "f8"),
        ("power_w_min", "f8"),
        ("threshold", "f8"),
        ("weight", "f8"),
        # how many of its jobs are where
        ("running", "i8"),
        ("waiting", "i8"),
        ("first", "i8"),  # place in the queue of its first waiting job
        ("starts", "i8"),  # to start in this cycle
        ("resumes", "i8"),  # to go on in this cycle
        ("pauses", "i8"),  # to be paused in this cycle
        # while servers are shared out
        ("share", "f8"),  # servers that it should have
        ("settled", "i8"),
    ]
)

CONTROL = np.dtype(
    [
        ("start_s", "f8"),
        ("end_s", "f8"),
        ("cycle_s", "f8"),
        ("hour_s", "f8"),  # length of a bid
        ("hour_0_s", "f8"),  # when the first bid's hour began, at the start or before it
        ("below", "f8"),  # 1: targets may lie below the average of a bid, 0: they never do
        ("above", "f8"),  # and above it
        ("standby", "i8"),  # number of the type that stands by, or -1
        ("preempt", "i8"),
        ("feedback", "i8"),  # 1: correct the model by the measured power and progress
        ("adaptive", "i8"),  # 1: bid anew every hour from the jobs that run and wait
        ("reserve", "i8"),  # 1: servers are kept for a wide job that is due
        ("sleep", "i8"),  # 1: servers that cannot be fed are switched off
        ("highest_w", "f8"),  # the highest target of this hour, infinite for none
        ("start_share", "f8"),  # of the power range, at which starts are planned
        ("own_times", "i8"),  # 1: the shortest time is known job by job, not only by type
        ("margin", "f8"),  # share of a threshold from which on a job is close to violation
        # the state of the control
        ("target_w", "f8"),
        ("limit_w", "f8"),  # the power not to exceed in this cycle, infinite for none
        ("ratio", "f8"),  # cap ratio of the last cycle
        ("bias_w", "f8"),  # measured power less the power of the model
        ("known", "i8"),  # running jobs at the start of the cycle
        ("paused", "i8"),  # jobs on the list of paused ones
        ("resuming", "i8"),  # of these, how many at the list's end are to go on
        ("held", "f8"),  # nearness to violation of the paused job that waits, or -inf
    ]
)

TRACE = np.dtype([("target_w", "f8"), ("ratio", "f8"), ("waiting", "i8"), ("standby", "i8")])


class Desk(Memory):
    """Record arrays; `control` has one record.

    `level` and `limit` have a value per cycle (signal, and a power not to exceed); `average`,
    `reserve` and `start_shares` one per hour, `weights` one per hour and type. `paused` is a list
    of jobs; `mark` says of each what this cycle means to do with it.
    """

    FIELDS = (
        "types", "control", "level", "limit", "average", "reserve", "weights", "start_shares",
        "paused", "mark", "trace",
    )
    PER_JOB: ClassVar[Mapping[str, str]] = {"paused": "i8", "mark": "f8"}
    LISTS = ("paused",)
    types: Any
    control: Any
    level: Any
    limit: Any
    average: Any
    reserve: Any
    weights: Any
    start_shares: Any
    paused: Any
    mark: Any
    trace: Any

    def cycles(self) -> int:
        return len(self.level)

    def forget(self, job: int) -> None:
        listed = self.paused[: self.control[0].paused]
        kept = listed[listed != job]
        self.paused[: len(kept)] = kept
        self.control[0].paused = len(kept)


def records(count: int, dtype: np.dtype[Any]) -> Any:
    return np.zeros(count, dtype=dtype).view(np.recarray)
