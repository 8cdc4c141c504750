"""Detours of packets, and what they do to the load of a network."""

import json

import numpy as np
import pytest

from wattline.cli.main import main
from wattline.model.errors import InputError
from wattline.network.flows import Exchange
from wattline.network.load import load_exchange, measure_load
from wattline.network.packets import RULES, Rule, packet_book, packet_times, rule_of
from wattline.network.topology import dragonfly, fat_tree, torus
from wattline.network.traffic import Traffic

SMALL = dragonfly(2, 3, 4)


def result(exchange, routing, **options):
    return packet_times(packet_book(SMALL, options.pop("paths", routing)), [exchange],
                        np.random.default_rng(1), routing=routing, **options)


def one_message(count):
    """One node of the first group sends to one of the second."""
    traffic = Traffic(2, np.array([0]), np.array([1]), np.array([float(count)]))
    nodes = np.array([0, 6])
    return Exchange(nodes, nodes, traffic)


def test_a_packet_goes_the_direct_way_as_long_as_half_of_its_room_is_free():
    """One node cannot fill a link of its own rate, so queues stay short."""
    assert result(one_message(50), "adaptive").detoured == 0
    assert result(one_message(50), "valiant").detoured == 50


def test_a_higher_threshold_means_fewer_detours():
    exchange = load_exchange(SMALL, "adversarial", 20)
    taken = [result(exchange, "adaptive", rule=Rule(threshold)).detoured
             for threshold in (1.0, 2.0, 8.0)]
    assert taken[0] > taken[1] > taken[2] > 0


def test_ugal_is_the_rule_of_queue_times_hops_over_all_channels():
    exchange = load_exchange(SMALL, "adversarial", 20)
    ugal = result(exchange, "ugal")
    spelled = result(exchange, "adaptive", paths="ugal",
                     rule=Rule(1.0, one_channel=False, by_hops=True))
    assert ugal.detoured == spelled.detoured > 0
    assert ugal.time_s == spelled.time_s
    assert ugal.detoured != result(exchange, "adaptive", paths="ugal").detoured


def test_packets_detour_inside_a_group_but_not_under_ugal():
    """Every router to the next of its group: the direct links carry a half, with detours more."""
    nodes = np.arange(SMALL.nodes)
    target = nodes // 6 * 6 + (nodes % 6 + 2) % 6
    exchange = Exchange(nodes, nodes, Traffic(SMALL.nodes, nodes, target,
                                              np.full(SMALL.nodes, 20.0)))
    assert result(exchange, "ugal").detoured == 0
    adaptive = result(exchange, "adaptive")
    assert adaptive.detoured > 0
    assert adaptive.time_s[0] < 0.85 * result(exchange, "ugal").time_s[0]
    assert adaptive.hops == adaptive.packets + adaptive.detoured  # by one third router


@pytest.mark.parametrize(("call", "message"), [
    (lambda: Rule(0.5), "threshold is 0.5"),
    (lambda: rule_of("ugal", 3.0), "belongs to adaptive routing"),
    (lambda: rule_of("teleport"), "routing 'teleport' is unknown"),
    (lambda: measure_load(SMALL, model="flow", threshold=3.0), "look at no queues"),
    (lambda: measure_load(SMALL, "tornado"), "pattern 'tornado' is unknown"),
    (lambda: measure_load(SMALL, model="fluid"), "model 'fluid' is unknown"),
    (lambda: measure_load(SMALL, messages=0), "0 messages per node"),
    (lambda: measure_load(dragonfly(2, 4, 1), "adversarial"), "has one group"),
])
def test_what_has_no_meaning_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_threshold_of_its_own_stays_with_adaptive_routing():
    assert rule_of("adaptive", 3.0) == Rule(3.0)
    assert rule_of("adaptive") == RULES["adaptive"] == Rule(2.0)


@pytest.mark.parametrize("machine", [SMALL, torus((3, 3), 2), fat_tree(4)])
@pytest.mark.parametrize("pattern", ["uniform", "adversarial"])
def test_every_node_sends_and_receives_alike(machine, pattern):
    traffic = load_exchange(machine, pattern, 12).traffic
    for ends in (traffic.source, traffic.target):
        np.testing.assert_array_equal(np.bincount(ends, traffic.messages), 12.0)
    assert np.all(traffic.source != traffic.target)


@pytest.mark.parametrize("model", ["flow", "packet"])
def test_loads_meet_the_limits_of_theory(model):
    """One global link for the 6 nodes of a group; one node's link for the 23 others."""
    found = measure_load(SMALL, "adversarial", routing="minimal", model=model, messages=20)
    assert found.limit == pytest.approx(1 / 6)
    assert 0.95 / 6 < found.throughput <= 1 / 6
    incast = measure_load(SMALL, "incast", routing="minimal", model=model, messages=5)
    assert incast.limit == pytest.approx(1 / 23)
    assert 0.99 / 23 < incast.throughput <= 1 / 23
    aware = measure_load(SMALL, "incast", routing="adaptive", model=model, messages=5)
    assert aware.limit == incast.limit
    by_detours = measure_load(SMALL, "adversarial", routing="valiant", model=model, messages=20)
    assert 0.85 * by_detours.limit < by_detours.throughput <= 0.5
    uniform = measure_load(SMALL, "uniform", routing="minimal", model=model, messages=23)
    assert 0.7 * uniform.limit < uniform.throughput <= 1.001 * uniform.limit


def test_the_command_prints_what_the_packets_did(capsys, tmp_path):
    machine = tmp_path / "machine.toml"
    machine.write_text("[network]\nnodes_per_router = 2\nrouters_per_group = 3\ngroups = 4\n")
    with pytest.raises(SystemExit) as caught:
        main(["network", "load", str(machine), "--pattern", "adversarial", "--routing",
              "adaptive", "--threshold", "3", "--messages", "10", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert caught.value.code == 0
    assert 0.0 < found["throughput"] < 1.0
    assert found["threshold"] == 3.0
    assert found["limit"] is None
    assert 0.0 < found["detoured"] < 1.0
