"""The flow model and the packet simulator: by hand on tiny networks, and against each other."""

import numpy as np
import pytest

from wattline.network import flows
from wattline.network.flows import HOP_S, Exchange, flow_book, flow_times
from wattline.network.kernels.messages import count_messages
from wattline.network.kernels.sharing import FEW, fair_rates, finish_times
from wattline.network.load import load_exchange
from wattline.network.packets import packet_book, packet_times
from wattline.network.placement import place_all
from wattline.network.routes import RouteBook, global_hops
from wattline.network.topology import aries, dragonfly, fat_tree, torus
from wattline.network.traffic import PATTERNS, from_matrix, map_tasks, pattern

compiled = pytest.mark.compiled
"""Of what takes plain Python a second and more: kernels that test_network_twins.py compares."""
SMALL = dragonfly(2, 4, 9, global_gbit_s=8.0)
FLOWS, PACKETS = flow_book(SMALL), packet_book(SMALL)


def exchange(nodes, name, size=1024.0, seed=0):
    nodes = np.asarray(nodes)
    traffic = pattern(name, 2 * len(nodes))
    tasks = map_tasks(nodes, traffic.tasks, "random", np.random.default_rng(seed))
    return Exchange(nodes, tasks, traffic, size)


def one_message(source, target, size=1024.0):
    traffic, _ = from_matrix([[0, 1], [0, 0]])
    nodes = np.array([source, target])
    return Exchange(nodes, nodes, traffic, size)


def between_nodes(work):
    """Messages that leave their node."""
    return sum(int(np.sum(w.node_of_task[w.traffic.source] != w.node_of_task[w.traffic.target]))
               for w in work)


@compiled
@pytest.mark.parametrize("machine", [SMALL, aries(3, 2, 4, 2, links_per_group_pair=4),
                                     torus((4, 3, 2)), fat_tree(4)])
def test_paths_lead_from_source_to_target(machine):
    book = RouteBook(machine)
    every = np.arange(machine.routers**2)
    routes, row = book.routes(every // machine.routers, every % machine.routers)
    for pair in every[:: max(1, len(every) // 500)]:
        source, target = divmod(int(pair), machine.routers)
        low, high = routes.path_start[row[pair]], routes.path_start[row[pair] + 1]
        assert high > low
        assert routes.minimal[low]
        seen = []
        for path in range(low, high):
            links = routes.link[routes.link_start[path]:routes.link_start[path + 1]]
            at = source
            for link in links:
                assert machine.link_from[link] == at
                at = machine.link_to[link]
            assert at == target
            seen.append(tuple(links.tolist()))
        # Detours by several third routers can be one way on a torus: it is taken as often.
        once = seen[:int(routes.minimal[low:high].sum())] if machine.kind == "torus" else seen
        assert len(set(once)) == len(once)


def test_minimal_paths_cross_one_global_link_and_detours_two():
    book = RouteBook(SMALL)
    every = np.arange(SMALL.routers**2)
    routes, _ = book.routes(every // SMALL.routers, every % SMALL.routers)
    crossed = global_hops(SMALL, routes)
    assert crossed[routes.minimal].max() == 1
    assert set(crossed[~routes.minimal]) == {2}
    length = np.diff(routes.link_start)
    assert length[routes.minimal].max() == 3
    assert length[~routes.minimal].max() <= 5


def test_max_min_rates_by_hand():
    # Link 0 holds 10 for flows 0 and 1; link 1 holds 100 for flows 1 and 2; flow 2 uses it twice.
    start = np.array([0, 1, 3, 4])
    link = np.array([0, 0, 1, 1], dtype=np.int32)
    use = np.array([1.0, 1.0, 1.0, 2.0])
    rate = fair_rates(start, link, use, np.ones(3, dtype=np.bool_), np.array([10.0, 100.0]))
    np.testing.assert_allclose(rate, [5.0, 5.0, 47.5])


def test_max_min_is_fair_on_random_networks():
    """Every flow has a full link on which no other flow has a higher rate."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        sizes = rng.integers(1, 4, 12)
        start = np.concatenate(([0], np.cumsum(sizes)))
        link = np.concatenate([rng.choice(8, size, replace=False) for size in sizes])
        capacity = rng.uniform(1, 5, 8)
        use = np.ones(len(link))
        rate = fair_rates(start, link.astype(np.int32), use, np.ones(12, dtype=np.bool_), capacity)
        load = np.bincount(link, np.repeat(rate, sizes), 8)
        assert np.all(load <= capacity * (1 + 1e-9))
        for flow in range(12):
            mine = link[start[flow]:start[flow + 1]]
            assert any(load[e] >= capacity[e] * (1 - 1e-9) and rate[flow] >= max(
                rate[other] for other in range(12)
                if e in link[start[other]:start[other + 1]]) * (1 - 1e-9) for e in mine)


def ends_on_one_link(sizes, window=0.05):
    """Return when flows of these sizes are done that share one link of capacity 1, each its own
    job."""
    count = len(sizes)
    return finish_times(np.arange(count + 1), np.zeros(count, dtype=np.int32), np.ones(count),
                        np.arange(count), np.asarray(sizes, dtype=float), count, np.ones(1),
                        window)


def test_flows_share_anew_when_one_ends():
    """Three until 3, two until 5, one until 6; and the link is never idle."""
    np.testing.assert_allclose(ends_on_one_link([1, 2, 3]), [3, 5, 6])
    assert ends_on_one_link(np.arange(1, 33))[-1] == pytest.approx(32 * 33 / 2)
    # Link 0 (capacity 1) for flows 0 and 1, link 1 (capacity 2) for flows 1 and 2. Flow 2 has
    # 3/2 until flow 1 ends at 4, and then 2; flow 0 has 1/2, and then 1.
    start, link = np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1], dtype=np.int32)
    found = finish_times(start, link, np.ones(4), np.arange(3), np.array([3.0, 2.0, 8.0]), 3,
                         np.array([1.0, 2.0]), 0.05)
    np.testing.assert_allclose(found, [5, 4, 5])


def test_many_flows_end_nearly_as_they_should():
    sizes = np.random.default_rng(5).uniform(1, 100, 6 * FEW)
    ordered = np.sort(sizes)
    waits = np.diff(ordered, prepend=0.0) * np.arange(len(sizes), 0, -1)
    exact = np.cumsum(waits)[np.argsort(np.argsort(sizes))]
    found = ends_on_one_link(sizes)
    assert np.abs(found / exact - 1).max() < 0.03
    assert found.max() == pytest.approx(sizes.sum(), rel=0.002)  # nothing is lost on the whole
    np.testing.assert_allclose(ends_on_one_link(sizes, 0.0), exact, rtol=1e-6)


@compiled
@pytest.mark.parametrize("routing", ["minimal", "adaptive"])
def test_one_message_alone(routing):
    """1 MB over 8 Gbit/s takes 1 ms, by flows and by packets, wherever the two nodes are."""
    for target in (1, 3, 40):
        work = one_message(0, target, 1e6)
        assert flow_times(FLOWS, [work], routing=routing).time_s[0] == pytest.approx(1e-3, rel=0.01)
        found = packet_times(PACKETS, [work], np.random.default_rng(1), routing=routing)
        assert found.time_s[0] == pytest.approx(1e-3, rel=0.01)


def test_one_packet_takes_its_hops():
    found = packet_times(PACKETS, [one_message(0, 1)], np.random.default_rng(1))
    # Up, then down: the head moves on after one hop time, the last link takes 1.024 us.
    assert found.time_s[0] == pytest.approx(1024 / 1e9 + HOP_S)
    assert (found.packets, found.hops) == (1, 0)


@compiled
def test_two_jobs_share_a_link_equally():
    """Two messages over the same minimal path take twice as long; detours bring relief."""
    # Nodes 0 and 1 sit on one router, nodes 40 and 41 on another one of another group.
    pair = [one_message(0, 40, 1e6), one_message(1, 41, 1e6)]
    alone = flow_times(FLOWS, pair[:1], routing="minimal").time_s[0]
    both = flow_times(FLOWS, pair, routing="minimal").time_s
    np.testing.assert_allclose(both, 2 * alone, rtol=0.01)
    assert np.all(flow_times(FLOWS, pair, routing="ugal").time_s < both)
    assert np.all(flow_times(FLOWS, pair).time_s <= both)
    relieved = packet_times(PACKETS, pair, np.random.default_rng(2)).time_s
    assert np.all(relieved < 0.9 * both)
    packets = packet_times(PACKETS, pair, np.random.default_rng(2), routing="minimal").time_s
    np.testing.assert_allclose(packets, both, rtol=0.02)


@compiled
def test_all_packets_arrive_and_links_carry_them_all():
    work = [exchange(range(0, 72, 2), "all-to-all"), exchange(range(1, 72, 2), "halo3d")]
    found = packet_times(PACKETS, work, np.random.default_rng(5))
    messages = between_nodes(work)
    assert found.packets == messages
    nodes = found.link_packets[SMALL.links:].reshape(2, SMALL.nodes)
    assert nodes[0].sum() == nodes[1].sum() == messages
    assert found.link_packets[:SMALL.links].sum() == found.hops
    assert np.all(found.time_s > 0)


def test_messages_of_patterns_and_of_loads_are_counted_by_one_program(monkeypatch):
    """Kernels are compiled anew for arrays that may be written; patterns are shared and may not."""
    given = []

    def count(*arguments):
        given.append([each.flags.writeable for each in arguments if isinstance(each, np.ndarray)])
        return count_messages(*arguments)

    monkeypatch.setattr(flows, "count_messages", count)
    for each in (exchange(range(8), "halo3d"), load_exchange(SMALL, "uniform", 2)):
        assert len(flows.gather(SMALL, [each]).job) > 0
        assert each.nodes.flags.writeable  # the caller's own array is left as it was
    assert given[0] == given[1]


def test_flow_bytes_are_conserved():
    work = [exchange(range(36), "fft3d"), exchange(range(36, 72), "halo2d")]
    found = flow_times(FLOWS, work)
    sent, received = found.link_bytes[SMALL.links:].reshape(2, SMALL.nodes)
    messages = between_nodes(work)
    assert sent.sum() == pytest.approx(1024 * messages)
    assert received.sum() == pytest.approx(1024 * messages)
    assert found.moving < 0.01
    assert np.all(found.time_s >= found.alone_s)


@compiled
def test_time_scales_with_message_size():
    small, large = (flow_times(FLOWS, [exchange(range(0, 72, 2), "halo3d26", size)]).time_s[0]
                    for size in (102400.0, 1024000.0))
    assert large / small == pytest.approx(10, rel=0.1)


@compiled
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize(("routing", "error"), [("adaptive", 0.4), ("ugal", 0.3)])
def test_flows_are_near_packets(name, routing, error):
    """The stated error holds on a small machine, for each of three placements."""
    for placement in ("simple", "rrn", "rdn"):
        placed = place_all(SMALL, placement, [24, 24, 12], seed=3)
        work = [exchange(nodes, name, seed=k) for k, nodes in enumerate(placed)]
        flows = np.mean([flow_times(flow_book(SMALL, routing), work, routing=routing, seed=s).time_s
                         for s in (1, 2, 3)], axis=0)
        packets = np.mean([packet_times(packet_book(SMALL, routing), work,
                                        np.random.default_rng(s), routing=routing).time_s
                           for s in (1, 2, 3)], axis=0)
        assert flows.mean() == pytest.approx(packets.mean(), rel=error)


@compiled
def test_a_watched_job_ends_the_run():
    work = [one_message(0, 40), exchange(range(2, 40), "all-to-all", 102400.0)]
    whole = packet_times(PACKETS, work[:1], np.random.default_rng(1))
    cut = packet_times(PACKETS, work, np.random.default_rng(1), watched=0)
    assert cut.time_s[0] >= whole.time_s[0]
    assert cut.link_packets.sum() < 0.5 * cut.packets


def test_jobs_on_one_node_do_not_communicate():
    traffic = pattern("all-to-all", 2)
    work = Exchange(np.array([5]), np.array([5, 5]), traffic)
    assert flow_times(FLOWS, [work]).time_s.tolist() == [0.0]
