"""What a run's policy promised, so that whoever checks the run can hold it to that.

It says what was asked for, by the scenario and the log; nothing here comes from decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.signal import FloatArray


@dataclass(frozen=True, eq=False)
class EnergyPeriods:
    """Joules for each of several periods, one after the other."""

    energy_j: float
    edge_s: FloatArray
    """Where the periods of the run begin, and where the last one ends; later ones are alike."""
    carry: str = "forbid"
    """What holds of jobs that run on into a later period (`physics.budget_terms`)..."""
    unspent: str = "expire"
    """...and of joules that a period leaves."""
    slot_s: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Beginning of each slot after that of its period, for each planned period in turn; none where
    periods are not cut into slots."""
    slot_place: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Place of each slot among those of its period, the cheapest first."""
    slot_count: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Number of slots of each planned period; later periods are like the last."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Levels that cores have, lowest first, and what each job allows of them."""

    frequency_hz: FloatArray
    speed: FloatArray
    """Progress a second at each level, relative to full speed."""
    dynamic: FloatArray
    """Power above idle at each level, relative to full speed."""
    low_hz: FloatArray
    """By job, as it was asked for: it need not be a frequency that the cores have."""
    high_hz: FloatArray
    least_hz: float = 0.0
    """No job is slowed below this, unless it allows nothing higher."""

    def allowed(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and highest frequency of the cores that each job may run at."""
        steps = self.frequency_hz
        low = np.clip(self.low_hz, steps[0], steps[-1])
        high = np.clip(self.high_hz, low, steps[-1])
        inside = (steps >= low[:, None] * (1 - 1e-9)) & (steps <= high[:, None] * (1 + 1e-9))
        # Where no step lies in the range, the one nearest to its lower end is meant.
        nearest = np.argmin(np.abs(steps - low[:, None]), axis=1)
        inside[np.arange(len(low)), nearest] |= ~inside.any(axis=1)
        highest = np.where(inside, steps, -np.inf).max(axis=1, initial=-np.inf)
        lowest = np.where(inside, steps, np.inf).min(axis=1, initial=np.inf)
        above = steps[steps >= self.least_hz * (1 - 1e-9)]
        least = above[0] if above.size else steps[-1]
        return np.minimum(np.maximum(lowest, least), highest), highest


@dataclass(frozen=True, eq=False)
class PowerShares:
    """Power that each job may draw: weight x requested units / units of the machine, of the cap."""

    weight: FloatArray
    """By job; not a number where it has no share, since nobody measured its application."""
    least_w: FloatArray
    """By job: the least that it can draw, which it may where that is more than its share."""
    as_measured: bool = True
    """True where nodes draw what was measured; otherwise a job's configuration says what."""


NO_ACCOUNT = -1
"""Of a job whose user is in no account: what it draws counts for nobody, and its factor is 0."""


@dataclass(frozen=True, eq=False)
class AccountShares:
    """The account tree of an order by used energy, and the account of each job."""

    parent: IntArray
    """By account; -1 at the top."""
    share: FloatArray
    """By account, among those with the same parent."""
    used_j: FloatArray
    """By account, before the run."""
    account: IntArray
    """By job; `NO_ACCOUNT` for none."""


IN_ORDER, HEAD, ALL = "order", "head", "all"
"""No job starts before one that stands before it; the first that waits keeps its reservation; all
do."""
STOPS, PLANNED, BUDGET = "stops", "planned", "budget"
"""A job that lacks watts lets nobody pass; it gets a reservation in units and watts; the same under
an energy budget, where the next slot may have the watts and joules that this one lacks."""


@dataclass(frozen=True)
class QueueRule:
    """The rule by which jobs wait, and what each of them may count on."""

    order: str
    """The key by which they stand, as policies are called: fcfs, sjf, largest, wfp, multifactor,
    energy-share."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Weights and other parameters of the key."""
    keeps: str = IN_ORDER
    power: str = ""
    """Fate of a job that lacks watts; empty where power never keeps one from starting."""
    least_power: float = 1.0
    """Power of a job at the lowest of the levels to which all are slowed together, relative to full
    speed; 1 where they are not..."""
    fastest: float = 1.0
    """...and progress a second at the highest of them."""


@dataclass(frozen=True)
class Promises:
    """All of it; where a policy promised nothing, nothing is held against it."""

    keeps_cap: bool = False
    """No job starts, and none is sped up, where the machine then draws more than the cap; nor does
    the end of one take it there."""
    windows: tuple[tuple[float, float], ...] = ()
    """From when to when a lower cap is known beforehand: jobs that keep to the time they asked for
    keep it too."""
    budget: EnergyPeriods | None = None
    frequencies: Frequencies | None = None
    shares: PowerShares | None = None
    queue: QueueRule | None = None
    accounts: AccountShares | None = None
    """Of the order of the queue, where that goes by used energy."""
    user_share: FloatArray | None = None
    """By job: the share of its user, where the order of the queue weighs it."""
    full_speed: bool = False
    """Nothing slows jobs down, or runs them in another way than they asked for."""


NONE = Promises()
