"""The machine now: figures, their course, nodes and racks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from starlette.responses import Response

from wattline.web.answering import answer
from wattline.web.asked import beat_of, source_of
from wattline.web.sources.shape import About, History, NodePage, Now, RackTable
from wattline.web.viewer import Viewer, viewer_of

router = APIRouter(prefix="/api", tags=["now"])
MOST_POINTS = 10_000
MOST_ROWS = 20_000
MOST_S = 1e12
Moment = Annotated[float | None, Query(ge=-MOST_S, le=MOST_S, allow_inf_nan=False)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]


@router.get("/me", response_model=Viewer)
def me(viewer: Annotated[Viewer, Depends(viewer_of)]) -> Response:
    """Who asks, what the role is, and the token that changes need."""
    return answer(viewer)


@router.get("/about", response_model=About)
def about(request: Request) -> Response:
    """Version, what is shown, and what its figures rest on."""
    return answer(source_of(request).about())


@router.get("/now", response_model=Now)
async def now(request: Request) -> Response:
    """The machine at this moment."""
    return Response(await beat_of(request).now(), media_type="application/json",
                    headers={"Cache-Control": "no-store"})


@router.get("/events", responses={200: {"content": {"text/event-stream": {}}}},
            response_class=StreamingResponse)
async def events(request: Request) -> StreamingResponse:
    """The same as server-sent events (`event: now`), one per second."""
    return StreamingResponse(beat_of(request).events(), media_type="text/event-stream",
                             headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


@router.get("/history", response_model=History)
def history(request: Request, from_s: Moment = None, to_s: Moment = None,
            points: Annotated[int, Query(ge=4, le=MOST_POINTS)] = 800) -> Response:
    """Power, cap and queue over time in about so many points, every peak and dip among them."""
    return answer(source_of(request).history(from_s, to_s, points))


@router.get("/nodes", response_model=NodePage)
def nodes(request: Request, offset: Offset = 0, limit: Limit = 2000) -> Response:
    """Names, states and watts of nodes, from `offset` on."""
    return answer(source_of(request).nodes(offset, limit))


@router.get("/racks", response_model=RackTable)
def racks(request: Request) -> Response:
    """The same by rack, for machines of many nodes."""
    return answer(source_of(request).racks())
