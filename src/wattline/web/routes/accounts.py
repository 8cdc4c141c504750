"""Joules by user and account, the budget, the bill."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from wattline.web.answering import answer
from wattline.web.asked import source_of
from wattline.web.sources.shape import AccountTable, BillTable, BudgetTable
from wattline.web.viewer import Viewer, viewer_of

router = APIRouter(prefix="/api", tags=["accounts"])
By = Annotated[Literal["user", "account"], Query()]


@router.get("/accounts", response_model=AccountTable)
def accounts(request: Request, viewer: Annotated[Viewer, Depends(viewer_of)],
             by: By = "account") -> Response:
    """Joules, money and grams of each user or account; an owner sees the own line."""
    owner = viewer.only_own
    return answer(source_of(request).accounts("user" if owner is not None else by, owner))


@router.get("/budget", response_model=BudgetTable)
def budget(request: Request) -> Response:
    """What each period was given and has used, over time."""
    return answer(source_of(request).budget())


@router.get("/bill", response_model=BillTable)
def bill(request: Request, viewer: Annotated[Viewer, Depends(viewer_of)],
         by: By = "account") -> Response:
    """All joules up to now, line by line; what no job drew has its own."""
    found = source_of(request).bill("user" if viewer.only_own is not None else by)
    return answer(found if viewer.only_own is None else _own(found, viewer.only_own))


def _own(found: BillTable, owner: str) -> BillTable:
    """The lines of one user, and the total of those alone."""
    lines = [line for line in found.lines if line.name == owner]
    return replace(
        found, lines=lines, total_j=sum(line.energy_j for line in lines),
        total_amount=None if found.total_amount is None else sum(
            line.amount or 0.0 for line in lines),
        total_carbon_g=None if found.total_carbon_g is None else sum(
            line.carbon_g or 0.0 for line in lines),
        assumptions=[*found.assumptions, "it is your part of the machine's bill"])
