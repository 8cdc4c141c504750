"""`/api/plan`: small questions in, arrays out, computed by the workers of what-if."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fastapi import Request
from starlette.responses import Response

from wattline.web.addresses import make_router
from wattline.web.asked import plans_of, pool_of
from wattline.web.plan.bodies import BidAsked, ChooseNodes, Configure, Place, Procure, RequestBody
from wattline.web.problems import documented

router = make_router("/api/plan", "plan", documented(401, 403, 413, 422, 429, 503))


@cache
def plan_choices() -> dict[str, Any]:
    """What the fields of a plan may name."""
    from wattline.advice.network import list_placements
    from wattline.grid.workloads import workload_names
    from wattline.network.config import BUILT_IN
    from wattline.physics.regression import shipped_models
    from wattline.physics.scaling import PUBLISHED

    return {"applications": sorted(shipped_models()), "scalings": list(PUBLISHED),
            "workloads": list(workload_names()), "machines": list(BUILT_IN),
            "placements": [{"name": name, **each} for name, each in list_placements().items()]}


def _ask(request: Request, task: str, asked: RequestBody) -> Response:
    """From the workers, once for the same question."""
    fields, kept = asked.fields(), plans_of(request)
    key = json.dumps([task, fields], sort_keys=True)
    found = kept.get(key)
    if found is None:
        found = pool_of(request).ask(task, fields, key=task)
        kept.put(key, found)
    return Response(json.dumps(found, allow_nan=False, separators=(",", ":")),
                    media_type="application/json")


@router.get("/choices")
def get_choices() -> dict[str, Any]:
    """Applications, workloads, networks and placements that can be named."""
    return plan_choices()


@router.post("/configure")
def post_configure(asked: Configure, request: Request) -> Response:
    """The configuration space of an application under a bound, and the fastest of it."""
    return _ask(request, "configure", asked)


@router.post("/procure")
def post_procure(asked: Procure, request: Request) -> Response:
    """Fewer new nodes or more older ones for the same money and watts; where they are equal."""
    return _ask(request, "procure", asked)


@router.post("/bid")
def post_bid(asked: BidAsked, request: Request) -> Response:
    """The bid of a regulation contract, and the cost of the bids beside it."""
    return _ask(request, "bid", asked)


@router.post("/placement")
def post_placement(asked: Place, request: Request) -> Response:
    """Where jobs go on an empty network, how long they exchange, and which links get hot."""
    return _ask(request, "placement", asked)


@router.post("/nodes")
def post_nodes(asked: ChooseNodes, request: Request) -> Response:
    """Nodes for one job on a network of which some are busy."""
    return _ask(request, "nodes", asked)
