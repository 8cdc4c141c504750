"""The benchmark of many agents, with few of them: that it measures what it says."""

from __future__ import annotations

import shutil

import pytest

from wattline.benchmarks import _live_agents
from wattline.benchmarks._live_load import _first_packet, packet
from wattline.controller.testbed.daemons import program

pytestmark = [pytest.mark.waits, pytest.mark.seldom]


@pytest.mark.parametrize("connections", [3, 20])
def test_all_readings_arrive_and_all_caps_are_lowered(monkeypatch, connections):
    if program("mosquitto") is None or shutil.which("openssl") is None:
        pytest.skip("no mosquitto and openssl here; Debian's packages of these names have them")
    monkeypatch.setattr(_live_agents, "AGENTS", 20)
    monkeypatch.setattr(_live_agents, "WINDOW_S", 2.0)
    found = _live_agents._load(connections)
    assert found["readings_missing"] == 0
    assert found["readings_per_s"] > 0
    assert found["kept_up"] == (found["readings_per_s"] > 19.4)
    assert 0 < found["lowered_after_decision_s"] < found["lowered_s"]
    assert found["together_cpu_share"] == found["broker_cpu_share"] + found["fleet_cpu_share"] > 0


@pytest.mark.parametrize("size", [0, 127, 128, 20_000])
def test_packets_are_cut_where_they_were_joined(size):
    data = packet(0x30, b"x" * size) + packet(0x90, b"y")
    kind, body, rest = _first_packet(data)
    assert (kind, len(body)) == (0x30, size)
    assert _first_packet(rest) == (0x90, b"y", b"")
    assert _first_packet(data[:1]) is None
    assert _first_packet(packet(0x30, b"x" * 300)[:-1]) is None
