"""The addresses of an application, made once per process.

To include a router makes each of its routes anew, with all that checks what is asked and answered,
which takes longer than the rest of a start. So an application has the routes as they are, and they
find in its state what they are asked of.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI

from wattline.web.problems import documented

_ANY = documented(400, 401, 403, 404, 409, 422, 429)


def make_router(
    prefix: str, subject: str, responses: dict[int | str, dict[str, Any]] | None = None
) -> APIRouter:
    """For the routes of a subject; besides, each may answer what any of them may."""
    return APIRouter(prefix=prefix, tags=[subject], responses=_ANY | (responses or {}))


def add_routes(app: FastAPI, *routers: APIRouter) -> None:
    """All routes of these, which an application shares with others."""
    for router in routers:
        app.router.routes.extend(router.routes)
