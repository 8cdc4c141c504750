"""A contract with the grid on a real Slurm: an OpenADR event, and a signal that steps every 2 s."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.bedside import LONG_S, OURS, runs, submit, until
from tests.slurm.pace import Pace
from tests.slurm.test_serving import cycles, drawn_w, site
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.grid.events import EventBook
from wattline.live.openadr import CapWriter, follow

openleadr = pytest.importorskip("openleadr")
USUAL_W, EVENT_W, EVENT_S = 1300.0, 800.0, 4.0  # of a quiet machine
AVERAGE_W, RESERVE_W = 950.0, 150.0


class Operator:
    """An OpenADR server and our client of it, in a thread."""

    def __init__(self, cap_file: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        self.cap_file, self.answers, self.stopped = cap_file, [], False
        self.loop = asyncio.new_event_loop()

    async def run(self) -> None:
        self.server = openleadr.OpenADRServer(vtn_id="VTN", http_port=self.port,
                                              requested_poll_freq=timedelta(seconds=1))

        async def register(registration: dict[str, Any]) -> tuple[str, str]:
            return "ven_id", "registration"

        self.server.add_handler("on_create_party_registration", register)
        await self.server.run_async()
        await follow(CapWriter(self.cap_file, EventBook(USUAL_W)),
                     f"http://127.0.0.1:{self.port}/OpenADR2/Simple/2.0b", "site", time.time,
                     stop=lambda: self.stopped, look_s=0.1)
        await self.server.stop()

    def send(self, lasts_s: float) -> None:
        async def answered(ven_id: str, event_id: str, opt_type: str) -> None:
            self.answers.append(opt_type)

        self.server.add_event("ven_id", "LOAD_DISPATCH", "setpoint", callback=answered, intervals=[
            {"dtstart": datetime.now(UTC) + timedelta(seconds=1),
             "duration": timedelta(seconds=lasts_s), "signal_payload": EVENT_W}])


@contextmanager
def operating(cap_file: Path) -> Iterator[Operator]:
    operator = Operator(cap_file)
    thread = threading.Thread(target=lambda: operator.loop.run_until_complete(operator.run()),
                              daemon=True)
    thread.start()
    yield operator
    operator.stopped = True
    thread.join(20)
    operator.loop.close()


@pytest.mark.filterwarnings("ignore")
def test_an_openadr_event_and_a_signal_of_2_s_are_followed_with_caps_and_scored(
    bed: Bed, tmp_path: Path, pace: Pace, record_property: Callable[[str, object], None]
) -> None:
    """Four nodes at 240 W and two idle ones draw 1,140 W, and can be held down to 660 W."""
    cap, target = tmp_path / "cap", tmp_path / "target"
    more = (f'cap_file = "{cap}"\ntarget_file = "{target}"\ntarget_reserve = {RESERVE_W:g}\n')
    with operating(cap) as operator, serving(site(bed, tmp_path, more), act=True) as here:
        until(cap.exists)
        jobs = [submit(bed, LONG_S, 240, *OURS, "-N", "2", "-t", "20", "-L", "watts:480")
                for _ in range(2)]
        cycles(here, lambda: all(runs(bed, job) for job in jobs) and drawn_w(bed) >= 1140.0)
        for level in (0.5, -0.5, 1.0, -0.3):
            until_s = time.monotonic() + 2.0 * pace.now
            while time.monotonic() < until_s:  # said again: what is old holds no more
                target.write_text(f"{AVERAGE_W + level * RESERVE_W:g}W\n")
                here.cycle()
        scored = json.loads((tmp_path / "controller" / "status.json").read_text())["target"]
        operator.loop.call_soon_threadsafe(operator.send, EVENT_S * pace.now)
        target.write_text(f"{AVERAGE_W:g}W\n")
        cycles(here, lambda: drawn_w(bed) <= EVENT_W)  # the event is below the target
        cycles(here, lambda: float(cap.read_text()) == USUAL_W)

        def is_followed() -> bool:
            target.write_text(f"{AVERAGE_W:g}W\n")
            return abs(drawn_w(bed) - AVERAGE_W) <= 0.02 * AVERAGE_W

        cycles(here, is_followed)
    record_property("target", scored)
    assert operator.answers == ["optIn"]
    assert scored["samples"] >= 4
    assert 0.25 <= scored["score"] <= 1.0, scored  # a busy machine is late at each step
