"""Ended jobs as runs that claims learn from: whoever keeps them, only those that were completed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from wattline.physics.claims.book import Measured
from wattline.physics.claims.claim import ClaimSetting

COMPLETED = "COMPLETED"
UNEVEN = -1
"""Stands for the GPUs per node of a job whose nodes have different numbers of them."""


@dataclass(frozen=True)
class Ended:
    """A job that is over, as a ledger knows it."""

    run_id: str
    """Tells it from all others, wherever it is read again."""
    application: str
    node_class: str
    nodes: int
    time_s: float
    energy_j: float
    state: str
    quality: str = ""
    """How sure the joules are, in the ledger's words."""
    coverage: float = 1.0
    """The share of its time of which the joules are known."""
    gpus: int = 0
    """Of each node, or `UNEVEN`."""
    gpu: str = ""
    """Their model, where the ledger knows it."""

    @property
    def setting(self) -> ClaimSetting:
        return ClaimSetting(nodes=self.nodes, gpus=self.gpus, gpu=self.gpu)


def measured(
    jobs: Iterable[Ended], least_coverage: float = 0.0
) -> tuple[list[Measured], dict[str, int]]:
    """Those that teach something; and by reason how many others were left out.

    A ledger knows nodes and GPUs, but not threads and caps: what is learnt is of jobs as they are.
    """
    found, left_out = [], Counter[str]()
    for job in jobs:
        reason = _useless(job, least_coverage)
        if reason:
            left_out[reason] += 1
            continue
        found.append(Measured(job.application, job.node_class, job.setting,
                              job.time_s, job.energy_j, job.run_id))
    return found, dict(left_out)


def _useless(job: Ended, least_coverage: float) -> str:
    if job.state != COMPLETED:
        return f"state {job.state}"
    if not job.application:
        return "no application"
    if not job.node_class:
        return "no node class"
    if not (math.isfinite(job.energy_j) and job.energy_j > 0 and job.time_s > 0 and job.nodes > 0):
        return "no joules or no time"
    if job.gpus == UNEVEN:
        return "nodes with different numbers of GPUs"
    if job.coverage < least_coverage:
        return f"joules of less than {least_coverage:.0%} of their time"
    return ""
