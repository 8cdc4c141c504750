"""The machine now: figures, their course, nodes and racks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.responses import StreamingResponse
from starlette.responses import Response

from wattline.web.addresses import make_router
from wattline.web.answering import answer, as_json
from wattline.web.asked import beat_of, source_of
from wattline.web.owning import own_about, own_nodes
from wattline.web.sources.shape import About, History, NodePage, Now, RackTable
from wattline.web.viewer import Viewer, viewer_of

router = make_router("/api", "now")
Asker = Annotated[Viewer, Depends(viewer_of)]
MOST_POINTS = 10_000
MOST_ROWS = 20_000
MOST_S = 1e12
Moment = Annotated[float | None, Query(ge=-MOST_S, le=MOST_S, allow_inf_nan=False)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]


@router.get("/me", response_model=Viewer)
def me(viewer: Asker) -> Response:
    """Who asks, what the role is, and the token that changes need."""
    return answer(viewer)


@router.get("/about", response_model=About)
def about(request: Request, viewer: Asker) -> Response:
    """Version, what is shown, and what its figures rest on."""
    source, owner = source_of(request), viewer.only_own
    found = source.about()
    return answer(found if owner is None else own_about(source, found, owner))


@router.get("/now", response_model=Now)
async def now(request: Request, viewer: Asker) -> Response:
    """The machine at this moment; of decisions about jobs an owner sees those about the own."""
    return as_json(await beat_of(request).now(viewer.only_own))


@router.get("/events", responses={200: {"content": {"text/event-stream": {}}}},
            response_class=StreamingResponse)
async def events(request: Request, viewer: Asker) -> StreamingResponse:
    """The same as server-sent events (`event: now`), one per second."""
    return StreamingResponse(beat_of(request).events(viewer.only_own),
                             media_type="text/event-stream",
                             headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


@router.get("/history", response_model=History)
def history(request: Request, from_s: Moment = None, to_s: Moment = None,
            points: Annotated[int, Query(ge=4, le=MOST_POINTS)] = 800) -> Response:
    """Power, cap and queue over time in about so many points, every peak and dip among them."""
    return answer(source_of(request).history(from_s, to_s, points))


@router.get("/nodes", response_model=NodePage)
async def nodes(request: Request, viewer: Asker, offset: Offset = 0,
                limit: Limit = 2000) -> Response:
    """Names, states and watts of nodes, from `offset` on; an owner sees which have own jobs.

    They are of the same moment as what `/api/now` and `/api/events` last said.
    """
    source, owner = source_of(request), viewer.only_own

    def found() -> NodePage:
        page = source.nodes(offset, limit)
        return page if owner is None else own_nodes(source, page, owner)

    return as_json(await beat_of(request).shared(("nodes", offset, limit, owner), found))


@router.get("/racks", response_model=RackTable)
async def racks(request: Request) -> Response:
    """The same by rack, for machines of many nodes."""
    return as_json(await beat_of(request).shared("racks", source_of(request).racks))
