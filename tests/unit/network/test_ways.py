"""All shortest ways of a network count: the bisection of fat-trees, tori and trees in theory."""

from math import comb

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.network import routes
from wattline.network.config import load_machine
from wattline.network.load import load_exchange, measure_load, throughput_limit
from wattline.network.packets import cables_of_links, packet_book
from wattline.network.routes import MOST_WAYS, RouteBook
from wattline.network.topology import dragonfly, fat_tree, torus
from wattline.network.ways import most_ways, spread
from wattline.network.wiring import wire

SLURM = "".join(f"SwitchName=s{leaf} Nodes=n[{16 * leaf:02}-{16 * leaf + 15:02}]\n"
                for leaf in range(4)) + "SwitchName=top Switches=s[0-3]\n"


def limit(network, pattern):
    return throughput_limit(network, load_exchange(network, pattern, 8), "minimal", 8)


@pytest.mark.compiled
@pytest.mark.parametrize("ports", [8, 16, 32, 64])
def test_a_fat_tree_has_its_full_bisection(ports):
    for pattern in ("uniform", "adversarial"):
        assert limit(fat_tree(ports, levels=2), pattern) == pytest.approx(1.0)
    assert limit(fat_tree(ports, levels=2, taper=2.0), "adversarial") == pytest.approx(0.5)


@pytest.mark.compiled
@pytest.mark.parametrize("ports", [4, 8, 16])
def test_three_levels_have_it_too(ports):
    assert limit(fat_tree(ports), "adversarial") == pytest.approx(1.0)
    assert limit(fat_tree(ports, taper=2.0), "adversarial") == pytest.approx(0.5)


def test_the_ways_of_a_pair_are_counted():
    for network, ways in ((fat_tree(4), 4), (fat_tree(12, levels=2), 6),
                          # Half round a torus of 4 x 4: either side, the steps in any order.
                          (torus((4, 4), 1), 2 * 2 * comb(4, 2)),
                          (dragonfly(2, 2, 5), 1)):
        assert most_ways(network, wire(network)) == ways


def test_all_ways_of_a_fat_tree_are_made_and_each_spine_gets_the_same():
    network = fat_tree(12, levels=2)
    book = RouteBook(network)
    routes, row = book.routes(np.array([0]), np.array([7]))
    links = [routes.link[routes.link_start[path]:routes.link_start[path + 1]]
             for path in range(routes.path_start[row[0]], routes.path_start[row[0] + 1])]
    assert {int(network.link_to[way[0]]) for way in links} == set(range(12, 18))
    assert book.remarks == ()
    load = spread(book.wiring, np.array([0]), np.array([7]), np.array([6.0]))
    assert load[load > 0] == pytest.approx(1.0)
    assert np.count_nonzero(load) == 12


def test_a_dragonfly_of_few_ways_looks_for_as_many_as_before():
    """Its detours depend on that number, so figures would move with it."""
    assert packet_book(dragonfly(2, 2, 5))._ways(100) == 4


def test_ways_that_are_left_out_are_said():
    book = RouteBook(torus((8, 8), 1))
    assert book.most_ways == 4 * comb(8, 4) > MOST_WAYS
    assert "280 shortest ways" in book.remarks[0]


def test_a_link_of_many_cables_has_the_buffers_of_all(tmp_path):
    path = tmp_path / "topology.conf"
    path.write_text(SLURM)
    network = load_machine(str(path))
    cables = cables_of_links(network)
    assert set(cables[:network.links]) == {16}
    assert set(cables[network.links:]) == {1}
    # A machine whose links are slower than those of its nodes keeps one buffer a link.
    assert set(cables_of_links(dragonfly(2, 2, 5))) == {1}


@pytest.mark.compiled
def test_packets_fill_the_links_of_a_slurm_tree(tmp_path):
    path = tmp_path / "topology.conf"
    path.write_text(SLURM)
    found = measure_load(load_machine(str(path)), "uniform", routing="minimal", messages=200)
    assert found.limit == pytest.approx(1.0)
    # Chance gives some targets more than others for a while; the rest is what the links allow.
    assert found.throughput > 0.8


def test_ways_that_do_not_fit_in_memory_are_refused(monkeypatch):
    network = dragonfly(2, 2, 5)
    pairs = 100 * (4 + 5)  # four shortest ways are looked for, and a detour by each group
    monkeypatch.setattr(routes, "MOST_CANDIDATES", pairs)
    packet_book(network).routes(np.array([0]), np.array([3]))
    monkeypatch.setattr(routes, "MOST_CANDIDATES", pairs - 1)
    with pytest.raises(InputError, match=r"100 pairs of .* up to 9 ways each"):
        packet_book(network).routes(np.array([0]), np.array([3]))


def test_a_network_of_too_many_routers_is_refused_before_its_ways_are_counted():
    with pytest.raises(InputError, match="22,500 routers, and ways between 506,250,000 pairs"):
        RouteBook(torus((150, 150), 1))
