"""What a policy sees and what it may ask for, as plain objects.

A policy written in Python is any object with `decide(view) -> iterable of actions`. It gets a
read-only view and returns actions; the caller carries them out. It has no clock and no input of its
own, so the same object serves whoever calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from wattline.model.machine import NodeState


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job that waits, or is paused."""

    job: int
    """Its number in the job table; actions name jobs by it."""
    units: int
    requested_s: float
    """At full speed; for a paused job what is left of it."""
    submit_s: float
    watts: float
    """The whole job at full speed."""
    user: int = -1
    application: int = -1


@dataclass(frozen=True, slots=True)
class RunningJob:
    job: int
    units: int
    start_s: float
    expected_s: float
    """End by its requested time; earlier than now for a job that runs on past it."""
    power_w: float
    speed: float
    watts: float
    user: int = -1
    application: int = -1


@dataclass(frozen=True, slots=True)
class View:
    """The machine at one instant. Jobs are in the order of submission.

    >>> import wattline as wl
    >>> view = wl.View(now_s=0.0, units=8, free=8, power_w=720.0, cap_w=2000.0, idle_w=90.0)
    >>> view.cap_w - view.power_w  # watts that jobs may still draw
    1280.0
    """

    now_s: float
    units: int
    free: int
    """Units on, idle and not reserved."""
    power_w: float
    cap_w: float
    """Infinite where there is no cap."""
    idle_w: float
    """One idle unit."""
    queue: tuple[QueuedJob, ...] = ()
    running: tuple[RunningJob, ...] = ()
    paused: tuple[QueuedJob, ...] = ()
    off: int = 0
    changing: int = 0
    """Units that boot or shut down."""
    speed: float = 1.0
    """The machine-wide level now: progress a second of a job that starts at it, ..."""
    power_factor: float = 1.0
    """... and its power relative to full speed."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """Values of the scenario's step functions now: prices, carbon intensity, regulation."""
    cap_w_max: float | None = None
    """The highest that the cap ever is; a job above it never starts. None: nobody knows."""
    windows: int = 0
    """Reservations of units that have not ended; what they hold now is not free."""

    @property
    def states(self) -> dict[NodeState, int]:
        """How many units are in each power state; those that are reserved and idle are idle."""
        active = sum(run.units for run in self.running)
        idle = self.units - self.off - self.changing - active
        return {NodeState.OFF: self.off, NodeState.CHANGING: self.changing, NodeState.IDLE: idle,
                NodeState.ACTIVE: active}


@dataclass(frozen=True, slots=True)
class Start:
    """Start a queued job, or resume a paused one.

    >>> import wattline as wl
    >>> wl.Start(3, speed=0.8, power_w=900.0)
    Start(job=3, speed=0.8, power_w=900.0)
    """

    job: int
    speed: float | None = None
    """None: at the machine-wide level, which is full speed unless a policy set another."""
    power_w: float | None = None
    """Its power at this speed; none: its watts at full speed, or at the level."""


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Let a running job go on at another speed and power.

    >>> import wattline as wl
    >>> wl.SetSpeed(3, speed=0.5, power_w=600.0)
    SetSpeed(job=3, speed=0.5, power_w=600.0)
    """

    job: int
    speed: float
    power_w: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Take a running job off its units; it keeps what it has done.

    >>> import wattline as wl
    >>> wl.Pause(3)
    Pause(job=3)
    """

    job: int


@dataclass(frozen=True, slots=True)
class PowerDown:
    """Switch idle units off.

    >>> import wattline as wl
    >>> wl.PowerDown(units=4)
    PowerDown(units=4)
    """

    units: int


@dataclass(frozen=True, slots=True)
class PowerUp:
    """Switch units on again; they boot first.

    >>> import wattline as wl
    >>> wl.PowerUp(units=4)
    PowerUp(units=4)
    """

    units: int


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Ask to be called at a time, whatever happens before.

    >>> import wattline as wl
    >>> wl.WakeAt(time_s=3600.0)
    WakeAt(time_s=3600.0)
    """

    time_s: float


@dataclass(frozen=True, slots=True)
class SetLevel:
    """Let all running jobs, and those to start, go at this speed and power relative to full.

    >>> import wattline as wl
    >>> wl.SetLevel(speed=0.8, power_factor=0.7)
    SetLevel(speed=0.8, power_factor=0.7, latency_s=0.0)
    """

    speed: float
    power_factor: float
    latency_s: float = 0.0
    """For so long the change stops every running job; one stopped already is stopped anew."""


Action = Start | SetSpeed | Pause | PowerDown | PowerUp | WakeAt | SetLevel


@runtime_checkable
class Policy(Protocol):
    """Write this method, and the engine will call it after the events of every instant."""

    def decide(self, view: View) -> Iterable[Action]: ...
