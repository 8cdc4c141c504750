"""What happens to a machine, as the books are told it.

Events of one step carry the step's time. They are applied in the order of `ORDER`, and within one
kind in the order of jobs or as they were given; then the policy decides once. A job is named by a
key of the teller's own, a number or a text, the same in all events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = int | str


@dataclass(frozen=True, slots=True)
class Ended:
    """A running job is over, or one that is paused."""

    job: Key
    completed: bool = True
    """False: it was killed, failed, or its node did."""
    energy_j: float = float("nan")
    """Energy that it drew in all by its meters, in place of the expected one; NaN: as expected."""


@dataclass(frozen=True, slots=True)
class Started:
    """A job was seen to run: one that was asked to, or one that somebody else started."""

    job: Key
    nodes: tuple[int, ...] = ()
    """Where it runs, where nodes are chosen; needed for a start that nobody asked for."""


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A start that was asked for did not happen: the job waits again, at least `backoff_s`."""

    job: Key
    backoff_s: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NodesDown:
    """Units are out of order; jobs on them go on until they are said to have ended."""

    units: int = 0
    """How many, where units are only counted."""
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NodesUp:
    """Units are in order again."""

    units: int = 0
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReservationRemoved:
    """A reservation is withdrawn, or ends before its time."""

    name: str


@dataclass(frozen=True, slots=True)
class Reserved:
    """Units or watts are kept free from a time on, which may be now, for a duration."""

    name: str
    """By which it can be removed; another may have it again when this one is over."""
    start_s: float
    duration_s: float
    units: int = 0
    """Jobs are planned around them: none starts that would, by its request, run into them."""
    watts: float = 0.0
    """The cap is lower by so much while it lasts; policies that plan caps know it beforehand."""


@dataclass(frozen=True, slots=True)
class CapChanged:
    """From now on the machine may draw so much; reservations take from it. Infinite: no cap."""

    watts: float = float("inf")


@dataclass(frozen=True, slots=True)
class Measured:
    """Power as it was measured: of a job, or of the whole machine where none is named.

    What the machine draws beyond its jobs and idle units is a rest that admission counts; drawing
    less leaves none.
    """

    watts: float
    job: Key | None = None
    energy_j: float = float("nan")
    """Energy that the job has drawn so far by its meters, in place of the expected one."""


@dataclass(frozen=True, slots=True)
class Paced:
    """A job was seen to run at another speed or power than was expected."""

    job: Key
    rate: float
    power_w: float
    stretch: float = 1.0
    """Slowdown from outside."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """What the counters of stalls of some routers show."""

    stalls: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job arrives, with all that decisions need to know of it."""

    job: Key
    units: int
    requested_s: float
    watts: float = float("nan")
    """The whole job at full speed; without it, what its nodes draw."""
    procs: int = 0
    """What the job asked for as its log or resource manager counts it; 0: as many as units."""
    names: Mapping[str, str] = field(default_factory=dict)
    """User, group, queue, partition and application, as far as they are known."""
    codes: Mapping[str, int] = field(default_factory=dict)
    """Numbers for those names, where the teller has its own."""
    share: float = 0.0
    """The user's share, for orders that weigh it."""
    after: Key | None = None
    """A job that must have ended before, and for how long."""
    think_s: float = 0.0
    logged: Mapping[str, float] = field(default_factory=dict)
    """Further figures that a policy may ask for, such as `frequency_hz_min`."""
    work_s: float = float("inf")
    """Seconds at full speed, where the job declares them."""
    account: str = ""
    """Who pays for it: the group of a job log."""
    application: str = ""
    """What it runs: its type, for policies that know applications or types."""
    gres: Mapping[str, float] = field(default_factory=dict)
    """Generic resources that it asks for, such as `gpu`; a policy finds them as `gres/gpu`."""
    place: tuple[float, int] | None = None
    """Where a job comes back that the books had under another key: since when that one waited, and
    its turn (`Books.place`). It stands there in the queue, and not behind those that came since."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A job that has not started, or is paused, is withdrawn."""

    job: Key


@dataclass(frozen=True, slots=True)
class Changed:
    """A job asks for another time."""

    job: Key
    requested_s: float


Event = (Ended | Started | NotStarted | NodesDown | NodesUp | ReservationRemoved | Reserved
         | CapChanged | Measured | Paced | Stalled | Submitted | Cancelled | Changed)

ORDER: tuple[type, ...] = (
    Ended, Started, NotStarted, NodesDown, NodesUp, ReservationRemoved, Reserved, CapChanged,
    Measured, Paced, Stalled, Submitted, Cancelled, Changed,
)
"""In which events of one instant are applied; timers go off between reservations and caps."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An event that cannot be (or, without one, a step): it was not applied, and why."""

    event: Event | None
    reason: str
