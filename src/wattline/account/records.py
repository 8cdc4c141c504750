"""What the ledger keeps of a job: its times, its joules, and its power over time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wattline.account.nodes_held import NodeRuns
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.model.units import format_hosts

NOT_STARTED = "PENDING"
"""State of a job that still waits at the end."""


@dataclass(frozen=True, eq=False)
class StepRecord:
    """A stretch in which a job ran without interruption."""

    step_id: int
    start_s: float
    end_s: float
    energy_j: float
    power_w: Signal
    """Power of the step, all its nodes together, from `start_s` on."""


@dataclass(frozen=True, eq=False)
class JobRecord:
    """One job of a run."""

    job_id: int
    user: str
    account: str
    partition: str
    application: str
    node_class: str
    nodes: int
    """0 of a job that never ran: it used nothing."""
    cores: int
    submit_s: float
    start_s: float
    end_s: float
    limit_s: float
    state: str
    energy_j: float
    node_runs: NodeRuns = ()
    """Its nodes as runs of neighbours where placement is known; none where it is not."""
    frequency_hz: float = float("nan")
    asked_frequency: str = ""
    """What it allowed its cores, in kHz as Slurm has it: `1200000-2400000`; empty for any."""
    restart: int = 0
    """How often the job had been started before: each of its lives is a record of its own."""
    quality: str = "simulated"
    """How the joules were obtained."""
    steps: tuple[StepRecord, ...] = field(default=())

    def __post_init__(self) -> None:
        if (self.start_s > self.end_s or self.submit_s > self.start_s
                or not (np.isfinite(self.energy_j) and self.energy_j >= 0)):
            raise out_of_order(self.job_id, self.submit_s, self.start_s, self.end_s, self.energy_j)

    @property
    def node_list(self) -> str:
        """`n[1-3,7]`, or nothing where the nodes are not known."""
        return format_hosts("n", self.node_runs)

    @property
    def elapsed_s(self) -> float:
        return self.end_s - self.start_s


def out_of_order(
    job_id: int, submit_s: float, start_s: float, end_s: float, energy_j: float
) -> InputError:
    """What is wrong with a job whose times or joules cannot be."""
    if start_s > end_s or submit_s > start_s:
        return InputError(f"job {job_id}: submit, start and end are out of order")
    return InputError(f"job {job_id}: energy_j is {energy_j}, must be >= 0")
