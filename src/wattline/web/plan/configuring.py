"""The configuration space of an application under a bound, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.advice.configure import configure


def configuration_space(given: Mapping[str, Any]) -> dict[str, Any]:
    """Every configuration, whether it fits, the best and the named alternatives."""
    found = configure(
        given["application"], given["power_w"], nodes=given.get("nodes"),
        node_power_max=given.get("node_power_w_max"), margin=given.get("margin", 0.0),
        base_power=given.get("base_power_w"), node_idle=given.get("node_idle_w"),
        supply_efficiency=given.get("supply_efficiency"))
    table = found.within
    return {
        **found.to_dict(),
        "space": {"nodes": table.nodes, **table.settings, "time_s": table.time_s,
                  "power_w": table.power_w, "energy_j": table.time_s * table.power_w,
                  "fits": table.power_w <= found.choice.bound_w},
        "remarks": list(found.remarks),
    }
