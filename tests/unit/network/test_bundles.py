"""Networks with more routers than all paths can be kept of."""

import numpy as np
import pytest
from tests.unit.network.test_allocator import run

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.network import bundles
from wattline.network.bundles import bundled
from wattline.network.topology import dragonfly, fat_tree

SMALL = dragonfly(2, 4, 9)


def test_a_network_that_is_small_enough_is_left_as_it_is():
    found = bundled(SMALL)
    assert found.topology is SMALL
    assert (found.each, found.remarks) == (1, ())


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(bundles, "MOST_ROUTERS", 30)
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 20)


def test_bundles_keep_nodes_groups_and_what_links_between_them_carry(few):
    found = bundled(SMALL)
    assert (found.each, found.topology.routers, found.topology.nodes) == (2, 18, 72)
    np.testing.assert_array_equal(found.topology.node_group, SMALL.node_group)
    across = found.bundle[SMALL.link_from] != found.bundle[SMALL.link_to]
    assert found.topology.link_gbit_s.sum() == pytest.approx(SMALL.link_gbit_s[across].sum())
    assert "36 routers: congestion is worked out between 18 bundles of up to 2" in found.remarks[0]


def test_switches_without_nodes_are_not_bundled_with_those_that_have_some(few):
    tree = fat_tree(6)
    found = bundled(tree)
    leaves = set(found.bundle[tree.node_router].tolist())
    others = sorted(set(range(tree.routers)) - set(tree.node_router.tolist()))
    assert leaves.isdisjoint(found.bundle[others].tolist())
    assert found.topology.routers <= 20


def test_more_groups_than_bundles_are_refused(few):
    with pytest.raises(InputError, match="works for up to 20 groups"):
        bundled(dragonfly(1, 2, 21, global_ports=10))


def test_jobs_hold_each_other_up_in_bundles_nearly_as_router_by_router(monkeypatch):
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[1000.0, 1000.0], procs=[36, 36])
    options = {"node_traffic_gbit_s": 8.0, "communication_share": 0.5}
    whole = run(jobs, "nedd", **options).schedule.end_s
    monkeypatch.setattr(bundles, "MOST_ROUTERS", 30)
    monkeypatch.setattr(bundles, "MOST_BUNDLES", 20)
    taken = run(jobs, "nedd", **options).schedule.end_s
    assert taken.min() > 1000.0
    np.testing.assert_allclose(taken, whole, rtol=0.25)
    assert not np.array_equal(taken, whole)
