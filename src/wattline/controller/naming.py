"""How the books name lives of jobs: `12`; queued again `12.1`; `12~1` where a name is taken."""

from __future__ import annotations

from wattline.live.slurm.reading import SlurmJob

AGAIN = "~"
"""Before the count in the name of a job that the books have had, and Slurm after them."""


def key(job: SlurmJob) -> str:
    """How a life of a job is named at first."""
    return f"{job.label}.{job.restarts}" if job.restarts else job.label


def label_of(name: str) -> str:
    """How Slurm knows the job of a name."""
    return name.partition(AGAIN)[0].partition(".")[0]


def restarts_of(name: str) -> int:
    """Which life of its job a name is of, counted from 0."""
    return int(name.partition(AGAIN)[0].partition(".")[2] or 0)
