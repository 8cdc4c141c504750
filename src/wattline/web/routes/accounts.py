"""Joules by user and account, the budget, the bill."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query, Request
from starlette.responses import Response

from wattline.web.addresses import make_router
from wattline.web.answering import answer
from wattline.web.asked import source_of
from wattline.web.problems import Refused
from wattline.web.sources.shape import AccountTable, BillTable, BudgetTable
from wattline.web.viewer import Viewer, viewer_of

router = make_router("/api", "accounts")
Asker = Annotated[Viewer, Depends(viewer_of)]
By = Annotated[Literal["user", "account"], Query()]


@router.get("/accounts", response_model=AccountTable)
def accounts(request: Request, viewer: Asker, by: By = "account") -> Response:
    """Joules, money and grams of each user or account; for an owner, of the own jobs alone."""
    return answer(source_of(request).accounts(by, viewer.only_own))


@router.get("/budget", response_model=BudgetTable)
def budget(request: Request, viewer: Asker) -> Response:
    """What each period was given and has used, over time; not for owners."""
    if viewer.only_own is not None:
        raise Refused(403, "the budget is that of the whole machine, and yours is the role owner",
                      "the role viewer sees it")
    return answer(source_of(request).budget())


@router.get("/bill", response_model=BillTable)
def bill(request: Request, viewer: Asker, by: By = "account") -> Response:
    """All joules up to now, line by line; what no job drew has its own. Owners see their part."""
    return answer(source_of(request).bill(by, viewer.only_own))
