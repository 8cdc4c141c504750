"""Jobs: the queue, pages of all, and one job."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from starlette.responses import Response

from wattline.web.addresses import make_router
from wattline.web.answering import answer, as_json
from wattline.web.asked import beat_of, source_of
from wattline.web.owning import own_detail
from wattline.web.sources.shape import JobDetail, JobPage, JobQuestion, NoSuchJob
from wattline.web.viewer import Viewer, viewer_of

router = make_router("/api", "jobs")
Asker = Annotated[Viewer, Depends(viewer_of)]
Text = Annotated[str, Query(max_length=200)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/queue", response_model=JobPage)
async def queue(request: Request, viewer: Asker, offset: Offset = 0,
                limit: Limit = 50) -> Response:
    """Jobs that wait, and what for; an owner sees the own ones.

    They are of the same moment as what `/api/now` and `/api/events` last said.
    """
    source, owner = source_of(request), viewer.only_own

    def found() -> JobPage:
        if owner is None:
            return source.queue(offset, limit)
        return source.jobs(JobQuestion(state="PENDING", user=owner, descending=False,
                                       offset=offset, limit=limit))

    return as_json(await beat_of(request).shared(("queue", offset, limit, owner), found))


@router.get("/jobs", response_model=JobPage)
def jobs(request: Request, viewer: Asker, search: Text = "", state: Text = "", user: Text = "",
         account: Text = "", sort: Text = "submit_s", descending: bool = True,
         offset: Offset = 0, limit: Limit = 50) -> Response:
    """A page of the jobs, by search, state, user and account; an owner sees the own ones."""
    source, owner = source_of(request), viewer.only_own
    found = source.jobs(JobQuestion(search, state, user if owner is None else owner, account, sort,
                                    descending, offset, limit))
    # Jobs of somebody else's are none that an owner sees, and not the owner's own either.
    foreign = owner is not None and user not in ("", owner)
    return answer(replace(found, total=0, jobs=[]) if foreign else found)


@router.get("/jobs/{job}", response_model=JobDetail)
def job(request: Request, viewer: Asker,
        job: Annotated[str, Path(max_length=100)]) -> Response:
    """One job: power over time, energy, cost, what was chosen for it and what else there was."""
    # Whether a job of somebody else's is there is not said: both are the same sentence.
    none_of_yours = NoSuchJob(f"there is no job {job[:40]} of yours")
    try:
        found = source_of(request).job(job)
    except NoSuchJob:
        if viewer.only_own is None:
            raise
        raise none_of_yours from None
    if viewer.only_own is not None and found.job.user != viewer.only_own:
        raise none_of_yours
    own = viewer.only_own
    return answer(found if own is None else own_detail(source_of(request), found, own))
