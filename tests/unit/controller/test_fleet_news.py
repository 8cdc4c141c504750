"""The controller's words about a broker that does not answer."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.controller.test_modes import SITE, OneSlurm

from wattline.controller.configuration import read_configuration
from wattline.controller.fleet_news import MOST, FleetNews
from wattline.controller.serving import serving
from wattline.live.transport.broker import make_broker_files
from wattline.live.transport.link import CONNECTED, Link

pytestmark = pytest.mark.waits


def test_each_sentence_is_passed_on_once_until_the_broker_is_back() -> None:
    came: list[Sequence[str]] = [
        [CONNECTED], ["away", "n1 lies"], ["away"], [CONNECTED], ["away"], [],
        [str(number) for number in range(2 * MOST)]]
    notes: list[str] = []
    news = FleetNews(lambda: came.pop(0), notes)
    for _ in range(6):
        news(None)
    assert notes == ["away", "n1 lies", CONNECTED, "away"]
    news(None)
    assert len(notes) == 3 + MOST


def test_a_broker_that_does_not_answer_is_said_at_the_start(
    tmp_path: Path, slurm: OneSlurm
) -> None:
    """Nobody listens at the port, which was free just now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    files = make_broker_files(tmp_path / "keys", "cluster", ["n1"], host="127.0.0.1", port=port)
    lines = "".join(f"{name} = {json.dumps(value)}\n"
                    for name, value in files.of("controller").model_dump().items())
    (tmp_path / "site.toml").write_text(
        f'{SITE}order_key = "{files.order_key("controller")}"\nstore = "none"\n[broker]\n{lines}')
    said: list[str] = []
    with serving(read_configuration(tmp_path / "site.toml"), act=True) as here:
        until_s = time.monotonic() + 20.0
        while not said and time.monotonic() < until_s:
            said += [line for line in here.cycle().remarks if "broker" in line]
            time.sleep(0.02)
        said += [line for _ in range(5) for line in here.cycle().remarks if "broker" in line]
    assert said[0].startswith(f"the broker 127.0.0.1:{port} does not answer: ")
    assert sum("does not answer" in line for line in said) == 1


def test_a_host_without_an_address_is_no_answer_either(tmp_path: Path) -> None:
    host = "no.such.host.invalid"
    files = make_broker_files(tmp_path / "keys", "cluster", ["n1"], host=host, port=1)
    said: list[str] = []
    link = Link(files.of("controller"), "x", [], lambda *_: None, say=said.append)
    try:
        until_s = time.monotonic() + 20.0
        while not said and time.monotonic() < until_s:
            time.sleep(0.02)
    finally:
        link.close()
    assert said[0].startswith(f"the broker {host}:1 does not answer: ")
