"""`/api/plan`: small questions in, arrays out, computed by the workers of what-if."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from wattline.web.plan.bodies import Asked, BidAsked, ChooseNodes, Configure, Place, Procure
from wattline.web.problems import documented
from wattline.web.worker.kept import AnswersKept
from wattline.web.worker.pool import WorkerPool

_STATUSES = documented(401, 403, 413, 422, 429, 503)


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


def plan_router(pool: WorkerPool) -> APIRouter:
    """The routes, over these workers."""
    router = APIRouter(prefix="/api/plan", tags=["plan"], responses=_STATUSES)
    kept = AnswersKept()

    def ask(task: str, asked: Asked) -> Response:
        fields = asked.fields()
        key = json.dumps([task, fields], sort_keys=True)
        found = kept.get(key)
        if found is None:
            found = pool.ask(task, fields, key=task)
            kept.put(key, found)
        return Response(json.dumps(found, allow_nan=False, separators=(",", ":")),
                        media_type="application/json")

    @router.get("/choices")
    def get_choices() -> dict[str, Any]:
        """Applications, workloads, networks and placements that can be named."""
        return plan_choices()

    @router.post("/configure")
    def post_configure(asked: Configure) -> Response:
        """The configuration space of an application under a bound, and the fastest of it."""
        return ask("configure", asked)

    @router.post("/procure")
    def post_procure(asked: Procure) -> Response:
        """Fewer new nodes or more older ones for the same money and watts; where they are equal."""
        return ask("procure", asked)

    @router.post("/bid")
    def post_bid(asked: BidAsked) -> Response:
        """The bid of a regulation contract, and the cost of the bids beside it."""
        return ask("bid", asked)

    @router.post("/placement")
    def post_placement(asked: Place) -> Response:
        """Where jobs go on an empty network, how long they exchange, and which links get hot."""
        return ask("placement", asked)

    @router.post("/nodes")
    def post_nodes(asked: ChooseNodes) -> Response:
        """Nodes for one job on a network of which some are busy."""
        return ask("nodes", asked)

    return router
