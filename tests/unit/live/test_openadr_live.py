"""Our client against a real OpenADR server on loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.grid.events import EventBook
from wattline.live.openadr import CapWriter, follow

openleadr = pytest.importorskip("openleadr")
pytestmark = pytest.mark.filterwarnings("ignore")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def until(true: Any, seconds: float = 15.0) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, "it did not happen in time"
        await asyncio.sleep(0.05)


async def exchange(file: Path) -> tuple[list[str], list[float], list[str]]:
    """What the server heard of its events, and the caps that were in the file."""
    port, answers, stopped = free_port(), [], []
    server = openleadr.OpenADRServer(vtn_id="VTN", http_port=port,
                                     requested_poll_freq=timedelta(seconds=1))

    async def register(registration: dict[str, Any]) -> tuple[str, str]:
        return "ven_id", "registration"

    async def answered(ven_id: str, event_id: str, opt_type: str) -> None:
        answers.append(opt_type)

    server.add_handler("on_create_party_registration", register)
    await server.run_async()
    said: list[str] = []
    writer = CapWriter(file, EventBook(10_000.0), say=said.append)
    task = asyncio.ensure_future(follow(
        writer, f"http://127.0.0.1:{port}/OpenADR2/Simple/2.0b", "site", time.time,
        stop=lambda: bool(stopped), look_s=0.1))
    caps: list[float] = []

    def seen(cap_w: float) -> bool:
        if file.exists() and float(file.read_text()) == cap_w:
            caps.append(cap_w)
            return True
        return False

    def send(name: str, kind: str, value: float, last_s: float) -> None:
        server.add_event("ven_id", name, kind, callback=answered, intervals=[
            {"dtstart": datetime.now(UTC), "duration": timedelta(seconds=last_s),
             "signal_payload": value}])

    try:
        await until(lambda: seen(10_000.0))
        send("LOAD_DISPATCH", "setpoint", 6000.0, 4.0)
        await until(lambda: seen(6000.0))
        await until(lambda: seen(10_000.0))
        send("ELECTRICITY_PRICE", "price", 0.3, 60.0)
        await until(lambda: len(answers) == 2)
    finally:
        stopped.append(True)
        await task
        await server.stop()
    return answers, caps, said


def test_a_server_s_event_becomes_the_cap_and_is_answered(tmp_path: Path) -> None:
    answers, caps, said = asyncio.run(exchange(tmp_path / "cap"))
    assert answers == ["optIn", "optOut"]
    assert caps == [10_000.0, 6000.0, 10_000.0]
    assert "ELECTRICITY_PRICE" in said[-1]


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    writer = CapWriter(tmp_path / "cap", EventBook(10_000.0))
    with pytest.raises(wl.InputError, match="did not register"):
        asyncio.run(follow(writer, f"http://127.0.0.1:{free_port()}/OpenADR2/Simple/2.0b", "site",
                           time.time))
