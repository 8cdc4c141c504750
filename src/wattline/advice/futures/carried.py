"""What stays of a policy where another one takes over.

A candidate changes some of the axes. The parts along the others go on with what they remember:
whom they have set aside, what users have drawn, how far a budget is spent. Otherwise two orders
would be compared by what a power policy forgets.
"""

from __future__ import annotations

from wattline.model.fields import name_of
from wattline.policies.contract import Composition
from wattline.policies.memory import Memory, alike, memories
from wattline.scenario.build import Plan
from wattline.scenario.model import Scenario

_FIELDS = {"order": "order", "backfill": "backfill", "power": "admission",
           "configure": "configuration", "placement": "placement"}
"""Axes of a scenario, and of the policy that is made from it."""


def carried_over(before: Scenario, own: Plan, there: Composition) -> Composition:
    """The policy of a plan, with those parts as they are `there` that both scenarios have."""
    assert isinstance(own.policy, Composition)
    fresh = own.policy
    stay = {field for axis, field in _FIELDS.items()
            if getattr(before.policy, axis) == getattr(own.scenario.policy, axis)
            and alike(getattr(fresh, field), getattr(there, field))}
    if before.power != own.scenario.power:
        stay &= {"order"}  # the others may have been worked out from the cap
    for memory in memories(fresh).values():
        holders = {field for field in _FIELDS.values() if _has(getattr(fresh, field), memory)}
        if not holders <= stay:  # what two axes share is of both or of none
            stay -= holders
    return fresh._replace(**{field: getattr(there, field) for field in stay})


def begun_anew(before: Scenario, own: Plan, policy: Composition) -> list[str]:
    """Axes along which a candidate has the policy of before, which remembers nothing of before."""
    return [f"{axis} = {name_of(getattr(before.policy, axis))}" for axis, field in _FIELDS.items()
            if getattr(before.policy, axis) == getattr(own.scenario.policy, axis)
            and getattr(policy, field) is getattr(own.policy, field)
            and memories(getattr(policy, field))]


def _has(part: object, memory: Memory) -> bool:
    return any(each is memory for each in memories(part).values())
