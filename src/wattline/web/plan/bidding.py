"""Which bid to make for an hour of regulation service, and what the others would cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.demand_response.api import bid


def bid_surface(given: Mapping[str, Any]) -> dict[str, Any]:
    """The bid, and every bid that was tried as arrays."""
    fields = {name: given[name] for name in ("workload", "servers", "utilisation", "level", "seed")
              if given.get(name) is not None}
    found = bid(method=given["method"], forecast=given["hours"], check=0, **fields)
    figures = found.to_dict()
    tried = figures.pop("surface")
    return {
        **figures,
        "surface": {name: [each[name] for each in tried]
                    for name in ("average_power_w", "reserve_w", "cost", "feasible", "why")},
        "assumptions": list(found.assumed), "remarks": list(found.remarks),
    }
