"""What a simulation leaves behind: when each job ran, what happened when, and the joules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine
from wattline.model.promises import NONE, Promises
from wattline.model.reservation import Reservation
from wattline.model.signal import FloatArray, Signal
from wattline.model.slurm_record import SlurmRecord
from wattline.model.units import format_energy, format_power


class EventKind(IntEnum):
    """What happened. The number is also the order of events of one instant."""

    END = 0
    """A job finished, or was killed at the end of its requested time."""
    PAUSE = 1
    NODE = 2
    """A node finished booting or shutting down, or began to."""
    CAP = 3
    """The power cap took another value."""
    RESERVATION = 4
    SUBMIT = 5
    CONTROL = 6
    """A control cycle of a regulation policy."""
    RATE = 7
    """A running job changed its speed or its power."""
    START = 8
    RESUME = 9
    WAKE = 10
    """A time at which the policy asked to be called again."""
    REQUEUE = 11
    """A running job lost its nodes and waits again; in an instant it comes with the pauses."""


class Outcome(IntEnum):
    """How a job ended."""

    NOT_RUN = 0
    COMPLETED = 1
    KILLED = 2
    """It reached its requested time under the rule `overrun = kill`."""
    NODE_FAILED = 3
    """A node failed under it while it ran, and it was not run again."""
    PREEMPTED = 4
    """It gave way to another while it ran, and was not run again."""


LOST = (Outcome.NODE_FAILED, Outcome.PREEMPTED)
"""Jobs that were stopped before their work was done: how long they took says nothing."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """One row per job, in the order of the job table. Times are NaN for jobs that never ran."""

    start_s: FloatArray
    end_s: FloatArray
    nodes: IntArray
    """Units given: nodes, or cores at core granularity."""
    energy_j: FloatArray
    """Everything that the job's nodes drew while it held them, their idle power included."""
    outcome: IntArray
    configuration: IntArray
    """Which of its configurations the job ran in; 0 is the requested one."""


@dataclass(frozen=True, eq=False)
class EventLog:
    """One row per event. Power, busy units and queue length are those after the event."""

    time_s: FloatArray
    kind: IntArray
    job: IntArray
    """Row of the job table, or -1."""
    power_w: FloatArray
    """Power of the whole machine."""
    busy: IntArray
    """Units in use."""
    queued: IntArray
    """Jobs waiting."""
    value: FloatArray
    """START, RESUME, RATE of a job: its power in W. RATE of all jobs (job -1): progress a second,
    or 0 where many jobs changed their speed, each to its own. PAUSE, END: joules of the job so
    far. CAP: the cap in W. SUBMIT: 1 for a job that was refused. NODE: nodes that went on
    (positive) or off (negative)."""

    def __len__(self) -> int:
        return len(self.time_s)


@dataclass(frozen=True, eq=False)
class Placement:
    """Which units each job held, as runs of neighbouring units: one row per run."""

    job: IntArray
    first: IntArray
    count: IntArray


@dataclass(frozen=True, eq=False)
class NodeStays:
    """What jobs that share nodes had on each node, from when to when: one row per job, node and
    run, and per stretch of a run that was suspended."""

    job: IntArray
    node: IntArray
    cpus: IntArray
    watts_w: FloatArray
    """Added by the job to what the idle node draws."""
    from_s: FloatArray
    to_s: FloatArray
    memory_mb: IntArray | None = None
    """None, as `given_s`, in runs of earlier versions."""
    given_s: FloatArray | None = None
    """Since when the job held the node, which may have booted first."""


@dataclass(frozen=True, eq=False)
class PowerBound:
    """Watts that a part of the machine (a rack, a distribution unit, the site) must not exceed."""

    entity: str
    limit_w: float
    idle_w: float
    """What it draws with all its nodes idle."""
    nodes: IntArray
    share: FloatArray | None = None
    """Of each watt of each of these nodes the part that counts; None for all of it."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The result of one simulation.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> run = wl.simulate(trace, machine=machine)
    >>> isinstance(run, wl.Run), run.power_w_peak <= 32 * 300
    (True, True)
    """

    jobs: JobTable
    schedule: Schedule
    events: EventLog
    machine: Machine
    units: int
    """Nodes, or cores at core granularity."""
    start_s: float
    """Time of the first event (the first submission)."""
    end_s: float
    """Time of the last event."""
    energy_j: float
    """Of the whole machine from `start_s` to `end_s`, idle power included."""
    class_energy_j: Mapping[str, float]
    """The same by node class."""
    time_above_cap_s: float
    energy_above_cap_j: float
    power_w_peak: float
    cap_w: Signal | None = None
    placement: Placement | None = None
    engine_s: float = 0.0
    """Wall-clock seconds in the engine alone."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """The scenario as resolved, in the form of its TOML file."""
    notes: Mapping[str, float] = field(default_factory=dict)
    """Figures that a policy reports of itself, by name with the unit last."""
    assumed: tuple[str, ...] = ()
    """What the figures rest on and nobody said, a sentence each: powers of nodes, cores of a node
    by the log's header, jobs that were dropped."""
    remarks: tuple[str, ...] = ()
    """All that whoever reads the figures must know, a sentence each: what was cleaned in the log,
    jobs that never ran, settings without effect, a budget that was not kept, and `assumed`."""
    budget: Mapping[str, Any] = field(default_factory=dict)
    """Under an energy budget: what each period drew, those that drew more, with the jobs that did
    it, and the jobs that no period has room for."""
    configurations: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """What the configurations of `schedule` are, number 1 first: a column for each property."""
    memories: Mapping[str, Any] = field(default_factory=dict)
    """What the policies remembered at the end, by where in the composition; not kept in folders."""
    bounds: tuple[PowerBound, ...] = ()
    """Bounds below the cap that the placement had to keep."""
    node_stays: NodeStays | None = None
    """Where jobs share nodes: all that they had on them."""
    slurm: SlurmRecord | None = None
    """Of jobs that share nodes: the site as it was read, what they asked for, what became of it."""
    node_bounds: tuple[PowerBound, ...] = ()
    """Where jobs share nodes: what `bounds` are elsewhere."""
    reservations: tuple[Reservation, ...] = ()
    """Units and watts that were kept free of jobs, from when for how long."""
    promises: Promises = NONE
    set_aside: tuple[int, ...] = ()
    """Rows of jobs that waited beside the queue at the end, for a cap that has room for them; not
    kept in folders."""
    policy_powers: bool = False
    """Whether jobs draw what a policy in Python says, whatever their nodes are made for."""

    @property
    def name(self) -> str:
        """What its scenario is called."""
        return str(self.scenario.get("name", "run"))

    def __repr__(self) -> str:
        count = len(self.jobs)
        return (f"{type(self).__name__}({self.name!r}: {int(self.ran.sum()):,} of {count:,} "
                f"job{'' if count == 1 else 's'} ran on {self.machine.node_count:,} nodes; "
                f"{format_energy(self.energy_j)}, peak {format_power(self.power_w_peak)})")

    @property
    def watched(self) -> bool:
        """Whether the cap is only measured against: nothing was to keep it."""
        power = self.scenario.get("power")
        return isinstance(power, Mapping) and power.get("watch_cap") is not None

    @property
    def cap_counts(self) -> str:
        """What the cap limits: the machine, or its running jobs only (`jobs`)."""
        power = self.scenario.get("power")
        return str(power.get("cap_counts", "machine")) if isinstance(power, Mapping) else "machine"

    @property
    def power_w_capped(self) -> FloatArray:
        """What the cap is held against, after each event: the machine's power, or its jobs'."""
        if self.cap_counts != "jobs":
            return self.events.power_w
        idle_w = self.machine.power_w_idle / self.units
        found: FloatArray = self.events.power_w - (self.units - self.events.busy) * idle_w
        return found

    @property
    def ran(self) -> npt.NDArray[np.bool_]:
        """Which jobs ran."""
        return np.asarray(self.schedule.outcome != Outcome.NOT_RUN, dtype=np.bool_)

    @property
    def refused(self) -> npt.NDArray[np.bool_]:
        """Which jobs were refused at their submission, because they could never start."""
        log = self.events
        rows = np.flatnonzero((log.kind == EventKind.SUBMIT) & (log.job >= 0))
        found = np.zeros(len(self.jobs), dtype=np.bool_)
        found[log.job[rows]] = log.value[rows] == 1.0
        return found
