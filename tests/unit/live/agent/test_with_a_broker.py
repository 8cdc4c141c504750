"""Agents as processes, a fleet, and a real mosquitto between them."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from tests.support.broker import Broker, until
from tests.support.emulated_node import FOUND_W, EmulatedNode, write_agent_file

from wattline.live.agent.settings import read_settings
from wattline.live.agent.spool import Spool
from wattline.live.fleet import Fleet, NodeReport
from wattline.live.mqtt_fleet import MqttFleet
from wattline.live.transport.link import BrokerSettings, Link, read_key
from wattline.live.transport.messages import (
    Kind,
    Order,
    key_of,
    pack_report,
    sign,
    topic,
    unpack_report,
)

pytestmark = [pytest.mark.waits, pytest.mark.seldom]

NODES = ["n1", "n2"]


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[Broker]:
    made = Broker(tmp_path_factory.mktemp("broker"), [*NODES, "other"])
    yield made
    made.kill()


@pytest.fixture
def master(broker) -> bytes:
    return read_key(str(broker.files.order_key("controller")))


@pytest.fixture
def fleet(broker, master) -> Iterator[MqttFleet]:
    made = MqttFleet(broker.files.of("controller"), "bed", NODES, master, silent_s=2.0)
    yield made
    made.close()


class AgentProcess:
    """`wattline agent` of one node, and what the fleet heard of it."""

    def __init__(self, folder: Path, broker: Broker, **settings: Any) -> None:
        self.node = EmulatedNode(folder)
        self.file = write_agent_file(folder, broker.files, "n1", self.node, **settings)
        self.log = folder / "agent.log"
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "wattline", "agent", "--config", str(self.file)],
                stdout=log, stderr=log)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@contextmanager
def running(folder: Path, broker: Broker, **settings: Any) -> Iterator[AgentProcess]:
    agent = AgentProcess(folder, broker, **settings)
    try:
        yield agent
    finally:
        if agent.process.poll() is None:
            agent.process.kill()
            agent.process.wait(10)


class Heard:
    """All reports of a fleet, as a controller would gather them."""

    def __init__(self, fleet: MqttFleet) -> None:
        self._fleet = fleet
        self.all: list[NodeReport] = []

    def more(self) -> list[NodeReport]:
        self.all += self._fleet.reports()
        return self.all

    def until(self, ready: Any, within_s: float = 20.0) -> float:
        return until(lambda: bool(self.more()) and ready(self.all), within_s)


def taken(agent: AgentProcess, heard: list[NodeReport]) -> list[float]:
    """Times of the readings on the agent's disk, from the first heard to the last."""
    settings = read_settings(agent.file)
    spool = Spool(Path(settings.folder) / "readings", settings.readings)
    packed = pack_report(1, 1, spool.between(1, spool.next))
    spool.close()
    first_s, last_s = min(each.time_s for each in heard), max(each.time_s for each in heard)
    return [each.time_s for _, each in unpack_report("n1", packed).readings
            if first_s <= each.time_s <= last_s]


def test_a_fleet_of_mqtt_is_a_fleet(fleet):
    assert isinstance(fleet, Fleet)


def test_an_order_is_obeyed_within_two_seconds_and_a_clean_stop_restores(tmp_path, broker, fleet):
    heard = Heard(fleet)
    with running(tmp_path, broker) as agent:
        heard.until(len)
        fleet.cap(1, {"n1": 250.0}, 30.0)
        assert until(lambda: agent.node.cap_w == 250.0) < 2.0
        heard.until(lambda all: all[-1].order == 1)
        assert heard.all[-1].cap_w == 250.0
        assert "n1" not in fleet.silent()
        assert agent.end() == 0
    assert agent.node.cap_w == FOUND_W
    until(lambda: "n1" in fleet.silent())  # said by its farewell, before it was silent for long


def test_orders_of_others_are_refused_and_said_and_do_not_reach_it_by_other_clients(
    tmp_path, broker, fleet, master
):
    heard = Heard(fleet)
    with running(tmp_path, broker) as agent:
        heard.until(len)
        place = topic("bed", "n1", "order")
        now_us = int(time.time() * 1e6)
        # The broker lets the controller's certificate speak; the signature is another's.
        forged = sign(Order(Kind.CAP, now_us, 5, 30.0, 250.0), key_of(b"x" * 32, "bed", "n1"))
        fleet._link.publish(place, forged)
        heard.until(lambda all: any("did not sign" in each.reason for each in all))
        # Another node's certificate cannot even speak there, though it had the key.
        other = Link(broker.files.of("other"), "other", [], lambda *_: None)
        until(lambda: other.connected)
        signed = sign(Order(Kind.CAP, now_us + 1, 6, 30.0, 250.0), key_of(master, "bed", "n1"))
        other.publish(place, signed)
        fleet.cap(7, {"n1": 50.0}, 30.0)  # outside of what the node allows
        heard.until(lambda all: any("outside" in each.reason for each in all))
        other.close()
        assert agent.node.cap_w == FOUND_W
        assert {each.order for each in heard.all} == {0}


def test_a_broker_that_was_killed_costs_no_reading_and_none_comes_twice(tmp_path, broker, fleet):
    heard = Heard(fleet)
    with running(tmp_path, broker) as agent:
        heard.until(lambda all: len(all) >= 3)
        for _ in range(2):
            broker.kill()
            for _ in range(8):
                agent.node.draw(50.0)
                time.sleep(0.2)
            broker.start()
            came = len(heard.more())
            heard.until(lambda all, came=came: len(all) > came + 5 and not fleet.missing())
        agent.node.draw(50.0)
        heard.until(lambda all: max(each.energy_j for each in all) >= 850.0)
    assert sorted(each.time_s for each in heard.all) == taken(agent, heard.all)
    assert fleet.lost() == {}
    energies = [each.energy_j for each in sorted(heard.all, key=lambda each: each.time_s)]
    assert energies == sorted(energies)
    assert energies[-1] == 850.0


def test_a_killed_agent_keeps_the_cap_and_joules_and_restores_when_it_stops(
    tmp_path, broker, fleet
):
    heard = Heard(fleet)
    with running(tmp_path, broker) as agent:
        heard.until(lambda all: len(all) >= 2)
        fleet.cap(1, {"n1": 250.0}, 30.0)
        heard.until(lambda all: all[-1].order == 1)
        agent.end(signal.SIGKILL)
        until(lambda: "n1" in fleet.silent())  # its last will says so, before the time is up
        agent.node.draw(400.0)
        agent.start()
        heard.until(lambda all: all[-1].energy_j >= 400.0)
        assert agent.node.cap_w == 250.0
        assert (heard.all[-1].order, heard.all[-1].cap_w) == (1, 250.0)
        assert fleet.lost() == {}
        assert agent.end() == 0
    assert agent.node.cap_w == FOUND_W


def test_after_a_kill_the_command_restore_puts_back_what_was_found(tmp_path, broker, fleet):
    with running(tmp_path, broker) as agent:
        until(lambda: bool(fleet.reports()))
        fleet.cap(1, {"n1": 250.0}, 30.0)
        until(lambda: agent.node.cap_w == 250.0)
        agent.end(signal.SIGKILL)
    done = wattline("agent", "restore", "--config", str(agent.file), "--json")
    assert json.loads(done.stdout) == {"restored": {"psys@0": FOUND_W}}
    assert agent.node.cap_w == FOUND_W


def test_a_silent_controller_means_the_safe_cap_and_orders_hold_again(tmp_path, broker, fleet):
    heard = Heard(fleet)
    with running(tmp_path, broker) as agent:
        heard.until(len)
        fleet.cap(1, {"n1": 250.0}, 0.5)
        until(lambda: agent.node.cap_w == 250.0)
        assert until(lambda: agent.node.cap_w == 150.0) < 2.0
        heard.until(lambda all: any("safe cap" in each.reason for each in all))
        fleet.cap(2, {"n1": 300.0}, 30.0)
        until(lambda: agent.node.cap_w == 300.0)
        fleet.restore()
        until(lambda: agent.node.cap_w == FOUND_W)


def wattline(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "wattline", *words], capture_output=True,
                          text=True, check=False, timeout=60)


def test_a_second_agent_of_the_node_refuses_in_one_line_and_marks_reach_the_first(
    tmp_path, broker, fleet
):
    heard = Heard(fleet)
    with running(tmp_path, broker) as agent:
        heard.until(len)
        second = wattline("agent", "--config", str(agent.file))
        assert second.returncode == 1
        assert "another agent holds" in second.stderr.splitlines()[-1]
        agent.node.draw(75.0)
        marked = wattline("agent", "mark", "--job", "4711", "--config", str(agent.file), "--json")
        assert json.loads(marked.stdout) == {"node": "n1", "job": "4711"}
        pipe = Path(read_settings(agent.file).folder) / "mark"
        subprocess.run(["sh", "-c", f"printf '%s\\n' 4712 1<> {pipe}"], check=True)
        heard.until(lambda all: {each.job for each in all} == {"", "4711", "4712"})
        assert all(each.energy_j == 75.0 for each in heard.all if each.job)
        agent.end()
    late = wattline("agent", "mark", "--job", "4711", "--config", str(agent.file))
    assert late.returncode == 1
    assert "no agent runs" in late.stderr


def test_a_new_fleet_asks_for_what_came_while_there_was_none(tmp_path, broker, master):
    with running(tmp_path, broker) as agent:
        first = MqttFleet(broker.files.of("controller"), "bed", NODES, master)
        heard = Heard(first)
        heard.until(lambda all: len(all) >= 3)
        first.close()
        heard.more()
        seen = first.seen()
        time.sleep(1.0)
        second = MqttFleet(broker.files.of("controller"), "bed", NODES, master, seen=seen)
        again = Heard(second)
        again.until(lambda all: len(all) >= 6 and not second.missing())
        second.close()
    both = [*heard.all, *again.all]
    assert sorted(each.time_s for each in both) == taken(agent, both)


def test_without_a_certificate_of_the_site_nobody_connects(tmp_path, broker):
    files = broker.files
    bare = ssl.create_default_context(cafile=files.of("n1").ca)
    assert not _connects(bare, files.port)
    # One of another authority, however it is called, is none of ours.
    stranger = Broker(tmp_path, ["n1"])
    stranger.kill()
    context = ssl.create_default_context(cafile=files.of("n1").ca)
    context.load_cert_chain(stranger.files.of("n1").certificate, stranger.files.of("n1").key)
    assert not _connects(context, files.port)
    assert _connects(files.of("n1").context(), files.port)


def _connects(context: ssl.SSLContext, port: int) -> bool:
    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id="stranger")
    client.tls_set_context(context)
    came: list[bool] = []
    client.on_connect = lambda *said: came.append(not said[3].is_failure)
    try:
        client.connect("127.0.0.1", port)
        until_s = time.monotonic() + 3.0
        while not came and time.monotonic() < until_s and client.loop(0.1) == 0:
            pass
        return came == [True]
    except OSError:
        return False
    finally:
        client.disconnect()


def test_an_agent_does_not_speak_to_a_broker_of_another_authority(tmp_path, broker, master):
    stranger = Broker(tmp_path, ["n1"])
    own = broker.files.of("n1")
    said: list[str] = []
    link = Link(BrokerSettings(**{**own.model_dump(), "port": stranger.files.port}), "n1", [],
                lambda *_: None, say=said.append)
    time.sleep(1.5)
    assert not link.connected
    began_s = time.monotonic()
    link.close()
    assert time.monotonic() - began_s < 3.0
    stranger.kill()


def test_keys_are_made_for_a_site_and_only_root_reads_them(tmp_path):
    done = wattline("agent", "keys", "--folder", str(tmp_path / "keys"), "--cluster", "site",
                    "--nodes", "n[1-2]", "--host", "broker.example", "--json")
    assert json.loads(done.stdout)["nodes"] == 2, done.stderr
    for name in NODES:
        settings = read_settings(tmp_path / "keys" / name / "agent.toml")
        assert (settings.node, settings.limits.knobs) == (name, ())
        for file in ("own.key", "order.key"):
            assert os.stat(tmp_path / "keys" / name / file).st_mode & 0o077 == 0
    first, second = (read_key(str(tmp_path / "keys" / name / "order.key")) for name in NODES)
    assert first != second
    again = wattline("agent", "keys", "--folder", str(tmp_path / "keys"), "--cluster", "site",
                     "--nodes", "n1", "--host", "broker.example")
    assert (again.returncode, "there already" in again.stderr) == (2, True)
