"""Logging in and out: a token once, then a cookie."""

from __future__ import annotations

import json

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from wattline.web.addresses import make_router
from wattline.web.asked import identity_of
from wattline.web.problems import Refused, documented
from wattline.web.security.exposure import is_tls
from wattline.web.security.identity import Identity
from wattline.web.security.sessions import COOKIE, LASTS_S

router = make_router("/api", "who")


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=200)


@router.post("/login", responses=documented(401, 403, 413, 422, 429))
def post_login(given: Login, request: Request) -> Response:
    """Begin a session: the answer sets a cookie, and has the token that changes need."""
    identity = identity_of(request)
    token = None if identity.tokens is None else identity.tokens.find(given.token)
    if token is None:
        raise Refused(401, "this token is not known here")
    made = identity.sessions.begin(token)
    answer = _json({"role": token.role.word, "user": token.name,
                    "csrf": identity.sessions.csrf(f"session:{made}")})
    answer.set_cookie(COOKIE, made, max_age=int(LASTS_S), httponly=True, samesite="strict",
                      secure=_by_tls(identity, request), path="/")
    return answer


@router.post("/logout", responses=documented(401, 403, 429))
def post_logout(request: Request) -> Response:
    """End the session."""
    identity = identity_of(request)
    wanted = identity.session_id({"cookie": request.headers.get("cookie", "")})
    if wanted is not None:
        identity.sessions.end(wanted)
    answer = _json({"ended": wanted is not None})
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def _by_tls(identity: Identity, request: Request) -> bool:
    address = "" if request.client is None else request.client.host
    proxied = identity.from_proxy(address) and request.headers.get("x-forwarded-proto") == "https"
    return is_tls(identity.settings) or proxied


def _json(answer: dict[str, object]) -> Response:
    return Response(json.dumps(answer), media_type="application/json")
