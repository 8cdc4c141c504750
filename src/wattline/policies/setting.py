"""What a policy is made for: the machine, its jobs, its cap, and what the other axes chose.

Rooms above this one have readers that some policies need (tariffs, accounts, tables in a database,
networks). Whoever makes the setting hands them in as an `Outside`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.physics.power_scope import NodePower
from wattline.physics.powercap import PowerCap

if TYPE_CHECKING:
    from wattline.physics.claims import ClaimBook
    from wattline.physics.configurations import ConfigurationTable
    from wattline.policies.configuration.claimed import Claimed
    from wattline.policies.configuration.claimed_setup import Options
    from wattline.policies.configuration.offers import Offers
    from wattline.policies.declaration import Declaration
    from wattline.policies.placement.network.fabric import Fabric


@dataclass(frozen=True)
class PowerFigures:
    """How processors answer to frequency, and what policies take that are told nothing else."""

    levels: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    """Relative frequencies, from slow to fast."""
    alpha: float = 2.0
    beta: float = 0.5
    core_share: float = 0.65
    latency_s: float = 0.0
    wait_s: float = 30_000.0
    wait_slots: int = 10
    jobs_only: bool = False
    """Whether the cap counts running jobs and leaves idle units out."""


class Outside:
    """Readers of the rooms above; here all of them say that there is none."""

    def tariff(self, file: str, start: str) -> Signal:
        """Prices or intensities over time, from the first submission on: at the date `start`, or
        without it by the log's own."""
        raise _missing("tariffs")

    def shares(self, file: str, users: Sequence[str]) -> Any:
        """The tree of accounts in a file, or without one all users with the same share."""
        raise _missing("shares")

    def used(self, store: str, half_life_s: float) -> Mapping[str, float]:
        """Joules that users drew by the measured ledger of a store, faded up to its end."""
        raise _missing("ledgers")

    def configurations(self, store: str) -> Mapping[str, ConfigurationTable]:
        """Tables of configurations by application, from a database."""
        raise _missing("stores of configurations")

    def claims(self, store: str) -> ClaimBook:
        """What applications are known to need, from a database."""
        raise _missing("stores of claims")

    def fabric(self, placement: str) -> Fabric:
        """The interconnect, checked to have what the placement of this name needs."""
        raise _missing("networks")


def _missing(what: str) -> InputError:
    return InputError(f"nothing here reads {what}")


@dataclass(frozen=True)
class Chosen:
    """A policy, and the parameters that it is given."""

    declaration: Declaration
    given: Any
    """Of the declaration's type of parameters."""

    @property
    def name(self) -> str:
        return self.declaration.name


@dataclass
class Made:
    """What one axis made and somebody else takes too."""

    bounds: tuple[PowerBound, ...] = ()
    """What parts of the machine must not exceed."""
    assumed: tuple[str, ...] = ()
    """What the policies took for granted that nobody said: a sentence each."""
    claims: tuple[Claimed, Options] | None = None
    """How claims choose, which placement shares with configuration; and what is true of them."""
    tables: Mapping[str, ConfigurationTable] | None = None
    """The configurations that jobs choose from, by application."""
    placeable: Mapping[str, Any] = field(default_factory=dict)
    """Which of those find nodes, where the placement has bounds."""
    offers: Offers | None = None
    """The same, laid out for kernels, with what jobs hold."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What a policy is made for."""

    machine: Machine
    jobs: JobTable
    granularity: str = "node"
    cap_w: Signal | None = None
    cap_plan: PowerCap = field(default_factory=PowerCap)
    """Changes and reservations of watts, where the cap is planned."""
    power: PowerFigures = field(default_factory=PowerFigures)
    node_power: NodePower = field(default_factory=NodePower)
    """By what the watts of configurations are turned into those of the cap."""
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    """What was chosen along every axis."""
    logged: dict[str, Any] = field(default_factory=dict)
    """Further columns of the log, one value per job."""
    outside: Outside = field(default_factory=Outside)
    made: Made = field(default_factory=Made)
