"""Fewer new nodes or more older ones: the two machines, and where they break even."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.advice.procure import Procurement, procure
from wattline.model.units import format_power
from wattline.physics.scaling import Scaling


def break_even(given: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison, and the gain over the range of each parameter."""
    scaling = given.get("scaling")
    found = procure(
        given["budget_power_w"], node_power_max=given["node_power_w_max"],
        node_power_min=given["node_power_w_min"], speed_ratio=given["speed_ratio"],
        cost_ratio=given.get("cost_ratio"), rack=given.get("rack"),
        rack_nodes=given.get("rack_nodes"), scaling=scaling, app=given.get("application"),
        shape=given.get("shape"), nodes_valid=given.get("nodes_valid"),
        base_power=given.get("base_power_w"), supply_efficiency=given.get("supply_efficiency"))
    return {
        **found.to_dict(),
        "sweeps": [{"parameter": each.parameter, "value": each.values, "s_ovp": each.s_ovp,
                    "here": each.here, "in_steps": each.in_steps,
                    "break_even": each.break_even,
                    "crossings": [one._asdict() for one in each.crossings]}
                   for each in found.sweeps],
        "assumptions": _assumptions(found),
        "remarks": list(found.remarks),
    }


def _assumptions(found: Procurement) -> list[str]:
    """What the comparison takes for granted, with the figures of this one."""
    terms = found.budget
    return [
        f"both machines cost the same, and {format_power(terms.power_w)} feed either: as many "
        f"new nodes as may all draw {format_power(terms.node_power_w_max)}, or older ones that "
        f"draw {format_power(terms.node_power_w_min)} idle and share the rest",
        f"a new node costs as much as {terms.cost_ratio:g} older ones; electricity over the years, "
        "floor, cooling and repair are in neither price",
        _times_from(found),
        f"on as many nodes, new ones take {terms.speed_ratio:.0%} less time, whatever their number",
    ]


def _times_from(found: Procurement) -> str:
    curve = found.curve
    if isinstance(curve, Scaling):
        return (f"the time on n older nodes is a straight line, {curve.slope_s:.4g} n + "
                f"{curve.intercept_s:.4g} s, believed from {curve.nodes_min} to "
                f"{curve.nodes_max} nodes and the same under every budget of power; how far "
                "measured times scatter around it is not known here")
    return ("times on older nodes are the best of their configurations under the budget beside the "
            "nodes that these leave idle, and between two node counts the power of n through both")
