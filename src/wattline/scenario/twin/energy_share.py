"""Fair-share by joules on a twin: the usage of Slurm's associations is what their jobs drew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.fields import name_of
from wattline.policies.registry import choose
from wattline.scenario.model import Scenario
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.rules import MULTIFACTOR, Rules

ENERGY_SHARE = "energy-share"
_INSTEAD = {
    "shares": "it is twin.assoc",
    "store": "usage begins with the log, as of a Slurm that was just set up",
    "half_life": "it is PriorityDecayHalfLife of twin.settings",
    "fair": "it is PriorityWeightFairshare of twin.settings",
    "age": "it is PriorityWeightAge of twin.settings",
    "size": "it is PriorityWeightJobSize of twin.settings",
    "age_max_s": "it is PriorityMaxAge of twin.settings",
}
COUNTED = ("fair-share counts the joules of jobs with their part of the idle power of their nodes, "
           "times the UsageFactor of their QOS; TRESBillingWeights have no effect on it")


def rules_by_joules(
    scenario: Scenario, site: Site, rules: Rules
) -> tuple[Rules, tuple[str, ...]]:
    """The rules with usage in joules where `policy.order` asks for it, and what that means."""
    if name_of(scenario.policy.order) != ENERGY_SHARE:
        return rules, ()
    given = choose("order", scenario.policy.order).given
    for name, instead in _INSTEAD.items():
        if name in given.model_fields_set:
            raise InputError(f"policy.order.{name}: on a twin {instead}; leave it out")
    if rules.priority.kind != MULTIFACTOR or rules.priority.fairshare <= 0:
        raise InputError("policy.order: 'energy-share' would change nothing here: the site's "
                         "priorities have no fair-share; try twin.settings with PriorityType = "
                         "'priority/multifactor' and PriorityWeightFairshare above 0")
    if np.all(site.made.requests.association < 0):
        raise InputError("policy.order: 'energy-share' would change nothing here: no job belongs "
                         "to an association; give twin.assoc")
    return replace(rules, priority=replace(rules.priority, by_joules=True)), (COUNTED,)
