"""Every shortest way of every network is found, up to the number asked for."""

import numpy as np
import pytest
from tests.support.thinned import crossed

from wattline.model.kernel import Kernel
from wattline.network.config import load_machine
from wattline.network.flows import flow_times
from wattline.network.kernels import paths
from wattline.network.kernels.paths import find_paths
from wattline.network.load import load_exchange, measure_load
from wattline.network.routes import RouteBook, Routes
from wattline.network.topology import aries, dragonfly, dragonfly_plus, fat_tree, torus
from wattline.network.topology.base import build
from wattline.network.ways import most_ways
from wattline.network.wiring import wire

NETWORKS = {
    "dragonfly": lambda: dragonfly(2, 2, 5),
    "dragonfly, relative": lambda: dragonfly(1, 4, 5, global_ports=3, arrangement="relative"),
    "dragonfly, circulant": lambda: dragonfly(1, 3, 7, global_ports=4, arrangement="circulant"),
    "dragonfly+": lambda: dragonfly_plus(2, 2, 2, 3),
    "dragonfly+, many links": lambda: dragonfly_plus(2, 3, 4, 3, global_ports=3),
    "aries": lambda: aries(groups=2, rows=2, columns=4),
    "aries, few links": lambda: aries(groups=3, rows=3, columns=4, links_per_group_pair=2),
    "fat-tree 4": lambda: fat_tree(4),
    "fat-tree 4, 3 a leaf": lambda: fat_tree(4, nodes_per_leaf=3),
    "fat-tree 6, 4 a leaf": lambda: fat_tree(6, nodes_per_leaf=4),
    "fat-tree 10 of two levels": lambda: fat_tree(10, levels=2),
    "fat-tree 8 of two levels, 5 a leaf": lambda: fat_tree(8, levels=2, nodes_per_leaf=5),
    "ring": lambda: torus((7,), 1),
    "torus 4 x 4": lambda: torus((4, 4), 1),
    "torus 3 x 5 x 2": lambda: torus((3, 5, 2), 1),
}
LARGE = {
    "dragonfly of 272 nodes": lambda: dragonfly(4, 4, 17),
    "dragonfly+ of 576 nodes": dragonfly_plus,
    "aries of 768 nodes": lambda: aries(groups=2, links_per_group_pair=24),
    "fat-tree 8, 5 a leaf": lambda: fat_tree(8, nodes_per_leaf=5),
    "fat-tree 8, 7 a leaf": lambda: fat_tree(8, nodes_per_leaf=7),
    "torus 8 x 8": lambda: torus((8, 8), 1),
    "torus 4 x 4 x 4": lambda: torus((4, 4, 4), 1),
}
TREE = ("SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=s2 Nodes=n[8-9]\n"
        "SwitchName=m Switches=s[0-1]\nSwitchName=top Switches=m,s2\n")


def counted(network):
    """Hops and shortest ways of all pairs, by powers of matrices.

    Within a group by its own links; between groups, where there are any, by one link between them.
    """
    inside, across = np.zeros((2, network.routers, network.routers))
    same = network.router_group[network.link_from] == network.router_group[network.link_to]
    same |= not network.is_dragonfly
    inside[network.link_from[same], network.link_to[same]] = 1
    across[network.link_from[~same], network.link_to[~same]] = 1
    hops = np.full(inside.shape, -1)
    ways = np.zeros(inside.shape)
    walks, crossing = np.eye(network.routers), np.zeros(inside.shape)
    length = 0
    while (hops < 0).any():
        fresh = (hops < 0) & (walks + crossing > 0)
        hops[fresh], ways[fresh] = length, (walks + crossing)[fresh]
        # A walk that is one link longer goes on inside, or crosses now.
        crossing = crossing @ inside + walks @ across
        walks = walks @ inside
        length += 1
    return hops, ways


def check_every_way(network, bound):
    hops, ways = counted(network)
    every = np.arange(network.routers**2)
    source, target = np.divmod(every, network.routers)
    routes = Routes(*find_paths(wire(network), source, target, bound, 0))
    found = np.diff(routes.path_start)
    assert np.array_equal(found, np.minimum(bound, ways).ravel())
    for pair in every.tolist():
        listed = [tuple(routes.link[routes.link_start[q]:routes.link_start[q + 1]].tolist())
                  for q in range(routes.path_start[pair], routes.path_start[pair + 1])]
        assert len(set(listed)) == len(listed)
        for path in listed:
            here = source[pair]
            for link in path:
                assert network.link_from[link] == here
                here = network.link_to[link]
            assert here == target[pair]
            assert len(path) == hops[source[pair], target[pair]]


@pytest.mark.parametrize(("name", "bound"), crossed(
    list(NETWORKS), [3, 24], later=pytest.mark.long))
def test_every_way_is_found_once(name, bound):
    check_every_way(NETWORKS[name](), bound)


def check_most_ways(network):
    holding = np.unique(network.node_router)
    most = int(counted(network)[1][np.ix_(holding, holding)].max())
    assert most_ways(network, wire(network)) == most
    return most


@pytest.mark.parametrize("name", NETWORKS)
def test_the_most_ways_of_a_pair_are_counted(name):
    check_most_ways(NETWORKS[name]())


@pytest.mark.compiled
@pytest.mark.parametrize("name", LARGE)
def test_the_most_ways_of_a_pair_of_a_large_network_are_counted(name):
    check_most_ways(LARGE[name]())


@pytest.mark.compiled
def test_theta_has_36_ways_at_most():
    assert check_most_ways(load_machine("theta")) == 36


def test_an_aries_network_says_that_pairs_use_four_ways():
    network = NETWORKS["aries, few links"]()
    found = measure_load(network, "uniform", routing="minimal", model="flow", messages=4)
    assert any("up to 8 shortest ways; each uses 4 of them" in remark for remark in found.remarks)


@pytest.mark.compiled
@pytest.mark.parametrize("name", LARGE)
def test_every_way_of_a_large_network_is_found_once(name):
    check_every_way(LARGE[name](), 64)


def test_every_way_of_a_slurm_tree_is_found(tmp_path):
    path = tmp_path / "topology.conf"
    path.write_text(TREE)
    check_every_way(load_machine(str(path)), 4)


@pytest.mark.parametrize(("network", "source", "target"), [
    (fat_tree(8), 0, 8), (fat_tree(8, nodes_per_leaf=5), 0, 7), (torus((4, 4), 1), 0, 10)])
def test_few_of_many_ways_begin_with_different_links(network, source, target):
    """As many as the source has links that lead nearer: 4, 3 and 4."""
    begins = int(np.sum(network.link_from == source))
    found = Routes(*find_paths(wire(network), np.array([source]), np.array([target]), begins, 0))
    assert len(set(found.link[found.link_start[:-1]].tolist())) == begins


def test_pairs_take_other_ways_where_not_all_are_given():
    network = torus((4, 4), 1)
    source = np.arange(16)
    found = Routes(*find_paths(wire(network), source, (source + 10) % 16, 2, 0))
    first = network.link_to[found.link[found.link_start[:-1]]] - np.repeat(source, 2)
    assert len(set((first % 16).tolist())) > 2


@pytest.mark.compiled
def test_ways_beyond_counting_are_still_spread():
    """Forty stages of ten routers, each joined to all of the next: 10^40 ways from end to end."""
    stage = np.repeat(np.arange(42), [1, *[10] * 40, 1])
    cables = [(one, other, 0, 8.0) for one in range(402) for other in range(one + 1, 402)
              if stage[other] == stage[one] + 1]
    network = build("stages", "fat-tree", node_router=np.array([0, 401]),
                    router_group=np.zeros(402), cables=cables, node_gbit_s=8.0)
    found = Routes(*find_paths(wire(network), np.array([0]), np.array([401]), 60, 0))
    listed = found.link.reshape(60, 41)
    assert len({tuple(path) for path in listed.tolist()}) == 60
    assert np.unique(listed[:, 0], return_counts=True)[1].tolist() == [6] * 10


@pytest.mark.parametrize(("ports", "nodes", "limit"), [(4, 3, 1 / 3), (6, 4, 1 / 2)])
def test_a_tapered_leaf_sends_what_its_links_carry(ports, nodes, limit):
    network = fat_tree(ports, nodes_per_leaf=nodes)
    found = measure_load(network, "adversarial", routing="minimal", model="flow", messages=48)
    assert found.limit == pytest.approx(limit)
    assert found.throughput == pytest.approx(limit, rel=0.02)
    assert found.remarks == ()


def test_a_flow_divides_evenly_over_ways_that_eight_is_no_multiple_of():
    network = fat_tree(12, levels=2)
    exchange = load_exchange(network, "adversarial", 60)
    result = flow_times(RouteBook(network), [exchange], routing="minimal")
    used = result.link_bytes[:network.links]
    assert used == pytest.approx(used.mean())


@pytest.mark.compiled
def test_finding_a_way_counts_no_references():
    """Handing the arrays of a network from kernel to kernel takes most of the time otherwise."""
    counting = {name for name, value in vars(paths).items()
                if isinstance(value, Kernel) and value._options["_nrt"]}
    assert counting == {"find_paths", "measure_distance"}
