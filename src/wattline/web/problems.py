"""What goes wrong, as a client is told it: one sentence, what would be right, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.responses import Response

from wattline.model.errors import WattlineError
from wattline.web.worker.pool import PoolBusy, WorkerFailed

MOST_SAID = 600


class Problem(BaseModel):
    """Every answer that is no 2xx."""

    error: str
    """One sentence."""
    right: str | None = None
    """What would be right, where it can be said."""


class Refused(WattlineError):
    """An answer other than 2xx, raised where the reason is known."""

    def __init__(
        self, status: int, error: str, right: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(error)
        self.status, self.right, self.headers = status, right, dict(headers or {})


def problem(
    status: int, error: str, right: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer; in ASCII, because what is quoted need not be text that can be encoded."""
    said = " ".join(error.split())
    said = said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 3]}..."
    text = json.dumps({"error": said, "right": right})
    return Response(text, status, dict(headers or {}), "application/json")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route: these statuses answer with a `Problem`."""
    return {status: {"model": Problem} for status in statuses}


def install_problems(app: FastAPI) -> None:
    """Answer in this way what is raised where the reason is known."""

    @app.exception_handler(Refused)
    def _refused(request: Request, error: Refused) -> Response:
        return problem(error.status, str(error), error.right, error.headers)

    @app.exception_handler(PoolBusy)
    def _busy(request: Request, error: PoolBusy) -> Response:
        return problem(503, str(error), f"ask again in {error.retry_after_s} s",
                       {"Retry-After": str(error.retry_after_s)})

    @app.exception_handler(WorkerFailed)
    def _failed(request: Request, error: WorkerFailed) -> Response:
        return problem(500, f"the server failed ({error}); this is a mistake of its own")

    @app.exception_handler(Exception)
    def _broken(request: Request, error: Exception) -> Response:
        return problem(500, f"the server failed ({type(error).__name__}); this is a mistake of "
                            "its own")
