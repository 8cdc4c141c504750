"""Fewer new nodes or more older ones: the two machines, and where they break even."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.advice.procure import procure


def break_even(given: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison, and the gain over the range of each parameter."""
    scaling = given.get("scaling")
    found = procure(
        given["budget_power_w"], node_power_max=given["node_power_w_max"],
        node_power_min=given["node_power_w_min"], speed_ratio=given["speed_ratio"],
        cost_ratio=given.get("cost_ratio"), rack=given.get("rack"),
        rack_nodes=given.get("rack_nodes"), scaling=scaling, app=given.get("application"),
        shape=given.get("shape"), nodes_valid=given.get("nodes_valid"))
    return {
        **found.to_dict(),
        "sweeps": [{"parameter": each.parameter, "value": each.values, "s_ovp": each.s_ovp,
                    "here": each.here, "in_steps": each.in_steps,
                    "break_even": each.break_even} for each in found.sweeps],
        "remarks": list(found.remarks),
    }
