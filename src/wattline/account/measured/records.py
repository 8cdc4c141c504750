"""What is known of measured jobs, before it is written into the ledger and after it is read.

A life is one stay of a job on the machine: a job that was requeued has several. It is known by its
cluster, its label as Slurm prints it (`4711`, `300_1`, `12+0`) and the second at which it began,
which is all that every source has: raw numbers and restart counts are missing from many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from wattline.model.signal import FloatArray

RUNAWAY = "RUNAWAY"
"""The state of a life that ended, by the controller or by the next life of its job, and that
accounting never ended; `sacctmgr show runawayjobs` calls such jobs so."""


class Source(StrEnum):
    """Where joules come from, the one that is believed first coming first."""

    SERIES = "series"
    """Power series or counters of nodes, divided among the jobs that held them."""
    SLURM_JOB = "slurm"
    """What Slurm says of the whole job (`AllocTRES energy=`)."""
    SLURM_STEPS = "slurm steps"
    """Per node, what the job's steps cover together."""


@dataclass(frozen=True)
class LifeKey:
    """Which life of which job."""

    cluster: str
    label: str
    start_s: int
    """Unix time."""


@dataclass(frozen=True)
class Life:
    """One stay of a job on the machine, as the resource manager tells it."""

    key: LifeKey
    job_id: int | None = None
    """The raw number, where it is known."""
    user: str = ""
    account: str = ""
    partition: str = ""
    application: str = ""
    node_class: str = ""
    state: str = ""
    """As Slurm has it: COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL, RUNNING, REQUEUED..."""
    nodes: int = 0
    cores: int = 0
    node_list: str = ""
    submit_s: float = float("nan")
    end_s: float = float("nan")
    """NaN while it runs."""
    limit_s: float = float("nan")
    cpu_s: float = float("nan")
    """Processor time that it used."""
    suspended_s: float = 0.0
    energy_j: float = float("nan")
    """What Slurm says of the whole job."""
    alloc_tres: str = ""
    frequency_hz: float = float("nan")
    asked_frequency: str = ""
    seen_s: float = float("nan")
    """Until when this was told, of a job that runs: the latest time of the source."""
    other_start_s: int | None = None
    """The other time that its start may mean, where a clock was set back and showed it twice."""
    guessed: bool = False
    """Whether nothing told which of the two it was; neither is kept."""


@dataclass(frozen=True)
class StepSeen:
    """A step as the resource manager tells it; `batch`, `extern`, `interactive` or a number."""

    cluster: str
    label: str
    step: str
    start_s: int
    end_s: float = float("nan")
    node_list: str = ""
    energy_j: float = float("nan")
    frequency_hz: float = float("nan")
    cpu_s: float = float("nan")
    state: str = ""
    """Its own: a step may be cancelled in a job whose node failed."""
    other_start_s: int | None = None
    guessed: bool = False
    """As of a life."""


@dataclass(frozen=True)
class Stay:
    """From when to when a life held a node, to the moment: Slurm's own times are whole seconds."""

    key: LifeKey
    node: str
    begin_s: float = float("nan")
    end_s: float = float("nan")
    """NaN where nobody marked it: then Slurm's time counts."""
    told_s: float = float("nan")
    """When Slurm says that the life gave the node back and went on; NaN where it did not."""


class Kind(StrEnum):
    """What the values of a series are."""

    WATTS = "watts"
    JOULES = "joules"
    """A counter since some beginning."""


@dataclass(frozen=True, eq=False)
class Series:
    """What one meter told: of a node, a GPU of it (`n01/gpu0`), a rack, a PDU or a feed."""

    cluster: str
    entity: str
    kind: Kind
    time_s: FloatArray
    value: FloatArray
    """NaN where the source has an empty sample."""
    meter: str = ""
    """Which of several meters of the entity: `ipmi`, `rapl`..."""
    interval_s: float = float("nan")
    """How long a sample stands, where the source says it."""


@dataclass(frozen=True)
class Found:
    """What an importer read of one file or server: counted once, whatever is done with it."""

    source: str
    lives: tuple[Life, ...] = ()
    steps: tuple[StepSeen, ...] = ()
    series: tuple[Series, ...] = ()
    stays: tuple[Stay, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    """How many records were left out, by reason."""
    mended: dict[str, int] = field(default_factory=dict)
    job: str = ""
    """Of which job the series are, where the source says that: a profile is of one."""
    remarks: tuple[str, ...] = ()
