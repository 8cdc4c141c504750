"""The guard before the application: who may come in, from where, how often, with how much.

It stands before everything, so that a route cannot be forgotten; and it is plain ASGI, so that
streams of events pass it as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import ExitStack
from typing import Any, Literal

from starlette.exceptions import HTTPException

from wattline.web.problems import Refused, problem
from wattline.web.security.exposure import HostNames, is_tls, may_connect
from wattline.web.security.headers import with_headers
from wattline.web.security.identity import WHO, Identity
from wattline.web.security.person import Person, Role
from wattline.web.security.rates import (
    ASKING,
    LOGGING_IN,
    MOST_STREAMS,
    READING,
    Buckets,
    Streams,
)
from wattline.web.settings import Settings
from wattline.web.viewer import SCOPE, Viewer

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

ROLES: Mapping[Role, Literal["viewer", "owner", "operator"]] = {
    Role.OWNER: "owner", Role.VIEWER: "viewer", Role.OPERATOR: "operator"}
SAFE = ("GET", "HEAD", "OPTIONS")
OPERATOR = "/api/operator"
LOGIN = "/api/login"
EVENTS = "/api/events"
UPLOADS = "/api/uploads"
ASKED = ("/api/plan/", UPLOADS)
MOST_BODY_BYTES = 2**19
MOST_URL_BYTES = 8192
RECEIVE_S = 30.0
"""Between two pieces of a body."""


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: Any, settings: Settings, identity: Identity) -> None:
        self.app, self.settings, self.identity = app, settings, identity
        self.hosts = HostNames(settings)
        self.reading, self.asking = Buckets(READING), Buckets(ASKING)
        self.logging_in = Buckets(LOGGING_IN)
        self.watching = Streams(MOST_STREAMS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        path, tls = str(scope["path"]), is_tls(self.settings)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": with_headers(
                    list(message.get("headers", [])), path, tls)}
            await send(message)

        with ExitStack() as held:
            try:
                limited = self._checked(scope, receive, path)
                if path == EVENTS and self.settings.rated:
                    person: Person = scope["wattline.person"]  # the stream is not public
                    held.enter_context(self.watching.one_more(person.key))
            except Refused as error:
                answer = problem(error.status, str(error), error.right, error.headers)
                await answer(scope, receive, sent)
                return
            await self.app(scope, limited, sent)

    def _checked(self, scope: Scope, receive: Receive, path: str) -> Receive:
        """Let the request in, with who it is from; a `Refused` says why not."""
        headers = _headers(scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            # Who stands before this server may end the request elsewhere (RFC 9112, 6.1).
            raise Refused(400, "the request says its length twice, by Content-Length and by "
                               "Transfer-Encoding", "one of them", {"Connection": "close"})
        if not may_connect(self.settings, self.identity.peer(scope)):
            raise Refused(403, "without TLS this server answers the site's proxy and this machine "
                               "alone: what you send could be read on its way",
                          "ask through the proxy")
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self.hosts.allows(headers["host"]):
            raise Refused(421, "this server is not called what the request calls it",
                          "--name NAME tells it the names under which people reach it")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_URL_BYTES:
            raise Refused(414, "the address is too long")
        client = self.identity.client(scope, headers)
        person = self._person(scope, headers, path, client)
        if scope["method"] not in SAFE:
            self._refuse_foreign(person, headers)
        if path.startswith(OPERATOR) and person is not None and person.role < Role.OPERATOR:
            raise Refused(403, f"this needs the role operator, and yours is {person.role.word}")
        scope["wattline.person"], scope["wattline.client"] = person, client
        if person is not None:
            csrf = self.identity.sessions.csrf(self.identity.csrf_of(person, headers))
            scope[SCOPE] = Viewer(ROLES[person.role], person.user, csrf,
                                   person.how == "session")
        return _limited(receive, headers, None if path == UPLOADS else MOST_BODY_BYTES)

    def _person(
        self, scope: Scope, headers: Mapping[str, str], path: str, client: str
    ) -> Person | None:
        """Who it is, where one has to be known; counted against the rates of its kind."""
        if path == LOGIN:
            self._count(self.logging_in, client)
        try:
            person = self.identity.find(scope, headers)
        except Refused:
            self._count(self.logging_in, client)  # tokens cannot be tried out
            raise
        key = client if person is None else person.key
        self._count(self.reading, key)
        if scope["method"] not in SAFE and (path.startswith(ASKED) or path == "/api/whatif"):
            self._count(self.asking, key)
        if person is None and not _is_public(path):
            raise Refused(401, "say who you are",
                          "Authorization: Bearer TOKEN, or POST /api/login", WHO)
        return person

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether a page is ours: proxies may ask under another name than people do."""
        return origin == host or origin.lower() in self.settings.names

    def _count(self, buckets: Buckets, key: str) -> None:
        wait_s = buckets.wait_s(key) if self.settings.rated else 0
        if wait_s:
            raise Refused(429, "these are more requests than one client may make",
                          f"ask again in {wait_s} s", {"Retry-After": str(wait_s)})

    def _refuse_foreign(self, person: Person | None, headers: Mapping[str, str]) -> None:
        """Refuse what a page of somebody else made a browser ask.

        Browsers say where a request comes from. Those who are known by a cookie, by the proxy or
        by sitting here must besides send what only our own page could read (`/api/me`); programs
        without cookies, which nobody can lead astray like that, need not.
        """
        if person is not None and not person.ambient:
            return
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and not self._is_own(origin.partition("://")[2], headers["host"]):
            raise Refused(403, "this request was made by a page of another site")
        if site is not None and site not in ("same-origin", "none"):
            raise Refused(403, "this request was made by a page of another site")
        if person is None:
            return
        browser = origin is not None or site is not None or "cookie" in headers
        if person.how == "session" or browser:
            of = self.identity.csrf_of(person, headers)
            if not self.identity.sessions.csrf_fits(of, headers.get("x-csrf-token", "")):
                raise Refused(403, "the token against foreign pages is missing or old",
                              "send X-CSRF-Token with what GET /api/me says")


def _is_public(path: str) -> bool:
    """The pages themselves, which hold nothing, and the way in."""
    return path in ("/", LOGIN, "/favicon.ico") or path.startswith("/app")


def _headers(scope: Scope) -> dict[str, str]:
    return {"host": ""} | {name.decode("latin-1"): value.decode("latin-1")
                           for name, value in scope["headers"]}


def _limited(receive: Receive, headers: Mapping[str, str], most: int | None) -> Receive:
    """The same body, as long as it is not too long; an upload counts its own."""
    if most is None:
        return receive
    declared = headers.get("content-length", "0")
    if not declared.isdigit() or int(declared[:18]) > most:
        raise Refused(413, f"the body has more than {most:,} bytes, which is the limit here")
    seen, whole = 0, False

    async def counted() -> Message:
        nonlocal seen, whole
        if whole:  # what comes now is that the client goes, which may take days
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), RECEIVE_S)
        except TimeoutError:
            raise HTTPException(408, f"the body did not come within {RECEIVE_S:g} s") from None
        seen += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if seen > most:
            raise HTTPException(413, f"the body has more than {most:,} bytes, which is the limit "
                                     "here")
        return message

    return counted
