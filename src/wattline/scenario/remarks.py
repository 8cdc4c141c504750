"""Settings that have no effect together: allowed, and said, so that nobody waits for one."""

from __future__ import annotations

from wattline.policies.backfill.conservative import Conservative
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.scenario.build import Plan


def remarks(plan: Plan) -> list[str]:
    """A line for each setting of the plan that changes nothing."""
    found = []
    policy = plan.policy
    if (
        isinstance(policy, Composition)
        and isinstance(policy.backfill, Conservative)
        and not isinstance(policy.order, Fcfs)
    ):
        found.append(
            "policy.order has no effect: under conservative backfilling every job gets its "
            "reservation when it arrives"
        )
    if plan.rules.cap_w is None and any(each.watts for each in plan.rules.reservations):
        found.append("reservations: watts have no effect without a power cap (power.cap)")
    return found
