"""How a job ended: what its log says, in Slurm's words, and what a simulation adds to it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.run import Outcome, Run

STATES: Mapping[int, str] = {
    # The codes of SWF; 2 to 4 are parts of jobs that were stopped and went on later.
    0: "FAILED", 1: "COMPLETED", 2: "PREEMPTED", 3: "COMPLETED", 4: "FAILED", 5: "CANCELLED",
    # Ours, for what SWF calls failed and Slurm tells apart.
    6: "TIMEOUT", 7: "NODE_FAIL", 8: "OUT_OF_MEMORY", 9: "PREEMPTED", 10: "BOOT_FAIL",
    11: "DEADLINE", 12: "REVOKED", 13: "REQUEUED", 14: "RESIZING",
}
"""What the codes in the column `status` of a job table mean; a code below 0 says nothing."""
PARTS = (2, 3, 4)
"""Codes that SWF has and Slurm does not."""
FAILED_CODE, LAST_SWF_CODE = 0, 5

WORDS = (*dict.fromkeys(STATES.values()), "PENDING")

STOPPED: Mapping[Outcome, str] = {
    Outcome.KILLED: "TIMEOUT", Outcome.NODE_FAILED: "NODE_FAIL", Outcome.PREEMPTED: "PREEMPTED",
}
"""What Slurm calls it where a simulation ends a job."""


def run_states(run: Run) -> IntArray:
    """The state of each job of a simulation, as a place in `WORDS`.

    The simulation repeats the run times of the log, so a job ends as its log says; only where the
    simulation stopped it, that is how it ended. Where the log says nothing,
    it ran to its end. A job that never ran was refused (CANCELLED) or still waits (PENDING).
    """
    place = {word: number for number, word in enumerate(WORDS)}
    of_status = np.array([place[STATES[code]] for code in range(len(STATES))])
    status = run.jobs.status
    told = (status >= 0) & (status < len(STATES))
    found = np.where(told, of_status[np.where(told, status, 0)], place["COMPLETED"])
    for outcome, word in STOPPED.items():
        found = np.where(run.schedule.outcome == outcome, place[word], found)
    idle = np.where(run.refused, place["CANCELLED"], place["PENDING"])
    return np.where(run.ran, found, idle).astype(np.int64)
