"""Answers as JSON: figures that are not finite are null, errors are one sentence."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from wattline.model.errors import InputError, WattlineError
from wattline.model.mistakes import first_said
from wattline.web.sources.shape import NoSuchJob


def plain(value: Any) -> Any:
    """What JSON can say: dataclasses as objects, infinite and unknown figures as null."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def encoded(value: Any) -> bytes:
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace")  # what is quoted may hold half a letter


def answer(value: Any, status: int = 200) -> Response:
    return Response(encoded(value), status, media_type="application/json",
                    headers={"Cache-Control": "no-store"})


def refusal(text: str, status: int, right: str | None = None) -> Response:
    """`{"error": one sentence, "right": what would be right}`."""
    return answer({"error": " ".join(text.split()), "right": right}, status)


def add_refusals(app: FastAPI) -> None:
    """A mistake of the asker's is a 4xx in one sentence, whatever raised it."""

    @app.exception_handler(InputError)
    async def _mistake(request: Request, error: InputError) -> Response:
        return refusal(str(error), 404 if isinstance(error, NoSuchJob) else 422)

    @app.exception_handler(WattlineError)
    async def _failure(request: Request, error: WattlineError) -> Response:
        return refusal(str(error), 503)  # the controller is away: not the asker's mistake

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        found = [{**each, "loc": each["loc"][1:]} for each in error.errors()]
        if not found[0]["loc"]:  # the body as a whole
            return refusal(f"the request: {found[0]['msg']}".replace("Value error, ", ""), 422,
                           "see /api/openapi.json")
        return refusal(first_said(found), 422, "see /api/openapi.json")

    @app.exception_handler(HTTPException)
    async def _other(request: Request, error: HTTPException) -> Response:
        found = refusal(str(error.detail), error.status_code)
        found.headers.update(error.headers or {})
        return found
