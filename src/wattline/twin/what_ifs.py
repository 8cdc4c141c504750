"""What a twin's file has that the site's own Slurm does not: a check is of that, too."""

from __future__ import annotations

from wattline.model.fields import name_of
from wattline.scenario.twin.planning import TwinPlan


def said_of_what_ifs(ready: TwinPlan) -> str:
    """A sentence that names them, with a space behind it; empty without any."""
    scenario = ready.scenario
    assert scenario.twin is not None
    policy = scenario.policy
    asked = {
        "power.cap": ready.cap_w is not None,
        "limits of parts": bool(ready.parts),
        f"policy.power = {name_of(policy.power)}": ready.budget is not None,
        f"policy.order = {name_of(policy.order)}": name_of(policy.order) == "energy-share",
        f"policy.placement = {name_of(policy.placement)}": ready.claimed is not None,
        f"policy.backfill = {name_of(policy.backfill)}": name_of(policy.backfill) == "none",
        "twin.settings": bool(scenario.twin.settings),
        "twin.add_nodes": scenario.twin.add_nodes is not None,
    }
    named = [name for name, is_there in asked.items() if is_there]
    if not named:
        return ""
    return (f"Simulated with {', '.join(named)}: unless the site had the same when the log was "
            "written, this does not say how close the twin comes to it. ")
