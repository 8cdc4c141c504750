"""`/metrics` for the site's own tools."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from wattline.web.addresses import make_router
from wattline.web.asked import beat_of, source_of
from wattline.web.openmetrics import TYPE, exposition
from wattline.web.problems import Refused
from wattline.web.viewer import Viewer, viewer_of

router = make_router("", "metrics")


@router.get("/metrics", responses={200: {"content": {TYPE.split(";")[0]: {}}}},
            response_class=Response)
def metrics(request: Request, viewer: Annotated[Viewer, Depends(viewer_of)]) -> Response:
    """The machine in OpenMetrics; docs/web.md has names and units."""
    if viewer.only_own is not None:
        raise Refused(403, "metrics have the joules of every user, and yours is the role owner",
                      "a token of the role viewer")
    return Response(exposition(source_of(request), beat_of(request).viewers),
                    headers={"Content-Type": TYPE, "Cache-Control": "no-store"})
