"""Every placement gives free nodes, and each follows its own rule."""

import json
import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing

from wattline.model.errors import InputError
from wattline.network.jobfile import PlacedJob
from wattline.network.nodes import choose_nodes
from wattline.network.placement import Placer, Readings, check_placement, place_all
from wattline.network.topology import aries, dragonfly, dragonfly_plus, fat_tree, torus
from wattline.network.traffic import pattern
from wattline.network.trial import place_jobs, try_placement
from wattline.policies.placement.network.placements import PLACEMENTS

MACHINE = dragonfly(4, 4, 9)


def place(name, sizes, taken=(), **options):
    placer = Placer(MACHINE, name, **options)
    placer.free[list(taken)] = False
    return [placer.place(size).tolist() for size in sizes]


@given(taken=st.sets(st.integers(0, 143)), wanted=st.integers(1, 144), seed=st.integers(0, 5),
       name=st.sampled_from(sorted(PLACEMENTS)))
@costing(5)
def test_any_placement_gives_free_nodes_once(taken, wanted, seed, name):
    rng = np.random.default_rng(seed)
    readings = Readings(rng.integers(0, 3, 36).astype(float), rng.random(36))
    placer = Placer(MACHINE, name, seed, readings)
    placer.free[list(taken)] = False
    free = set(np.flatnonzero(placer.free).tolist())
    if wanted > len(free):
        with pytest.raises(InputError, match="are free"):
            placer.place(wanted)
        return
    chosen = placer.place(wanted)
    assert len(set(chosen.tolist())) == wanted
    assert set(chosen.tolist()) <= free
    assert not placer.free[chosen].any()
    assert int(placer.free.sum()) == len(free) - wanted


def test_the_example_of_level_spread():
    """Three jobs on 9 groups of 4 x 4: one router, one group in turn, then all groups in turn."""
    first, second, third = place("level-spread", [4, 8, 54])
    assert first == [0, 1, 2, 3]
    assert second == [16, 20, 24, 28, 17, 21, 25, 29]  # the first group that is wholly idle
    groups = np.bincount(np.array(third) // 16, minlength=9)
    assert set(groups) == {6}
    assert sorted(third)[:6] == [4, 5, 6, 7, 8, 9]


def test_level_spread_takes_the_most_idle_router():
    taken = [node for node in range(144) if node % 4 != 3 and node != 64]
    assert place("level-spread", [2], taken) == [[64, 67]]


def test_simple_and_slurm():
    assert place("simple", [3, 3]) == [[0, 1, 2], [3, 4, 5]]
    assert place("slurm", [3, 3, 2]) == [[0, 1, 2], [4, 5, 6], [8, 9]]
    # Nothing fits: routers with the fewest idle nodes are used up first.
    assert place("slurm", [6], taken=[0, 4, 5, 8, 9, 10]) == [[11, 6, 7, 1, 2, 3]]


def test_round_robin():
    assert place("rrn", [11]) == [[0, 16, 32, 48, 64, 80, 96, 112, 128, 1, 17]]
    assert place("rrr", [10]) == [[0, 1, 2, 3, 16, 17, 18, 19, 32, 33]]


def test_random_placements_follow_their_unit_and_their_seed():
    (group,) = place("rdg", [16], seed=4)
    assert len({node // 16 for node in group}) == 1
    (routers,) = place("rdr", [16], seed=4)
    assert len({node // 4 for node in routers}) == 4
    assert place("rdn", [30], seed=4) == place("rdn", [30], seed=4) == place("random", [30], seed=4)
    assert place("rdn", [30], seed=4) != place("rdn", [30], seed=5)


def test_random_nodes_are_drawn_evenly():
    counts = np.zeros(144)
    for seed in range(600):
        counts[place("rdn", [24], seed=seed)[0]] += 1
    # 100 expected each, with a standard deviation below 10.
    assert counts.min() > 60
    assert counts.max() < 140


def test_jokanovic_serves_small_and_large_from_two_ends():
    small, large, next_small = place("jokanovic", [5, 20, 12])
    assert small == [0, 1, 2, 3, 4]
    assert large == list(range(143, 123, -1))
    assert next_small == list(range(16, 28))  # 11 are left in the first group


def test_nedd_gives_quiet_routers_to_sensitive_jobs():
    traffic = np.arange(36, 0, -1).astype(float)
    readings = Readings(traffic, np.roll(traffic, 5))
    placer = Placer(MACHINE, "nedd", readings=readings)
    assert placer.place(6, sensitive=True).tolist() == [136, 137, 140, 141, 142, 143]
    assert placer.place(4, sensitive=False).tolist() == [0, 1, 2, 3]
    low = Placer(MACHINE, "low-stall-router", readings=readings)
    assert low.place(4).tolist() == [16, 17, 18, 19]
    high = Placer(MACHINE, "high-traffic-router", readings=readings)
    assert high.place(5).tolist() == [0, 1, 2, 3, 4]


def test_fewer_routers_takes_idle_ones():
    taken = [0, 4, 8, 12]
    assert place("fewer-router", [6], taken) == [[16, 17, 18, 19, 20, 21]]


@given(taken=st.sets(st.integers(0, 39), max_size=39), wanted=st.integers(1, 40),
       leaves=st.sampled_from([8, 4]))
@costing(5)
def test_best_fit_takes_the_fewest_switches_of_a_tree(taken, wanted, leaves):
    """No choice of leaves has fewer, and no other leaf would do for the last part with less."""
    tree = fat_tree(leaves, levels=2, nodes_per_leaf=40 // leaves if leaves == 8 else 3)
    placer = Placer(tree, "best-fit")
    placer.free[[node for node in taken if node < tree.nodes]] = False
    idle = np.bincount(tree.node_router[placer.free], minlength=leaves)
    if wanted > idle.sum():
        return
    got = np.bincount(tree.node_router[placer.place(wanted)], minlength=leaves)
    fewest = min(count for count in range(1, leaves + 1)
                 if any(idle[list(each)].sum() >= wanted
                        for each in combinations(range(leaves), count)))
    assert np.count_nonzero(got) == fewest
    parts = np.flatnonzero((got > 0) & (got < idle))
    assert len(parts) <= 1
    for part in parts:
        others = idle[got == 0]
        assert not np.any((others >= got[part]) & (others < idle[part]))


def test_best_fit_stays_in_one_pod_of_a_deeper_tree():
    tree = fat_tree(8, levels=3)  # 8 pods of 4 leaves with 4 nodes each
    placer = Placer(tree, "best-fit")
    placer.free[:] = False
    placer.free[[0, 1, 2, 4, 5, 6, 8, 9, 10, *range(16, 22), *range(36, 40)]] = True
    assert placer.place(6).tolist() == [16, 17, 18, 19, 20, 21]  # two leaves: pod 0 needs two too
    assert placer.place(4).tolist() == [36, 37, 38, 39]
    assert placer.place(2).tolist() == [0, 1]
    assert placer.place(7).tolist() == [4, 5, 6, 8, 9, 10, 2]


@pytest.mark.parametrize(("machine", "placement"), [
    (MACHINE, "level-spread"), (aries(2, 2, 3, 2, links_per_group_pair=2), "level-spread"),
    (dragonfly_plus(2, 2, 2, 3), "level-spread"), (fat_tree(4), "best-fit"),
    (fat_tree(4, levels=2), "best-fit"), (torus((4, 4)), "simple"),
])
def test_each_kind_of_network_has_its_own_default(machine, placement):
    assert machine.placement == placement
    check_placement(machine.placement, machine)
    found = choose_nodes(machine, 3)
    assert found.placement == placement
    assert any(f"placement '{placement}' is taken" in remark for remark in found.remarks)
    named = choose_nodes(machine, 3, placement)
    assert named.nodes.tolist() == found.nodes.tolist()
    assert not any("is taken, the default" in remark for remark in named.remarks)


@pytest.mark.parametrize("taper", [2.0, 4.0])
def test_packets_are_faster_on_a_tree_under_its_default(taper):
    """By the packet model, which knows nothing of placements, over three mixes of jobs."""
    tree = fat_tree(8, levels=2, taper=taper)
    ratios = []
    for seed in (1, 2, 3):
        sizes = np.random.default_rng(seed).permutation([7, 6, 5, 5, 3, 3])
        jobs = [PlacedJob(f"j{n}", int(size), pattern("all-to-all", 2 * int(size)), 1024.0, True)
                for n, size in enumerate(sizes)]
        times = [[job.time_s for job in try_placement(
            tree, jobs, place_jobs(tree, jobs, name, seed=seed), name, routing="minimal",
            seed=seed, packets=True).jobs] for name in (tree.placement, "level-spread")]
        ratios.append(np.log(np.array(times[0]) / np.array(times[1])).mean())
    assert np.exp(np.mean(ratios)) < 0.9


def test_what_a_placement_needs():
    cube = torus((4, 4, 4))
    with pytest.raises(InputError, match="needs groups, and network 'torus-4x4x4' has none"):
        check_placement("level-spread", cube)
    check_placement("fewer-router", cube)
    check_placement("level-spread", fat_tree(4))
    with pytest.raises(InputError, match="placement 'best' is unknown"):
        check_placement("best", cube)


@pytest.mark.parametrize("machine", [fat_tree(4), aries(2, 2, 3, 2, links_per_group_pair=2)])
def test_other_networks_work_too(machine):
    for name in PLACEMENTS:
        placed = place_all(machine, name, [3, 5, 8])
        assert len({int(node) for nodes in placed for node in nodes}) == 16


def test_jobs_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="asks for 145 nodes, but network 'dragonfly-144' has"):
        place("simple", [145])
    with pytest.raises(InputError, match="only 44 of 144 are free"):
        place("simple", [100, 45])
    with pytest.raises(InputError, match="at least 1"):
        place("simple", [0])


ONE_JOB = """
import sys
from wattline.model import kernel
from wattline.network.nodes import choose_nodes
from wattline.network.topology import dragonfly

def load_compiler():  # to load it and to compile takes ten times as long as to place a job
    raise SystemExit("the compiler is asked for")

kernel.load_compiler = load_compiler
print(choose_nodes(dragonfly(4, 4, 9), 54, "level-spread", free="[3-120]").nodes.tolist())
"""


def test_one_job_is_placed_without_the_compiler(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ONE_JOB], text=True, capture_output=True, check=True, timeout=600,
        env={**os.environ, "WATTLINE_PLAIN": "0", "XDG_CACHE_HOME": str(tmp_path)})
    assert json.loads(done.stdout) == choose_nodes(MACHINE, 54, "level-spread",
                                                   free="[3-120]").nodes.tolist()
