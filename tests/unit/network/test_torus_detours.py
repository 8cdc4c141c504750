"""Detours of tori against a count of their own: each third router alike, all ways alike."""

from collections import Counter, deque
from functools import cache

import numpy as np
import pytest

from wattline.network.flows import Exchange, flow_book, flow_times
from wattline.network.load import _model_remarks, load_exchange, measure_load, throughput_limit
from wattline.network.packets import packet_book
from wattline.network.topology import dragonfly, dragonfly_plus, torus
from wattline.network.traffic import Traffic

TORI = [((4, 4), 1), ((2, 3), 3), ((3, 5), 2), ((3, 3, 3), 1), ((6, 6), 1), ((7,), 1)]
MESSAGES = 40


def ways_from(network, start):
    """Hops and number of shortest ways to each router, by breadth-first search over pairs."""
    hops, ways, queue = {start: 0}, Counter({start: 1}), deque([start])
    while queue:
        here = queue.popleft()
        for there in network.link_to[network.link_from == here].tolist():
            if there not in hops:
                hops[there] = hops[here] + 1
                queue.append(there)
            if hops[there] == hops[here] + 1:
                ways[there] += ways[here]
    return hops, ways


def sent_by_pair(network, pattern):
    traffic = load_exchange(network, pattern, MESSAGES).traffic
    sent = Counter()
    for source, target, messages in zip(traffic.source, traffic.target, traffic.messages,
                                        strict=True):
        sent[int(network.node_router[source]), int(network.node_router[target])] += messages
    return {(here, there): amount for (here, there), amount in sent.items() if here != there}


def counted_load(network, pattern):
    """Messages that cross each link, pair by pair, third by third, link by link."""
    known = [ways_from(network, router) for router in range(network.routers)]

    @cache
    def share(here, there):
        hops, ways = known[here]
        part = np.zeros(network.links)
        for link, (one, other) in enumerate(zip(network.link_from.tolist(),
                                                network.link_to.tolist(), strict=True)):
            if hops[one] + 1 + known[other][0][there] == hops[there]:
                part[link] = ways[one] * known[other][1][there] / ways[there]
        return part

    load = np.zeros(network.links)
    for (here, there), amount in sent_by_pair(network, pattern).items():
        thirds = [third for third in range(network.routers) if third not in (here, there)]
        for third in thirds:
            load += amount / len(thirds) * (share(here, third) + share(third, there))
    return load


def listed_load(network, pattern):
    """The same when each pair draws from the detours that packets are given."""
    book = packet_book(network, "valiant")
    load = np.zeros(network.links)
    for (here, there), amount in sent_by_pair(network, pattern).items():
        routes, row = book.routes(np.array([here]), np.array([there]))
        paths = np.arange(routes.path_start[row[0]], routes.path_start[row[0] + 1])
        detours = paths[~routes.minimal[paths]]
        for path in detours:
            links = routes.link[routes.link_start[path]:routes.link_start[path + 1]]
            np.add.at(load, links, amount / len(detours))
    return load


@pytest.mark.parametrize("pattern", ["adversarial", "uniform"])
@pytest.mark.parametrize(("sizes", "nodes"), TORI)
def test_the_limit_of_valiant_is_that_of_the_count(sizes, nodes, pattern):
    network = torus(sizes, nodes)
    counted = counted_load(network, pattern)
    # Links of nodes and routers have one speed here, and no node gets more than one sends.
    expected = min(1.0, MESSAGES / counted.max())
    found = throughput_limit(network, load_exchange(network, pattern, MESSAGES), "valiant",
                             MESSAGES)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.compiled
@pytest.mark.parametrize("pattern", ["adversarial", "uniform"])
@pytest.mark.parametrize(("sizes", "nodes"), TORI)
def test_the_detours_of_packets_spread_as_the_count_says(sizes, nodes, pattern):
    network = torus(sizes, nodes)
    # A sample of each pair's ways leaves some links a little fuller.
    most = counted_load(network, pattern).max()
    assert listed_load(network, pattern).max() == pytest.approx(most, rel=0.15)


def test_each_third_router_is_used_as_often():
    network = torus((3, 5), 1)
    book = packet_book(network, "valiant")
    routes, row = book.routes(np.array([2]), np.array([11]))
    paths = np.arange(routes.path_start[row[0]], routes.path_start[row[0] + 1])
    assert np.count_nonzero(~routes.minimal[paths]) % (network.routers - 2) == 0


def test_a_torus_of_two_routers_has_no_third():
    network = torus((2,), 1)
    found = throughput_limit(network, load_exchange(network, "adversarial", 8), "valiant", 8)
    assert found == pytest.approx(1.0)


@pytest.mark.compiled
@pytest.mark.parametrize(("sizes", "nodes", "pattern", "limit"), [
    ((4, 4), 1, "adversarial", 0.875), ((2, 3), 3, "adversarial", 1 / 3),
    ((3, 5), 2, "adversarial", 0.361), ((6, 6), 1, "uniform", 0.648)])
def test_packets_come_near_the_limit(sizes, nodes, pattern, limit):
    found = measure_load(torus(sizes, nodes), pattern, routing="valiant")
    assert found.limit == pytest.approx(limit, rel=0.01)
    assert 0.8 * limit < found.throughput < 1.1 * limit


@pytest.mark.compiled
@pytest.mark.parametrize("routing", ["adaptive", "ugal"])
def test_looking_at_queues_loses_little_where_detours_do_not_help(routing):
    found = measure_load(torus((2, 3), 3), "adversarial", routing=routing)
    assert found.throughput > 0.9 / 3


def test_what_flows_do_differently_is_said_by_topology_and_model():
    books = [packet_book(network) for network in (torus((4, 4), 1), dragonfly(2, 2, 5))]
    on_torus, on_dragonfly = (_model_remarks(book, "valiant", "flow", 0.4, 0.3) for book in books)
    assert "on a torus" in on_torus[0]
    assert "on a torus" not in on_dragonfly[0]
    assert "flows know some of them alone" in on_torus[1]
    assert _model_remarks(books[0], "minimal", "flow", 0.3, 0.3) == ()


@pytest.mark.compiled  # half a second each as plain Python
@pytest.mark.parametrize(("sizes", "nodes"), [
    ((3, 3, 3), 1), ((2, 3), 3), ((3, 5), 2), ((7,), 1), ((4, 4), 1)])
@pytest.mark.parametrize("seed", [1, 2])
def test_flows_come_near_the_limit_of_valiant(sizes, nodes, seed):
    """A large flow uses all its detours alike: with eight of 75 some links were twice as full."""
    found = measure_load(torus(sizes, nodes), "adversarial", routing="valiant", model="flow",
                         seed=seed)
    assert 0.88 * found.limit < found.throughput <= found.limit


@pytest.mark.compiled  # a second each as plain Python
@pytest.mark.parametrize("routing", ["minimal", "valiant"])
def test_a_large_flow_is_divided_evenly_over_ways_that_weigh_alike(routing):
    network = torus((3, 3, 3), 1)
    nodes = np.array([0, 13])
    exchange = Exchange(nodes, nodes, Traffic(2, np.array([0]), np.array([1]), np.array([900.0])))
    book = flow_book(network, routing)
    carried = flow_times(book, [exchange], routing=routing).link_bytes[:network.links] / 1024
    routes, row = book.routes(np.array([0]), np.array([13]))
    paths = np.arange(routes.path_start[row[0]], routes.path_start[row[0] + 1])
    used = paths[routes.minimal[paths] == (routing == "minimal")]
    expected = np.zeros(network.links)
    for path in used:
        np.add.at(expected, routes.link[routes.link_start[path]:routes.link_start[path + 1]],
                  900 / len(used))
    assert carried == pytest.approx(expected)


@pytest.mark.parametrize(("groups", "ranges"), [(1, False), (2, False), (3, True)])
@pytest.mark.parametrize("routing", ["valiant", "adaptive"])
def test_ranges_are_said_of_networks_like_those_they_were_measured_on(groups, ranges, routing):
    network = dragonfly_plus(2, 2, 2, groups)
    said = " ".join(measure_load(network, model="flow", routing=routing, messages=4).remarks)
    assert ("flows know no queues: in long exchanges on dragonflies" in said) == ranges
    assert ("flows were held beside packets on 3 groups and more" in said) != ranges
