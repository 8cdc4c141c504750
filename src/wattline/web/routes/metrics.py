"""`/metrics` for the site's own tools."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from wattline.web.asked import beat_of, source_of
from wattline.web.openmetrics import TYPE, exposition

router = APIRouter(tags=["metrics"])


@router.get("/metrics", responses={200: {"content": {TYPE.split(";")[0]: {}}}},
            response_class=Response)
def metrics(request: Request) -> Response:
    """The machine in OpenMetrics; docs/web.md has names and units."""
    return Response(exposition(source_of(request), beat_of(request).viewers),
                    headers={"Content-Type": TYPE, "Cache-Control": "no-store"})
