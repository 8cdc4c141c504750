"""What goes wrong, as a client is told it: one sentence, what would be right, never a traceback.

Neither does it name a path of the server's: errors that other layers raise are said without.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from wattline.model.errors import InputError, WattlineError
from wattline.model.mistakes import first_said
from wattline.web.places import ServerPlaces
from wattline.web.sources.shape import NoSuchJob
from wattline.web.worker.pool import PoolBusy, WorkerFailed

MOST_SAID = 600
DOCUMENT = "see /api/openapi.json"
"""For whoever writes a program: what the pages send has the right form."""


_UNROUTED = {404: "there is nothing at this address", 405: "this address is not asked in that way"}
"""What no route takes: every other 404 says what is not there."""


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


def problem_text(error: str, right: str | None = None) -> str:
    """A `Problem` as JSON; in ASCII, because what is quoted need not be text at all."""
    said = " ".join(error.split())
    said = said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 3]}..."
    return json.dumps({"error": said, "right": right})


def problem(
    status: int, error: str, right: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer that says it."""
    return Response(problem_text(error, right), status, dict(headers or {}), "application/json")


def own_mistake(error: Exception) -> str:
    """What is said of an error that nobody foresaw: nothing that only the server should know."""
    return f"the server failed ({type(error).__name__}); this is a mistake of its own"


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route: these statuses answer with a `Problem`."""
    return {status: {"model": Problem} for status in statuses}


def install_problems(app: FastAPI, places: ServerPlaces) -> None:
    """Answer whatever is raised in this way, by whose mistake it is."""

    @app.exception_handler(Refused)
    def _refused(request: Request, error: Refused) -> Response:
        return problem(error.status, str(error), error.right, error.headers)

    @app.exception_handler(InputError)
    def _mistake(request: Request, error: InputError) -> Response:
        return problem(404 if isinstance(error, NoSuchJob) else 422, places.withheld(str(error)))

    @app.exception_handler(WattlineError)
    def _failure(request: Request, error: WattlineError) -> Response:
        # The controller is away, or the ledger: not the asker's mistake.
        return problem(503, places.withheld(str(error)))

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> Response:
        return _not_as_documented(list(error.errors()))

    @app.exception_handler(HTTPException)
    def _other(request: Request, error: HTTPException) -> Response:
        words = _UNROUTED.get(error.status_code)
        return problem(error.status_code, words or str(error.detail), DOCUMENT if words else None,
                       error.headers)

    @app.exception_handler(PoolBusy)
    def _busy(request: Request, error: PoolBusy) -> Response:
        return problem(503, str(error), f"ask again in {error.retry_after_s} s",
                       {"Retry-After": str(error.retry_after_s)})

    @app.exception_handler(WorkerFailed)
    def _failed(request: Request, error: WorkerFailed) -> Response:
        return problem(500, f"the server failed ({error}); this is a mistake of its own")

    @app.exception_handler(Exception)
    def _broken(request: Request, error: Exception) -> Response:
        return problem(500, own_mistake(error))


def _not_as_documented(mistakes: list[dict[str, Any]]) -> Response:
    """What is wrong with a query or a body, by the field."""
    found = [{**each, "loc": each["loc"][1:]} for each in mistakes]
    first = found[0]
    if first["type"] == "json_invalid":
        return problem(422, f"the body is no JSON ({first['ctx']['error']})", DOCUMENT)
    if first["loc"]:
        return problem(422, first_said(found, as_json=True))
    if first["type"] == "value_error":  # it names the field itself
        return problem(422, str(first["msg"]).removeprefix("Value error, "))
    return problem(422, "the body must be an object, in JSON", DOCUMENT)
