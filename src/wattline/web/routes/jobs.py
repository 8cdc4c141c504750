"""Jobs: the queue, pages of all, and one job."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from wattline.web.answering import answer
from wattline.web.asked import source_of
from wattline.web.sources.shape import JobDetail, JobPage, JobQuestion, NoSuchJob
from wattline.web.viewer import Viewer, viewer_of

router = APIRouter(prefix="/api", tags=["jobs"])
Asker = Annotated[Viewer, Depends(viewer_of)]
Text = Annotated[str, Query(max_length=200)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/queue", response_model=JobPage)
def queue(request: Request, viewer: Asker, offset: Offset = 0, limit: Limit = 50) -> Response:
    """Jobs that wait, and what for; an owner sees the own ones."""
    if viewer.only_own is not None:
        question = JobQuestion(state="PENDING", user=viewer.only_own, descending=False,
                               offset=offset, limit=limit)
        return answer(source_of(request).jobs(question))
    return answer(source_of(request).queue(offset, limit))


@router.get("/jobs", response_model=JobPage)
def jobs(request: Request, viewer: Asker, search: Text = "", state: Text = "", user: Text = "",
         account: Text = "", sort: Text = "submit_s", descending: bool = True,
         offset: Offset = 0, limit: Limit = 50) -> Response:
    """A page of the jobs, by search, state, user and account; an owner sees the own ones."""
    question = JobQuestion(search, state, viewer.only_own or user, account, sort, descending,
                           offset, limit)
    return answer(source_of(request).jobs(question))


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
    return answer(found)
