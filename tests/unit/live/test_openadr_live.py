"""Our client against a real OpenADR server on loopback."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.grid.events import EventBook
from wattline.live.openadr import CapWriter, follow
from wattline.live.openadr_link import Certificates, MeasuredPower

openleadr = pytest.importorskip("openleadr")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.waits]


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
    """Return what the server heard of its events, and the caps that were in the file."""
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
    assert "has prices alone, and no file of prices is kept" in said[-1]


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    writer = CapWriter(tmp_path / "cap", EventBook(10_000.0))
    with pytest.raises(wl.InputError, match="did not register"):
        asyncio.run(follow(writer, f"http://127.0.0.1:{free_port()}/OpenADR2/Simple/2.0b", "site",
                           time.time))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority (ca.pem) and certificates of both ends that it signed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificates, is not here")
    folder = tmp_path_factory.mktemp("authority")

    def openssl(*asked: str) -> None:
        subprocess.run(["openssl", *asked], check=True, capture_output=True, cwd=folder)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority")
    for name in ("vtn", "ven"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out",
                f"{name}.csr", "-subj", f"/CN={name}")
        (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "2", "-out", f"{name}.pem", "-extfile", "names")
    return folder


def ours(folder: Path, name: str = "ven") -> Certificates:
    return Certificates(folder / f"{name}.pem", folder / f"{name}.key", folder / "ca.pem")


async def secured(folder: Path, tmp_path: Path, certificates: Certificates) -> dict[str, Any]:
    """Return what a server behind TLS, which wants certificates, heard of us and of our power."""
    port, stopped = free_port(), []
    told: dict[str, Any] = {"answers": [], "watts": [], "registered": 0}
    of = {name: str(folder / f"vtn.{name}") for name in ("pem", "key")}

    def known(ven_id: str) -> dict[str, str]:
        return {"ven_id": "ven_id", "ven_name": "site", "registration_id": "registration",
                "fingerprint": str(ours(folder).fingerprint())}

    server = openleadr.OpenADRServer(
        vtn_id="VTN", http_port=port, requested_poll_freq=timedelta(seconds=1), cert=of["pem"],
        key=of["key"], http_cert=of["pem"], http_key=of["key"], ven_lookup=known,
        http_ca_file=str(folder / "ca.pem"), show_fingerprint=False,
        # A signature is refused after 5 s, which a busy machine may take.
        verify_message_signatures=False)

    async def register(registration: dict[str, Any]) -> tuple[str, str]:
        told["registered"] += 1
        return "ven_id", "registration"

    async def answered(ven_id: str, event_id: str, opt_type: str) -> None:
        told["answers"].append(opt_type)

    async def report(ven_id: str, resource_id: str, measurement: str, unit: str, scale: str,
                     min_sampling_interval: timedelta, max_sampling_interval: timedelta) -> Any:
        told["offered"] = (resource_id, measurement, unit)
        return heard, timedelta(seconds=1), timedelta(seconds=1)

    async def heard(data: list[tuple[datetime, float]]) -> None:
        told["watts"] += [value for _, value in data]

    server.add_handler("on_create_party_registration", register)
    server.add_handler("on_register_report", report)
    await server.run_async()
    status = tmp_path / "status.json"
    status.write_text(json.dumps({"time_s": 1e9, "measured_w": 5321.5}))
    file = tmp_path / "cap"
    task = asyncio.ensure_future(follow(
        CapWriter(file, EventBook(10_000.0)), f"https://127.0.0.1:{port}/OpenADR2/Simple/2.0b",
        "site", time.time, stop=lambda: bool(stopped), look_s=0.1, certificates=certificates,
        measured=MeasuredPower(status, lambda: 1e9 + 2.0)))
    try:
        await until(lambda: told["registered"] or task.done(), 120.0)
        if not task.done():
            server.add_event("ven_id", "LOAD_DISPATCH", "setpoint", callback=answered, intervals=[
                {"dtstart": datetime.now(UTC), "duration": timedelta(hours=1),
                 "signal_payload": 6000.0}])
            await until(lambda: told["answers"] and told["watts"], 120.0)
    finally:
        stopped.append(True)
        try:
            await task
        finally:
            await server.stop()
    return told | {"cap": float(file.read_text())}


@pytest.mark.long
def test_behind_tls_certificates_of_both_ends_are_used_and_the_power_is_reported(
    authority: Path, tmp_path: Path
) -> None:
    told = asyncio.run(secured(authority, tmp_path, ours(authority)))
    assert told["answers"] == ["optIn"]
    assert told["cap"] == 6000.0
    assert told["offered"] == ("site", "powerReal", "W")
    assert set(told["watts"]) == {5321.5}


def test_a_server_of_another_authority_is_not_followed(authority: Path, tmp_path: Path) -> None:
    other = ours(authority)
    stranger = Certificates(other.cert, other.key, authority / "ven.pem")
    with pytest.raises(wl.InputError, match="did not register"):
        asyncio.run(secured(authority, tmp_path, stranger))


def test_certificates_are_whole_and_need_tls(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no certificate")
    with pytest.raises(wl.InputError, match="are three files"):
        Certificates(cert=file)
    with pytest.raises(wl.InputError, match="there is no such file"):
        Certificates(file, file, tmp_path / "none")
    with pytest.raises(wl.InputError, match="goes with certificates"):
        Certificates(vtn_fingerprint="AA:BB")
    writer = CapWriter(tmp_path / "cap", EventBook(10_000.0))
    for url, said in (("http://localhost:1", "begin with https"),
                      ("https://localhost:1", "cannot be used")):
        with pytest.raises(wl.InputError, match=said):
            asyncio.run(follow(writer, url, "site", time.time,
                               certificates=Certificates(file, file, file)))


def test_an_old_or_missing_measurement_is_not_reported(tmp_path: Path) -> None:
    status = tmp_path / "status.json"
    power = MeasuredPower(status, lambda: 1000.0)
    assert power() == []
    for said, count in (({"time_s": 990.0, "measured_w": 500.0}, 1),
                        ({"time_s": 900.0, "measured_w": 500.0}, 0),
                        ({"time_s": 990.0, "measured_w": None}, 0), ({"time_s": 990.0}, 0)):
        status.write_text(json.dumps(said))
        assert len(power()) == count
