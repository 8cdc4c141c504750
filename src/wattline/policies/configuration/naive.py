"""Naive: the fastest configuration under the job's fair share of the power, and wait for it.

Where none draws so little, the job waits for a higher cap, or may have the configuration that draws
least (`above_share`).
"""

from __future__ import annotations

from typing import Any

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import kernel
from wattline.policies.configuration.offers import (
    beside_idle_w,
    fastest_for,
    job_bound_w,
    most_possible_w,
    thriftiest_for,
)
from wattline.policies.state import State


@kernel
def fair_bound_w(st: State, offers: Any, job: int, cap_w: float) -> float:
    """The fair share of a bound, as far as the machine can give it.

    A job may hold so much, so there is no slack in it: powers are compared with a little more.
    """
    return min(job_bound_w(st, offers, job, cap_w), beside_idle_w(st, cap_w))


@kernel
def fair_row(
    st: State, offers: Any, job: int, cap_w: float, units: int, least_power: int
) -> int:
    """The fastest configuration of at most these units under the fair share of a bound, or -1.

    With `least_power`, where none draws so little, the one that draws least.
    """
    limit_w = fair_bound_w(st, offers, job, cap_w) * (1.0 + CAP_SLACK)
    row = fastest_for(offers, job, units, limit_w)
    if row < 0 and least_power:
        row = thriftiest_for(offers, job, units, most_possible_w(st, cap_w))
    return int(row)
