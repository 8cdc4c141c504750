"""Where application and congestor stand in the four settings, and what is said of the runs."""

import numpy as np
import pytest

from wattline.cli.study_dragonfly import _print_endpoints
from wattline.network.packets import packet_book, packet_times
from wattline.network.topology import aries
from wattline.studies.dragonfly.congestor import _noise, _other_users, exchange_on
from wattline.studies.dragonfly.endpoints import (
    CONGESTOR_SIZES,
    SETTINGS,
    CanaryRun,
    SettingRun,
    nodes_of_setting,
    stalls_per_packet,
    summarize_settings,
)

HELD = np.arange(100, 148)


@pytest.mark.parametrize("shift", [0, 5, 40])
def test_the_settings_are_those_of_the_figure(shift):
    apart = {}
    for setting in SETTINGS:
        own, others = nodes_of_setting(setting, HELD, shift)
        assert len(set(own.tolist())) == 16
        assert len(set(others.tolist())) == (16 if setting in ("III", "IV") else 0)
        assert not set(own) & set(others)
        assert set(own) | set(others) <= set(HELD)
        shared = {node // 4 for node in own} & {node // 4 for node in others}
        apart[setting] = len(shared)
    assert apart["IV"] >= 8  # nearly every router of the application has a congestor
    assert apart["III"] <= 2


def test_one_to_all_puts_come_from_one_of_four_fifths_of_the_nodes():
    noise = _noise(np.arange(10), "one-to-all")
    assert noise.nodes.tolist() == list(range(8))
    assert set(noise.node_of_task[noise.traffic.source]) == {0}
    assert set(noise.node_of_task[noise.traffic.target]) == set(range(1, 8))


def test_other_users_stand_on_nodes_that_are_not_held():
    machine = aries(groups=2, rows=2, columns=4)
    held = np.arange(10, 20)
    jobs = _other_users(machine, held, np.random.default_rng(1))
    used = np.concatenate([job.nodes for job in jobs])
    assert len(used) == len(set(used.tolist())) == 32
    assert not set(used) & set(held)


def test_stalls_are_those_of_the_routers_of_the_job():
    machine = aries(groups=2, rows=2, columns=2, links_per_group_pair=1)
    nodes = np.arange(8)
    work = exchange_on(np.arange(16), "all-to-all", 1, 4096.0)
    found = packet_times(packet_book(machine), [work], np.random.default_rng(1))
    assert stalls_per_packet(machine, found, nodes) >= 0.0
    assert stalls_per_packet(machine, found, np.arange(28, 32)) <= stalls_per_packet(
        machine, found, nodes)


def test_medians_and_correlations(capsys):
    runs = [[SettingRun(name, time * (1 + 0.1 * k), 1e-9 * time)
             for name, time in zip(SETTINGS, (1.0, 1.1, 2.0, 5.0), strict=True)] for k in range(3)]
    canaries = [[CanaryRun(size, 1.0 - 0.005 * size, 1e-9 * size) for size in CONGESTOR_SIZES]]
    found = summarize_settings(runs, canaries)
    assert found["execution"]["HPCG"]["IV"] == 1.0
    assert found["execution"]["miniMD"]["IV"] == pytest.approx(1 + 0.832 * 4)
    assert found["correlation_time_stalls"] > 0.9
    assert found["correlation_bandwidth_stalls"] == pytest.approx(-1.0)
    _print_endpoints(found)
    assert "correlation of time and stalls" in capsys.readouterr().out
