"""Topologies: counts, arrangements, files of real machines, and what is refused."""

import lzma

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.network.config import build_topology, load_machine
from wattline.network.describe import describe
from wattline.network.load import measure_load
from wattline.network.picture import grid_lines, sketch
from wattline.network.routes import RouteBook
from wattline.network.topology import (
    LinkKind,
    aries,
    dragonfly,
    dragonfly_plus,
    fat_tree,
    torus,
)
from wattline.network.topology.files import read_codes, read_cray


@pytest.mark.parametrize("arrangement", ["absolute", "relative", "circulant"])
@pytest.mark.parametrize(("a", "g"), [(4, 17), (8, 17), (4, 33), (8, 33)])
def test_canonical_dragonfly(arrangement, a, g):
    made = dragonfly(4, a, g, arrangement=arrangement)
    assert (made.nodes, made.routers, made.groups) == (4 * a * g, a * g, g)
    crossing = made.link_kind == LinkKind.GLOBAL
    pairs = made.router_group[np.stack((made.link_from[crossing], made.link_to[crossing]))]
    # Exactly one link each way between every two groups, and equally many at every router.
    assert len(set(map(tuple, pairs.T.tolist()))) == g * (g - 1) == crossing.sum()
    at_router = np.bincount(made.link_from[crossing], minlength=made.routers)
    assert set(at_router) == {(g - 1) // a}
    assert (~crossing).sum() == g * a * (a - 1)


def test_arrangements_differ_and_follow_their_rule():
    def peers(arrangement):
        made = dragonfly(1, 4, 9, arrangement=arrangement)
        out = (made.link_kind == LinkKind.GLOBAL) & (made.link_from == 2 * 4)
        return sorted(made.router_group[made.link_to[out]].tolist())

    # Router 0 of group 2 has ports 0 and 1.
    assert peers("absolute") == [0, 1]
    assert peers("relative") == [3, 4]
    assert peers("circulant") == [1, 3]


def test_several_links_between_two_groups():
    made = dragonfly(2, 4, 5, global_ports=2, global_gbit_s=8.0)
    crossing = made.link_kind == LinkKind.GLOBAL
    assert made.cables == 5 * 6 + 2 * 10
    assert made.link_gbit_s[crossing].sum() == 2 * 2 * 10 * 8.0


def test_theta_from_its_cabling_and_from_codes_is_the_same_machine():
    cabling = read_cray(shared("dragonfly/theta.interconnect.xz"))
    codes = read_codes(shared("dragonfly/codes_intra-theta.bin"),
                       shared("dragonfly/codes_inter-theta.bin"))
    assert (cabling.groups, cabling.routers, cabling.nodes) == (9, 864, 3456)
    assert cabling.cables == codes.cables == (12960 + 12960 + 3456) // 2
    np.testing.assert_array_equal(cabling.link_from, codes.link_from)
    np.testing.assert_array_equal(cabling.link_to, codes.link_to)
    np.testing.assert_array_equal(cabling.link_gbit_s, codes.link_gbit_s)
    made = load_machine("theta")
    known, found = describe(cabling), describe(made)
    assert {**found, "name": ""} == {**known, "name": ""}  # counts, ports and bandwidths


def test_edison_has_fifteen_groups():
    found = read_cray(shared("dragonfly/links-edison.txt.xz"))
    assert (found.groups, found.routers, found.nodes) == (15, 1440, 5760)


def test_fat_tree_and_torus():
    tree = fat_tree(8)
    assert (tree.nodes, tree.routers) == (128, 80)
    assert set(np.bincount(tree.link_from).tolist()) == {4, 8}
    cube = torus((4, 3, 2), 2)
    assert (cube.nodes, cube.routers, cube.links) == (48, 24, 2 * (24 + 24 + 12))
    assert cube.levels == {"routers"}


def test_a_cable_that_ends_nowhere_is_refused(tmp_path):
    one = tmp_path / "one.interconnect.xz"
    lines = ["c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)",
             "c0-0c0s0a0l50(0:0:0) ptile -> processor",
             "c0-0c0s1a0l50(0:0:1) ptile -> processor"]
    one.write_bytes(lzma.compress("\n".join(lines).encode()))
    with pytest.raises(InputError, match=r"ports must come in pairs"):
        read_cray(one)


def test_a_line_that_is_no_cable_is_named(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("c0-0c0s0a0l50(0:0:0) ptile -> processor\nhello\n")
    with pytest.raises(InputError, match=r"bad.txt, line 2"):
        read_cray(bad)


def test_codes_files_of_other_machines_are_refused(tmp_path):
    """Groups of two routers: the pair 2-3 is inside one, so it cannot be a link between groups."""
    intra, inter = tmp_path / "intra.bin", tmp_path / "inter.bin"
    np.array([[0, 1, 0], [1, 0, 0]], dtype="<i4").tofile(intra)
    np.array([[0, 2], [2, 0], [2, 3], [3, 2]], dtype="<i4").tofile(inter)
    with pytest.raises(InputError, match=r"routers \[2, 3\] of one group"):
        read_codes(intra, inter, routers_per_group=2)


def test_odd_codes_file_is_refused(tmp_path):
    intra, inter = tmp_path / "intra", tmp_path / "inter"
    np.array([0, 1, 0, 1, 0, 0], dtype="<i4").tofile(intra)
    np.array([0, 2, 2], dtype="<i4").tofile(inter)
    with pytest.raises(InputError, match="not a multiple of 2"):
        read_codes(intra, inter, routers_per_group=2)
    np.array([0, 2], dtype="<i4").tofile(inter)
    with pytest.raises(InputError, match="ports must come in pairs"):
        read_codes(intra, inter, routers_per_group=2)


def test_not_connected_is_refused(tmp_path):
    intra, inter = tmp_path / "intra", tmp_path / "inter"
    np.array([0, 1, 0, 1, 0, 0], dtype="<i4").tofile(intra)
    # Groups 0 and 1 are joined, group 2 and 3 too, but nothing joins the two halves.
    np.array([0, 2, 2, 0, 4, 6, 6, 4], dtype="<i4").tofile(inter)
    with pytest.raises(InputError, match="not connected: 4 of 8 routers"):
        read_codes(intra, inter, routers_per_group=2)


@pytest.mark.parametrize(("table", "message"), [
    ({"topology": "hypercube"}, "topology 'hypercube' is unknown"),
    ({"topology": "dragonfly", "groops": 3}, "field 'groops' is unknown"),
    ({"topology": "dragonfly", "groups": "many"}, "must be a number"),
    ({"topology": "dragonfly", "groups": 2.5}, "must be a whole number"),
    ({"topology": "dragonfly", "groups": 0}, "groups is 0, must be above 0"),
    ({"topology": "dragonfly", "global_gbit_s": -1}, "global_gbit_s is -1"),
    ({"topology": "dragonfly", "groups": 17, "global_ports": 3}, "not connected all to all"),
    ({"topology": "dragonfly", "groups": 16, "arrangement": "circulant"}, "odd"),
    ({"topology": "dragonfly", "arrangement": "spiral"}, "arrangement 'spiral' is unknown"),
    ({"topology": "fat-tree", "ports": 7}, "an odd number"),
    ({"topology": "torus", "sizes": [4, 0]}, "sizes is 0"),
    ({"topology": "torus", "sizes": "4x4"}, "must be a list"),
    ({"topology": "aries", "links_per_group_pair": 0}, "not connected"),
    ({"topology": "cray"}, "needs the field 'file'"),
    ({"topology": "cray", "file": "no-such-file"}, "no-such-file: there is no such file"),
])
def test_bad_descriptions_are_refused_in_one_line(table, message):
    with pytest.raises(InputError, match=message) as caught:
        build_topology(table)
    assert "\n" not in str(caught.value)


def test_aries_rows_and_columns():
    made = aries(groups=2, rows=3, columns=4, links_per_group_pair=5)
    rows = made.link_kind == LinkKind.ROW
    columns = made.link_kind == LinkKind.COLUMN
    assert rows.sum() == 2 * 3 * 4 * 3
    assert columns.sum() == 2 * 4 * 3 * 2
    assert set(made.link_gbit_s[columns]) == {3 * 42.0}


def test_groups_of_rows_and_columns_are_drawn_as_grids():
    machine = aries(3, 6, 16, links_per_group_pair=4)
    rows, columns = grid_lines(machine, sketch(machine).router_xy)
    assert (len(rows), len(columns)) == (3 * 6, 3 * 16)
    np.testing.assert_allclose(rows[:, 1], rows[:, 3])  # level
    np.testing.assert_allclose(columns[:, 0], columns[:, 2])  # upright
    assert len(grid_lines(dragonfly(), sketch(dragonfly()).router_xy)[0]) == 0


def test_a_dragonfly_plus_has_its_nodes_on_leaves_and_its_global_links_on_spines():
    network = dragonfly_plus(2, 3, 2, 5)
    assert (network.nodes, network.routers, network.groups) == (30, 25, 5)
    place = np.arange(network.routers) % 5
    assert set(place[network.node_router]) == {0, 1, 2}
    across = network.link_kind == LinkKind.GLOBAL
    assert across.sum() == 2 * 10  # one cable between each two groups, both ways
    assert set(place[network.link_from[across]]) == {3, 4}
    assert (~across).sum() == 2 * 5 * 3 * 2
    routes, row = RouteBook(network).routes(np.array([0]), np.array([5]))
    paths = range(routes.path_start[row[0]], routes.path_start[row[0] + 1])
    hops = [routes.link_start[q + 1] - routes.link_start[q] for q in paths if routes.minimal[q]]
    assert set(hops) == {3}  # up to a spine, across, and down


def test_fat_trees_of_two_levels_with_other_leaves_and_a_taper():
    plain = fat_tree(4, levels=2)
    assert (plain.nodes, plain.routers, plain.links) == (8, 6, 2 * 4 * 2)
    tapered = fat_tree(4, levels=2, nodes_per_leaf=3, taper=2.0)
    assert tapered.nodes == 12
    assert set(tapered.link_gbit_s.tolist()) == {4.0}
    assert fat_tree(4, nodes_per_leaf=3).nodes == 4 * 2 * 3
    limit = measure_load(plain, "adversarial", routing="minimal", model="flow", messages=16).limit
    assert limit == pytest.approx(1.0)  # two spines carry what two nodes send
    for wrong in ({"levels": 4}, {"taper": 0.0}, {"nodes_per_leaf": -1}, {"nodes_per_leaf": 4}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            fat_tree(4, **wrong)


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("each", [2, 4, 6, 7])
def test_no_switch_of_a_fat_tree_has_more_links_than_ports(levels, each):
    tree = fat_tree(8, levels=levels, nodes_per_leaf=each)
    used = np.bincount(tree.link_from, minlength=tree.routers)
    used += np.bincount(tree.node_router, minlength=tree.routers)
    assert used.max() <= 8
    leaf = int(tree.node_router[0])
    assert np.sum(tree.link_from == leaf) == min(4, 8 - each)


def test_groups_are_those_with_nodes():
    """The switches at the top of a tree are in the middle of its picture, and no group to be in."""
    tree = fat_tree(4)
    found = describe(tree)
    assert (tree.groups, found["groups"], found["routers_per_group"]) == (5, 4, 4)
    drawn = sketch(tree)
    top = drawn.router_xy[tree.router_group == 4]
    assert np.allclose(top.mean(axis=0), 0.0)
    assert np.hypot(*drawn.router_xy[tree.router_group < 4].T).min() > np.hypot(*top.T).max()
