"""Naive: the fastest configuration under the job's fair share of the power, and wait for it."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel
from wattline.physics.pareto import fastest_within
from wattline.policies.configuration.offers import job_bound_w, most_possible_w
from wattline.policies.state import State


@kernel
def fair_bound_w(st: State, offers: Any, job: int) -> float:
    """The fair share, as far as the machine can give it."""
    return min(job_bound_w(st, offers, job), most_possible_w(st))


@kernel
def fair_row(st: State, offers: Any, job: int) -> int:
    """The fastest configuration under the fair share, or -1."""
    bound_w = fair_bound_w(st, offers, job)
    return int(fastest_within(offers, offers.code[job], st.clock[0].units, bound_w))
