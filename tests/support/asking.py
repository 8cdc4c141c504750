"""Asking an application over ASGI, without a port."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx


class Asking:
    """GET and POST on an application; each in an event loop of its own."""

    def __init__(self, app: Any, **headers: str) -> None:
        self.app, self.headers = app, headers

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1",
                                         headers=self.headers) as client:
                return await client.request(method, path, **more)

        return asyncio.run(go())

    def get(self, path: str, **query: Any) -> Any:
        found = self.ask("GET", path, params=query or None)
        assert found.status_code == 200, found.text
        return found.json()

    def post(self, path: str, said: Any) -> httpx.Response:
        return self.ask("POST", path, json=said)

    def refused(self, path: str, **query: Any) -> tuple[int, str]:
        found = self.ask("GET", path, params=query or None)
        return found.status_code, found.json()["error"]
