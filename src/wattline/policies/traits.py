"""What whoever runs a policy has to know of it beyond its slots; policies say it themselves.

Each question has an answer that holds for a policy that says nothing; another one is registered for
its type, beside the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from types import MappingProxyType
from typing import Any, NamedTuple

from wattline.model.jobs import JobTable
from wattline.model.promises import AccountShares, QueueRule
from wattline.model.signal import FloatArray
from wattline.policies.contract import (
    AdmissionPolicy,
    BackfillPolicy,
    Composition,
    ConfigurationPolicy,
    OrderPolicy,
    PlacementPolicy,
    RegulationPolicy,
)


class JobLevels(NamedTuple):
    """Speeds that jobs can be slowed down to one by one, from the slowest to the fastest."""

    speed: FloatArray
    dynamic: FloatArray
    """Power above idle, relative to full speed."""

    def same(self, other: JobLevels | None) -> bool:
        """Whether a job may stay at its level when the other ladder takes over."""
        return other is not None and all(
            list(mine) == list(theirs) for mine, theirs in zip(self, other, strict=True))

    @property
    def full(self) -> int:
        """The level of full speed, from which jobs can be slowed down; -1 where there is none."""
        fast = len(self.speed) > 0 and self.speed[-1] == 1.0 and self.dynamic[-1] == 1.0
        return len(self.speed) - 1 if fast else -1


@singledispatch
def chooses_nodes(placement: PlacementPolicy) -> bool:
    """Whether jobs get certain nodes; otherwise units are only counted."""
    return True


@singledispatch
def routers_read(placement: PlacementPolicy) -> int:
    """Of how many routers it reads the counters of stalls."""
    return 0


@singledispatch
def steers_all(admission: AdmissionPolicy) -> bool:
    """Whether it slows all jobs together, and speeds them up again by itself."""
    return False


@singledispatch
def job_levels(admission: AdmissionPolicy) -> JobLevels | None:
    """The levels that it slows single jobs down to; None where it has none."""
    return None


@singledispatch
def regulates(regulation: RegulationPolicy) -> bool:
    """Whether it caps running jobs, and goes by the work that they declare and report."""
    return True


@singledispatch
def knows_run_times(configuration: ConfigurationPolicy) -> bool:
    """Say whether it decides by how long jobs run by their log, which no machine could tell it."""
    return False


class Key(NamedTuple):
    """The name and the parameters of the key by which jobs stand in the queue."""

    name: str
    terms: Mapping[str, float] = MappingProxyType({})


@singledispatch
def queue_order(order: OrderPolicy) -> Key | None:
    """Return the key of an order; None where nobody can work it out from a finished run."""
    return None


@singledispatch
def account_shares(
    order: OrderPolicy, jobs: JobTable, logged: Mapping[str, Any]
) -> AccountShares | None:
    """Return the account tree by whose energy an order sorts; None for one that knows none."""
    return None


@singledispatch
def queue_keeps(backfill: BackfillPolicy) -> str:
    """Return the promise of a backfilling to jobs that wait (`model.promises`); empty for none."""
    return ""


@singledispatch
def power_wait(admission: AdmissionPolicy) -> str | None:
    """Return the fate of a job that lacks watts (`QueueRule.power`); None where no rule says it."""
    return None


@singledispatch
def common_levels(admission: AdmissionPolicy) -> tuple[float, float]:
    """Return the least power and the highest speed at which all jobs run together, relative to full
    speed (`QueueRule`)."""
    return 1.0, 1.0


@singledispatch
def never_slows(admission: AdmissionPolicy) -> bool:
    """Say whether all jobs run at full speed."""
    return False


@singledispatch
def takes_any_units(placement: PlacementPolicy) -> bool:
    """Say whether a job that fits in the free units always gets some of them."""
    return False


@singledispatch
def keeps_request(configuration: ConfigurationPolicy) -> bool:
    """Say whether jobs run on the units and for the time that they asked for."""
    return False


def keeps_full_speed(policy: Composition) -> bool:
    """Say whether jobs run as they asked for, at full speed: they draw the power known of them."""
    return (never_slows(policy.admission) and not regulates(policy.regulation)
            and keeps_request(policy.configuration))


def queue_rule(policy: Composition) -> QueueRule | None:
    """Return the promise of a composition to jobs that wait; None where its parts make none."""
    order, power = queue_order(policy.order), power_wait(policy.admission)
    keeps = queue_keeps(policy.backfill)
    if (order is None or power is None or not keeps or regulates(policy.regulation)
            or not takes_any_units(policy.placement)
            or not keeps_request(policy.configuration)):
        return None
    least_power, fastest = common_levels(policy.admission)
    return QueueRule(order.name, dict(order.terms), keeps, power, least_power, fastest)
