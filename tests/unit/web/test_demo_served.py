"""The demo over HTTP: what each address answers, and that it adds up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from wattline.web.app import create_app
from wattline.web.sources.demo import DemoSource

Get = Callable[..., Any]


@pytest.fixture(scope="module")
def get() -> Get:
    app = create_app(DemoSource(speed=0.0, jobs=300))

    def ask(path: str, **query: Any) -> Any:
        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as to:
                return await to.get(path, params=query)

        return asyncio.run(go()).json()

    return ask


def test_racks_and_classes_add_up_to_the_power_of_the_machine(get: Get) -> None:
    now = get("/api/now")
    for kind in ("class", "rack"):
        assert sum(part["power_w"] for part in now["by"][kind]) == pytest.approx(now["power_w"])
    assert now["idle_w"] < now["power_w"] <= now["cap_w"] < now["max_w"]
    assert now["running"] > 0


def test_the_history_ends_now_and_keeps_the_peak(get: Get) -> None:
    now, course = get("/api/now"), get("/api/history", points=40)
    whole = get("/api/history", points=10000)
    assert course["time_s"][-1] == pytest.approx(now["time_s"])
    assert course["power_w"][-1] == pytest.approx(now["power_w"])
    assert max(course["power_w"]) == max(whole["power_w"])
    assert min(course["power_w"]) == min(whole["power_w"])
    assert len(course["time_s"]) < len(whole["time_s"])
    assert course["time_s"] == sorted(course["time_s"])
