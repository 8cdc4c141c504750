"""Places of application and congestor in the four settings, and what is said of the runs."""

import numpy as np
import pytest
from tests.support.printed import columns
from tests.support.thinned import mostly

from wattline.cli.study_dragonfly import _print_endpoints
from wattline.network.flows import Exchange
from wattline.network.packets import packet_book, packet_times
from wattline.network.topology import aries
from wattline.network.traffic import pattern
from wattline.studies.dragonfly import beside
from wattline.studies.dragonfly.beside import congestor, halos, other_users, run_beside
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


def test_one_to_all_puts_come_from_one_node():
    noise = congestor(np.array([7, 2, 9, 4]), "one-to-all", 3)
    assert set(noise.node_of_task[noise.traffic.source]) == {7}
    assert set(noise.node_of_task[noise.traffic.target]) == {2, 9, 4}


@pytest.mark.parametrize("times", [1, 3])
def test_a_congestor_of_all_to_all_has_one_message_of_a_task_under_way(times):
    noise = congestor(np.arange(3), "all-to-all", times)
    tasks = 3 * beside.TASKS_PER_NODE
    steps = noise.step.reshape(times, tasks * (tasks - 1))
    assert np.array_equal(np.unique(noise.step), np.arange((tasks - 1) * times))
    assert np.all(np.diff(steps, axis=0) == tasks - 1)
    sent = set(zip(noise.traffic.source.tolist(), noise.step.tolist(), strict=True))
    assert len(sent) == len(noise.step)


@pytest.mark.parametrize("iterations", [1, 4])
def test_an_application_waits_for_each_exchange_before_the_next(iterations):
    machine = aries(groups=2, rows=2, columns=4)
    book, nodes = packet_book(machine), np.arange(8)
    once, again = (float(packet_times(book, [halos(nodes, count)], np.random.default_rng(1),
                                      watched=0).time_s[0]) for count in (1, iterations))
    assert 0.8 * iterations <= again / once <= 1.2 * iterations


@pytest.mark.parametrize("kind", mostly(
    ["all-to-all", "one-to-all"], ["one-to-all"], pytest.mark.long))
def test_a_congestor_lasts_as_long_as_the_application(monkeypatch, kind):
    """It is made longer until it is not done before."""
    machine = aries(groups=2, rows=2, columns=4)
    work, nodes = halos(np.arange(0, 16, 2), 4), np.arange(1, 16, 2)
    asked = []

    def noise(times):
        asked.append(times)
        return congestor(nodes, kind, times)

    monkeypatch.setattr(beside, "FIRST_ROUNDS", 1)
    monkeypatch.setattr(beside, "NOISE_BYTES", 1024.0)
    monkeypatch.setattr(beside, "TASKS_PER_NODE", 1)
    result = run_beside(packet_book(machine), work, noise, (), 1)
    assert asked == [4**k for k in range(len(asked))]
    assert len(asked) > 1
    last = noise(asked[-1])
    sent = result.link_packets[machine.links + nodes].sum()
    assert 0 < sent < beside._packets(last) <= last.traffic.messages.sum()


def test_other_users_stand_on_nodes_that_are_not_held():
    machine = aries(groups=2, rows=2, columns=4)
    held = np.arange(10, 20)
    jobs = other_users(machine, held, np.random.default_rng(1))
    used = np.concatenate([job.nodes for job in jobs])
    assert len(jobs) == 1
    assert 2 <= len(used) == len(set(used.tolist())) <= 16
    assert not set(used) & set(held)
    job = jobs[0]
    for pair in zip(job.traffic.source.tolist(), job.traffic.target.tolist(), strict=True):
        assert abs(pair[0] - pair[1]) == len(used) // 2  # to and fro between two of them


def test_stalls_are_those_of_the_routers_of_the_job():
    machine = aries(groups=2, rows=2, columns=2, links_per_group_pair=1)
    nodes = np.arange(8)
    work = Exchange(np.arange(16), np.arange(16), pattern("all-to-all", 16), 4096.0)
    found = packet_times(packet_book(machine), [work], np.random.default_rng(1))
    assert stalls_per_packet(machine, found, nodes) >= 0.0
    assert stalls_per_packet(machine, found, np.arange(28, 32)) <= stalls_per_packet(
        machine, found, nodes)


def test_the_ratio_of_stalls_is_a_mean_over_links_and_then_over_routers():
    machine = aries(groups=2, rows=2, columns=2, links_per_group_pair=1)
    work = Exchange(np.arange(16), np.arange(16), pattern("all-to-all", 16), 8192.0)
    found = packet_times(packet_book(machine), [work], np.random.default_rng(1))
    ratios = []
    for router in (0, 1):
        of_links = [found.link_stall_s[link] / found.link_packets[link]
                    for link in np.flatnonzero(machine.link_from == router)
                    if found.link_packets[link]]
        ratios.append(np.mean(of_links))
    assert stalls_per_packet(machine, found, np.arange(8)) == pytest.approx(np.mean(ratios))


def test_medians_and_correlations(capsys):
    runs = [[SettingRun(name, time * (1 + 0.1 * k), 1e-9 * time, 0.1 * time)
             for name, time in zip(SETTINGS, (1.0, 0.9, 2.0, 5.0), strict=True)] for k in range(3)]
    canaries = [[CanaryRun(size, 1.0 - 0.005 * size, 1e-9 * size) for size in CONGESTOR_SIZES]]
    found = summarize_settings(runs, canaries)
    assert found["execution"]["HPCG"]["IV"] == 1.0
    assert found["execution"]["miniMD"]["IV"] == pytest.approx(1 + 0.832 * 4)
    assert found["execution"]["miniMD"]["II"] == pytest.approx(1 - 0.832 * 0.1)
    assert found["correlation_time_stalls"] == pytest.approx(1.0)
    assert found["correlation_time_stalled"] == pytest.approx(1.0)
    assert 0.9 < found["correlation_of_single_runs"] < 1.0
    assert found["correlation_bandwidth_stalls"] == pytest.approx(-1.0)
    _print_endpoints(found)
    said = capsys.readouterr().out
    assert "correlation of time and stalls" in said
    assert columns(said, "nodes of the congestor", "bandwidth of canaries over that alone") == [
        ("16", "0.92"), ("32", "0.84"), ("64", "0.68"), ("86", "0.57"), ("106", "0.47"),
        ("128", "0.36")]
