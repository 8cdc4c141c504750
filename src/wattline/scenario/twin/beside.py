"""What a scenario cannot have beside a `[twin]`, or without one: refused rather than ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wattline.model.fields import name_of
from wattline.policies.going_together import why_not

if TYPE_CHECKING:
    from wattline.scenario.model import Scenario

SLURM = "slurm"
"""The backfill that only a twin has."""
BACKFILLS = (SLURM, "none")
POWERS = ("none", "block", "budget")
_REASONS = {
    "order": "the order is Slurm's priority; change it with [twin.settings], like "
             "PriorityWeightAge, or let its fair-share count joules (energy-share)",
    "configure": "jobs run with the cores, memory and devices that they ask for; only claims, "
                 "with placement = claims, choose among what they can have",
    "placement": "nodes are chosen as Slurm's select plugin does; only bounded, limits of parts of "
                 "the machine, and claims, the class of node that is tried first, go with that",
    "regulation": "it keeps a contract, which has jobs of its own",
    "python": "a policy in Python sees whole nodes, and these are shared",
    "overrun": "jobs at their limit are killed as Slurm does",
}
_TAKEN = {"placement": ("bounded", "claims"), "configure": ("claims",), "order": ("energy-share",)}
"""Slurm's own choice of nodes, within limits of parts of the machine or one class of node; its own
priority, with joules for its fair-share."""
_POWERS_DO = {
    "lending": "lends watts to jobs by whole nodes",
    "watts": "plans watts beside whole nodes",
    "wait": "sets jobs of whole nodes aside",
}
_SECTIONS = {
    "shares": "shares of accounts and users are those of twin.assoc",
    "signals": "they are for a policy in Python",
    "network": "its network is that of twin.topology",
}


def without_twin(scenario: Scenario) -> str:
    """What only a twin uses; nothing where there is none of it."""
    if name_of(scenario.policy.backfill) == SLURM:
        return ("policy.backfill: 'slurm' schedules shared nodes by a site's slurm.conf; give "
                "[twin] too, or make one with `wattline twin make`")
    return ""


def beside_twin(scenario: Scenario) -> str:
    """The first thing that a twin does not use; nothing where it uses all."""
    if scenario.contract is not None:
        return "contract: it has jobs and a machine of its own, as a twin has; leave one out"
    policy = scenario.policy
    for axis, reason in _REASONS.items():
        if axis in _TAKEN and name_of(getattr(policy, axis)) in _TAKEN[axis]:
            continue
        if getattr(policy, axis) != _default(policy, axis):
            return f"policy.{axis}: it does not go with shared nodes: {reason}; leave it out"
    together = why_not({axis: name_of(getattr(policy, axis)) for axis in _TAKEN})
    if together:
        return together
    backfill, power = name_of(policy.backfill), name_of(policy.power)
    if backfill not in BACKFILLS and "backfill" in policy.model_fields_set:
        return (f"policy.backfill: '{backfill}' plans whole nodes; a twin takes slurm, or none for "
                "Slurm's main pass alone")
    if power not in POWERS:
        does = _POWERS_DO.get(power, "slows or pauses jobs of whole nodes")
        return (f"policy.power: '{power}' {does}; on shared nodes a cap is kept by not starting "
                "jobs (none or block), and an energy budget too (budget)")
    if power == "budget" and name_of(policy.placement) == "claims":
        return ("policy.power: the joules of a job that an energy budget plans with are not known "
                "before claims have chosen its node class; leave out one of them")
    if scenario.trace.file is None:
        return "trace.file: a twin needs the log of its site (sacct, .events or a table)"
    for section, kept in ((scenario.trace, ("file", "jobs", "zone", "unix_start_s")),
                          (scenario.machine, ("name", "site")),
                          (scenario.power, ("cap", "watch_cap"))):
        for name in type(section).model_fields:
            if name not in kept and getattr(section, name) != _default(section, name):
                word = type(section).__name__.removesuffix("Section").lower()
                return (f"{word}.{name}: a twin takes it from the site's files and [twin]; leave "
                        "it out" + _more_nodes(word, name))
    for index, reserved in enumerate(scenario.reservations):
        if reserved.nodes:
            return (f"reservations.{index}.nodes: a twin's nodes are reserved by name, with "
                    "[[twin.reservation]]; watts can be reserved here")
    for name, reason in _SECTIONS.items():
        if getattr(scenario, name):
            return f"{name}: a twin does not use it: {reason}; leave it out"
    return ""


def without_effect(scenario: Scenario) -> list[str]:
    """What is given as other scenarios have it anyway, and a twin does otherwise.

    It is said rather than refused: the scenario that a run folder keeps has all fields.
    """
    found = []
    if "overrun" in scenario.policy.model_fields_set:
        found.append(f"policy.overrun = {scenario.policy.overrun} has no effect: "
                     f"{_REASONS['overrun']}")
    if "granularity" in scenario.machine.model_fields_set:
        found.append(f"machine.granularity = {scenario.machine.granularity} has no effect: a twin "
                     "counts CPUs")
    return found


def _more_nodes(word: str, name: str) -> str:
    if (word, name) != ("machine", "nodes"):
        return ""
    return '; more nodes are twin.add_nodes, like { like = "n1", count = 10 }'


def _default(section: Any, name: str) -> Any:
    return type(section).model_fields[name].get_default(call_default_factory=True)
