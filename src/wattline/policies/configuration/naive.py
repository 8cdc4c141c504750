"""Naive: the fastest configuration under the job's fair share of the power, and wait for it."""

from __future__ import annotations

from typing import Any, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.physics.pareto import fastest_within
from wattline.policies.configuration.offers import (
    adopt,
    is_settled,
    job_bound_w,
    most_possible_w,
)
from wattline.policies.contract import Composition, configure, least_units
from wattline.policies.state import State


class Naive(NamedTuple):
    """Overprovision each job for itself."""

    offers: Any


@kernel
def fair_bound_w(st: State, offers: Any, job: int) -> float:
    """The fair share, as far as the machine can give it."""
    return min(job_bound_w(st, offers, job), most_possible_w(st))


@kernel
def fair_row(st: State, offers: Any, job: int) -> int:
    """The fastest configuration under the fair share, or -1."""
    bound_w = fair_bound_w(st, offers, job)
    return int(fastest_within(offers, offers.code[job], st.clock[0].units, bound_w))


@implement(configure, Naive)
@kernel
def _configure(st: State, configuration: Naive, policy: Composition, position: int) -> bool:
    job = st.queue[position].job
    if is_settled(st, job):
        return True
    row = fair_row(st, configuration.offers, job)
    if row < 0:
        return False
    adopt(st, configuration.offers, position, row)
    return True


@implement(least_units, Naive)
@kernel
def _least_units(st: State, configuration: Naive, job: int) -> int:
    row = fair_row(st, configuration.offers, job)
    return int(st.live[job].units if row < 0 else configuration.offers.row_nodes[row])
