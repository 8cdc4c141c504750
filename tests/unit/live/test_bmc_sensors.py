"""Power from management controllers, over their real protocols on loopback."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import tarfile
import threading
import time
from collections.abc import Mapping
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from tests.shared_data import shared
from tests.support.bmcs import PASSWORD, USER, Played, dripping, ipmi, redfish

from wattline.controller.testbed.bmc.node import ManagedNode
from wattline.controller.testbed.bmc.redfish import NodeResources, handler_of
from wattline.controller.testbed.bmc.serving import serve_redfish
from wattline.live.devices.redfish import Redfish, at, change
from wattline.live.found import open_sensor
from wattline.live.sensor import Quality
from wattline.model.errors import InputError
from wattline.testing import SensorContract

pytestmark = pytest.mark.waits

WAYS = ["", "#environment", "#controls", "#power"]


@pytest.fixture
def played(tmp_path) -> Played:
    return Played(tmp_path)


class TestContractOfIpmi(SensorContract):
    @pytest.fixture(autouse=True)
    def _place(self, played, monkeypatch):
        with ipmi(played, monkeypatch) as (self.place, _):
            yield

    def make_sensor(self):
        return open_sensor("ipmi", self.place)


class TestContractOfRedfish(SensorContract):
    @pytest.fixture(autouse=True, params=WAYS)
    def _place(self, played, monkeypatch, request):
        with redfish(played, monkeypatch) as place:
            self.place = place + request.param
            yield

    def make_sensor(self):
        return open_sensor("redfish", self.place)


def test_ipmitool_reads_what_the_node_draws(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, _):
        sensor = open_sensor("ipmi", place)
        assert sensor.read()[0].value == 350.0
        played.node.jobs.clear()
        played.tick()
        assert sensor.read()[0].value == 100.0


def test_controller_that_is_gone_is_a_gap_within_the_time_limit(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, _):
        sensor = open_sensor("ipmi", place, timeout_s=1.0)
        assert sensor.read()[0].quality is Quality.GOOD
    begin_s = time.monotonic()
    lost = sensor.read()[0]
    assert lost.quality is Quality.MISSING
    assert lost.reason
    assert time.monotonic() - begin_s < 2.0


def test_wrong_password_is_a_gap_and_not_a_zero(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, _):
        monkeypatch.setenv("IPMI_PASSWORD", "wrong")
        lost = open_sensor("ipmi", place).read()[0]
    assert lost.quality is Quality.MISSING
    assert "session" in lost.reason.lower()


def test_controller_that_measures_nothing_is_a_gap(played, monkeypatch):
    with ipmi(played, monkeypatch) as (place, bmc):
        (played.folder / "pm_counters" / "power").write_text("0 W 1 us\n")
        assert "0 W" in open_sensor("ipmi", place).read()[0].reason
        bmc._commands.pop((0x2C, 0x02))
        assert open_sensor("ipmi", place).read()[0].quality is Quality.MISSING


@pytest.mark.parametrize("way", WAYS)
def test_redfish_reads_what_the_node_draws(played, monkeypatch, way):
    with redfish(played, monkeypatch) as place:
        sensor = open_sensor("redfish", place + way)
        assert sensor.read()[0].value == 350.0
        played.node.jobs.clear()
        played.tick()
        assert sensor.read()[0].value == 100.0


def test_redfish_that_comes_back_is_read_again(played, monkeypatch):
    with redfish(played, monkeypatch) as place:
        sensor = open_sensor("redfish", place)
        monkeypatch.setattr("wattline.controller.testbed.bmc.redfish.NodeResources.get",
                            lambda self, path: None)
        lost = sensor.read()[0]
        assert (lost.quality, "404" in lost.reason) == (Quality.MISSING, True)
        monkeypatch.undo()
        monkeypatch.setenv("REDFISH_PASSWORD", PASSWORD)
        assert sensor.read()[0].value == 350.0


def test_redfish_with_a_wrong_password_is_a_gap(played, monkeypatch):
    with redfish(played, monkeypatch) as place:
        monkeypatch.setenv("REDFISH_PASSWORD", "wrong")
        assert "401" in open_sensor("redfish", place).read()[0].reason


def test_server_that_drips_is_a_gap_within_the_time_limit(monkeypatch):
    monkeypatch.setenv("REDFISH_PASSWORD", PASSWORD)
    with dripping() as port:
        sensor = open_sensor("redfish", f"http://{USER}@127.0.0.1:{port}", timeout_s=0.5)
        begin_s = time.monotonic()
        lost = sensor.read()[0]
        assert time.monotonic() - begin_s < 1.0
    assert (lost.quality, lost.reason) == (Quality.MISSING, "no answer in 0.5 s")


@pytest.fixture
def encrypted(played, tmp_path):
    """The place of a service behind TLS, and the certificate that it shows."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not here")
    certificate = tmp_path / "own.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", str(certificate), "-out", str(tmp_path / "c.pem"), "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True,
                   capture_output=True)
    certificate.write_text(certificate.read_text() + (tmp_path / "c.pem").read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    handler = handler_of(NodeResources(ManagedNode(played.folder)), USER, PASSWORD)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"https://{USER}@localhost:{server.server_address[1]}", tmp_path / "c.pem"
        server.shutdown()
        thread.join()


def test_certificates_are_checked(encrypted, monkeypatch):
    place, certificate = encrypted
    monkeypatch.setenv("REDFISH_PASSWORD", PASSWORD)
    assert "certificate verify failed" in open_sensor("redfish", place).read()[0].reason
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert open_sensor("redfish", place).read()[0].value == 350.0


class Mockup:
    """Pages of a recorded service; what is changed is kept."""

    def __init__(self, pages: dict[str, dict[str, Any]]) -> None:
        self.pages = pages

    def get(self, path: str) -> dict[str, Any] | None:
        return self.pages.get(path)

    def settings(self, path: str) -> object:
        return self.pages[path]

    def patch(self, path: str, body: Mapping[str, Any]) -> None:
        raise KeyError(path)


def mockup() -> Mockup:
    """The rack server that the standard's authors publish."""
    pages = {}
    with tarfile.open(shared("fixtures/redfish/dmtf_public-rackmount1.tar.xz")) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and member.name.endswith("index.json"):
                path = member.name.removeprefix("public-rackmount1").removesuffix("/index.json")
                pages[f"/redfish/v1{path}"] = json.load(file)
    return Mockup(pages)


@pytest.mark.parametrize(("way", "power_w"), [
    ("", 374.0), ("#environment", 374.0), ("#controls", 374.0), ("#power", 344.0)])
def test_published_mockup_is_read_in_all_three_ways(monkeypatch, way, power_w):
    monkeypatch.setenv("REDFISH_PASSWORD", PASSWORD)
    with serve_redfish(mockup(), USER, PASSWORD) as port:
        sensor = open_sensor("redfish", f"http://{USER}@127.0.0.1:{port}{way}")
        assert sensor.read()[0].value == power_w


@pytest.mark.parametrize(("file", "power_w"), [
    ("telegraf/dell__dell_power.json", 429.0), ("ceems/chassis_1_power.json", 344.0),
    ("dmtf/Power.json", 344.0)])
def test_power_of_recorded_pages_is_found(file, power_w):
    page = json.loads(shared(f"fixtures/redfish/{file}").read_text())
    assert at(page, ("PowerControl", 0, "PowerConsumedWatts")) == power_w


def test_a_change_names_nothing_but_itself():
    assert change({("PowerControl", 0, "PowerLimit", "LimitInWatts"): 300}) == {
        "PowerControl": [{"PowerLimit": {"LimitInWatts": 300}}]}
    assert change({("A", "B"): 1, ("A", "C"): "x"}) == {"A": {"B": 1, "C": "x"}}


@pytest.mark.parametrize(("kind", "place", "message"), [
    ("redfish", "", "https://user@host"), ("redfish", "bmc7", "https://user@host"),
    ("redfish", "https://a@bmc7#fans", "environment, controls, power"),
    ("redfish", "https://a:b@bmc7", "REDFISH_PASSWORD"),
    ("ipmi", "bmc7", "lanplus://user@host"), ("ipmi", "lan://admin:x@bmc7", "IPMI_PASSWORD"),
])
def test_places_that_lead_nowhere_are_refused(monkeypatch, kind, place, message):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(InputError, match=message):
        open_sensor(kind, place)


def test_password_is_asked_for(monkeypatch):
    monkeypatch.delenv("REDFISH_PASSWORD", raising=False)
    with pytest.raises(InputError, match="REDFISH_PASSWORD"):
        Redfish.at("https://admin@bmc7")
