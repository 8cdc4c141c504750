"""Streams of events stay open: one client has so many at once, and no more."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from wattline.web.security.guard import Guard
from wattline.web.security.identity import Identity
from wattline.web.security.rates import Streams
from wattline.web.settings import Settings


class Watching:
    """A guard before streams that end when they are told to, and who asks for one."""

    def __init__(self, settings: Settings, most: int) -> None:
        self.over = asyncio.Event()
        self.guard = Guard(self.stream, settings, Identity(settings))
        self.guard.watching = Streams(most)

    async def stream(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.over.wait()

    def asks(self, user: str, path: str = "/api/events") -> tuple[asyncio.Task[None], list[Any]]:
        said: list[Any] = []

        async def send(message: Any) -> None:
            said.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
                 "query_string": b"", "client": ("10.0.0.5", 9),
                 "headers": [(b"host", b"127.0.0.1"), (b"x-remote-user", user.encode())]}
        return asyncio.ensure_future(self.guard(scope, receive, send)), said


async def receive() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def statuses(watching: Watching, *users: str) -> list[int]:
    asked = [watching.asks(user) for user in users]
    await asyncio.sleep(0.05)
    return [said[0]["status"] for _, said in asked]


def test_one_client_has_so_many_streams_and_a_place_is_free_again() -> None:
    async def go() -> None:
        watching = Watching(Settings(proxy="10.0.0.5"), most=3)
        assert await statuses(watching, *["ann"] * 4) == [200, 200, 200, 429]
        assert await statuses(watching, "bob") == [200]
        task, said = watching.asks("ann")
        await task
        assert "3 streams of events" in json.loads(said[1]["body"])["error"]
        assert (b"retry-after", b"10") in said[0]["headers"]
        _, other = watching.asks("ann", "/api/now")
        await asyncio.sleep(0.05)
        assert other[0]["status"] == 200
        watching.over.set()
        await asyncio.sleep(0.05)
        watching.over.clear()
        assert await statuses(watching, "ann") == [200]
        watching.over.set()
        await asyncio.sleep(0.05)

    asyncio.run(go())


def test_where_nothing_is_counted_streams_are_not() -> None:
    async def go() -> None:
        watching = Watching(Settings(proxy="10.0.0.5", rated=False), most=1)
        assert await statuses(watching, "ann", "ann") == [200, 200]
        watching.over.set()
        await asyncio.sleep(0.05)

    asyncio.run(go())
