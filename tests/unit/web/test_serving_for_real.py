"""A real server process: events for several viewers, Ctrl-C, a restart, a port in use."""

from __future__ import annotations

import json
import os
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.support.serving import Served, served

from wattline.analysis import rundir
from wattline.cli.serve import command
from wattline.model.errors import InputError, WattlineError
from wattline.web import serving
from wattline.web.serving import serve
from wattline.web.sources.demo import DemoSource

pytestmark = pytest.mark.waits


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run, which opens in no time."""
    place = tmp_path_factory.mktemp("served") / "run"
    return rundir.write(DemoSource(speed=0.0, jobs=60).shown.index.run, place)


def beats(server: Served, count: int) -> list[tuple[float, int, dict[str, Any]]]:
    """Return when each event came, its number and its figures."""
    found: list[tuple[float, int, dict[str, Any]]] = []
    number = -1
    with httpx.stream("GET", f"{server.url}/api/events", timeout=10) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            if line.startswith("data: "):
                found.append((time.monotonic(), number, json.loads(line[6:])))
                if len(found) == count:
                    return found
    raise AssertionError("the stream ended")


def test_viewers_get_the_same_figures_once_per_second_also_after_a_restart(
    folder: Path, tmp_path: Path
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with served("--run", str(folder), "--speed", "60", "--port", "0",
                log=tmp_path / "log") as server, ThreadPoolExecutor() as pool:
        one, other = pool.map(lambda _: beats(server, 4), range(2))
        assert all(later > earlier for (_, earlier, _), (_, later, _) in pairwise(one))
        assert one[-1][0] - one[1][0] > 1.5  # three beats
        mine, theirs = ({number: said for _, number, said in each if number > 0}
                        for each in (one, other))
        shared = set(mine) & set(theirs)
        assert len(shared) >= 2
        assert all(mine[number] == theirs[number] for number in shared)
        seen = [said["time_s"] for _, _, said in one[1:]]
        assert seen == sorted(seen)
        assert seen[-1] - seen[0] > 60
        until_s = time.monotonic() + 20
        while "wattline_viewers 0.0" not in server.get("/metrics").text:
            assert time.monotonic() < until_s, "who went away still counts"
            time.sleep(0.1)
        assert server.stop() == 0
        with pytest.raises(httpx.ConnectError):
            server.get("/api/now")
    assert "Traceback" not in (tmp_path / "log").read_text()
    port = server.url.rsplit(":", 1)[1]
    with served("--run", str(folder), "--port", port, log=tmp_path / "again") as server:
        assert beats(server, 1)[0][2]["power_w"] == server.get("/api/now").json()["power_w"]
        with pytest.raises(WattlineError, match=f"cannot listen on 127.0.0.1, port {port}"):
            serve(run=folder, port=int(port))


def test_viewers_are_let_go_when_the_server_is_ended(folder: Path, tmp_path: Path) -> None:
    with served("--run", str(folder), "--port", "0", log=tmp_path / "log") as server, httpx.stream(
            "GET", f"{server.url}/api/events", timeout=20) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("event:")) == "event: now"
        server.process.send_signal(signal.SIGTERM)
        assert list(lines)  # the stream ends; one that is cut off raises
        assert server.process.wait(20) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    assert "ERROR" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("after_s", [0.0, 0.3, 1.0])
def test_ctrl_c_at_a_terminal_ends_server_and_workers_without_a_word(
    after_s: float, folder: Path, tmp_path: Path
) -> None:
    """A terminal sends it to the whole group, also to workers that make themselves ready."""
    log = tmp_path / "log"
    with served("--run", str(folder), "--port", "0", "--warm", log=log) as server:
        server.get("/api/now")
        time.sleep(after_s)
        said = log.read_text()
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(20) == 0
    assert log.read_text() == said


@pytest.mark.parametrize(("given", "said"), [
    ({"host": "0.0.0.0"}, "can be reached from outside, and there is no TLS"),
    ({"host": "0.0.0.0", "tokens": "tokens"}, "there is no TLS"),
    ({"tls_cert": "cert.pem"}, "both a certificate and its key"),
    ({"tls_cert": "cert.pem", "tls_key": "key.pem"}, "no certificate with its key"),
    ({"proxy": "proxy.site"}, "give its address"),
    ({"demo": True, "live": True}, "one at a time"),
    ({"demo": True, "price": "0.1EUR"}, "a price and a carbon intensity of its own"),
    ({"live": True, "speed": 2.0}, "the speed that it has"),
    ({"at": "1h"}, "for a run folder"),
    ({"live": True, "config": "nowhere.toml"}, "there is no file nowhere.toml"),
])
def test_what_cannot_be_served_is_refused_before_anything_is_served(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        serve(**{"port": 0, **given})


@pytest.mark.parametrize("option", ["tokens", "run", "price", "carbon", "journal", "tls_cert",
                                    "config"])
def test_a_file_that_is_not_there_is_refused_before_anything_slow_is_done(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slow in ("open_source", "_listening"):
        monkeypatch.setattr(serving, slow, lambda *given, **named: pytest.fail("it went on"))
    missing = str(tmp_path / "nowhere" / "file.csv")
    key = {"tls_key": missing} if option == "tls_cert" else {}
    live = {"live": True} if option == "config" else {}
    with pytest.raises(InputError, match="nowhere") as refused:
        serve(**{option: missing, **key, **live})
    assert "\n" not in str(refused.value)


def test_tokens_that_are_not_there_end_the_command_with_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--tokens", str(tmp_path / "none"), "--port", "0"])
    assert isinstance(done.exception, InputError)  # which `main` prints as one line, with status 2
    assert str(tmp_path / "none") in str(done.exception)


def test_nobody_on_this_machine_becomes_the_proxy_by_a_header(folder: Path, tmp_path: Path) -> None:
    with served("--run", str(folder), "--proxy", "10.9.9.9", "--operator", "boss", "--port", "0",
                log=tmp_path / "log") as server:
        said = httpx.get(f"{server.url}/api/me", headers={
            "X-Forwarded-For": "10.9.9.9", "X-Remote-User": "boss"}, timeout=10)
        assert "boss" not in said.text
    with served("--run", str(folder), "--proxy", "127.0.0.1", "--operator", "boss", "--port", "0",
                log=tmp_path / "log2") as server:
        said = httpx.get(f"{server.url}/api/me", headers={
            "X-Forwarded-For": "10.1.2.3", "X-Remote-User": "boss"}, timeout=10)
        assert said.json()["user"] == "boss"
