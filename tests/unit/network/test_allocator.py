"""Placements as plug-ins of the allocator, and congestion as the rate of running jobs."""


import numpy as np
import pytest
from tests.support.plain import in_plain

from wattline.engine.at_once import is_short
from wattline.engine.network import congestion
from wattline.engine.network_work import plain_network_s
from wattline.engine.prepare import Rules, prepare
from wattline.engine.simulate import made_ready, simulate
from wattline.engine.world import Nature
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.kernel import PLAIN
from wattline.model.machine import Machine, NodeClass
from wattline.network.fabric import (
    SENSITIVE,
    Behaviour,
    drawn_sensitive,
    fabric_for,
)
from wattline.network.placement import Placer, place_all
from wattline.network.topology import dragonfly, torus
from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition, place
from wattline.policies.memory import bound
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.placement.network.plug_ins import plug_in
from wattline.policies.regulation.none import NoRegulation

NETWORK = dragonfly(2, 4, 9)
MACHINE = Machine.uniform(72, NodeClass(power_w_idle=100, power_w_active=300))


def run(jobs, placement, network=NETWORK, machine=MACHINE, **behaviour):
    asked = Behaviour(**behaviour)
    made = plug_in(placement, fabric_for(placement, network, network.nodes, asked))
    policy = Composition(Fcfs(), Easy(), NoLimit(), Requested(), made, NoRegulation())
    nature = Nature(network=congestion(network, asked)) if asked.congestion else Nature()
    rules = Rules(choose_nodes=True, nature=nature,
                  logged={SENSITIVE: drawn_sensitive(jobs, asked)})
    return simulate(jobs, machine, policy, rules)


def nodes_of(found, job):
    placed = found.placement
    return sorted(node for k in np.flatnonzero(placed.job == job)
                  for node in range(placed.first[k], placed.first[k] + placed.count[k]))


def some_jobs(count=12, seed=0, names=()):
    rng = np.random.default_rng(seed)
    return JobTable.build(
        submit_s=np.sort(rng.integers(0, 500, count)).astype(float),
        run_s=rng.integers(200, 900, count).astype(float),
        procs=rng.integers(1, 40, count),
        application=rng.integers(0, len(names), count) if names else None,
        names={"application": names} if names else None,
    )


def test_every_placement_is_a_plug_in():
    """Of its own type, which the allocator knows how to ask."""
    for name, placing in PLACEMENTS.items():
        made = plug_in(name, fabric_for(name, NETWORK, 72))
        assert type(made).__name__ == placing.rule
        assert bool(placing.kernel) != bool(placing.counter)


def test_without_congestion_nothing_stretches_and_nodes_are_those_of_the_kernel():
    jobs = JobTable.build(submit_s=[0.0, 0.0, 0.0], run_s=[10.0, 10.0, 10.0], procs=[4, 8, 30])
    found = run(jobs, "level-spread", congestion=False)
    wanted = place_all(NETWORK, "level-spread", [4, 8, 30])
    for job in range(3):
        assert nodes_of(found, job) == sorted(wanted[job].tolist())
    np.testing.assert_array_equal(found.schedule.end_s - found.schedule.start_s, 10.0)


def test_congestion_stretches_jobs_and_costs_energy():
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[1000.0, 1000.0], procs=[36, 36])
    quiet = run(jobs, "level-spread", congestion=False)
    busy = run(jobs, "level-spread", node_traffic_gbit_s=8.0, communication_share=0.5)
    took = busy.schedule.end_s - busy.schedule.start_s
    assert np.all(took > 1000.0)
    assert busy.energy_j > quiet.energy_j
    # What is lost is the stretch at the active power of all nodes, no more and no less.
    assert busy.schedule.energy_j.sum() == pytest.approx(np.sum(took * 36 * 300))
    calm = run(jobs, "level-spread", node_traffic_gbit_s=8.0, sensitive_jobs=0.0)
    np.testing.assert_array_equal(calm.schedule.end_s - calm.schedule.start_s, 1000.0)


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_a_slowed_job_sends_the_same_messages_in_more_time(share):
    """On one link between two routers, what time and load have to be can be worked out."""
    jobs = JobTable.build(submit_s=[0.0], run_s=[1000.0], procs=[8])
    found = run(jobs, "simple", torus((2,), 4), Machine.uniform(8), node_traffic_gbit_s=8.0,
                communication_share=share).schedule
    # Half of what four nodes send crosses a link of 8 Gbit/s: it would be twice full. The job takes
    # 1 + share (load - 1) times as long, and sends so much less: a quadratic equation.
    expected = (1.0 - share + ((1.0 - share) ** 2 + 8.0 * share) ** 0.5) / 2.0
    assert found.end_s[0] == pytest.approx(1000.0 * expected, rel=0.01)


def test_a_job_speeds_up_again_when_its_neighbour_ends():
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[1000.0, 100.0], procs=[36, 36])
    alone = JobTable.build(submit_s=[0.0], run_s=[1000.0], procs=[36])
    options = {"node_traffic_gbit_s": 8.0, "communication_share": 0.5}
    both, single = run(jobs, "level-spread", **options), run(alone, "level-spread", **options)
    first = both.schedule.end_s[0] - both.schedule.start_s[0]
    unshared = single.schedule.end_s[0] - single.schedule.start_s[0]
    assert first > unshared
    # Only while the short job runs does it lose: no more than the short job's stretched life.
    assert first - unshared < both.schedule.end_s[1] - both.schedule.start_s[1]


def test_profiles_say_who_suffers():
    jobs = some_jobs(8, names=("HPCG", "miniMD"))
    found = run(jobs, "level-spread", seed=2)
    stretch = (found.schedule.end_s - found.schedule.start_s) / jobs.run_s
    calm = jobs.application == 0
    np.testing.assert_allclose(stretch[calm], 1.0)
    assert stretch[~calm].max() > 1.0


def test_machine_and_network_must_agree():
    with pytest.raises(InputError, match="has 70 nodes and network 'dragonfly-72' has 72"):
        fabric_for("simple", NETWORK, 70)
    with pytest.raises(InputError, match="communication_share is 2"):
        Behaviour(communication_share=2)
    with pytest.raises(InputError, match="must be from 0 to"):
        Behaviour(node_traffic_gbit_s=-1.0)


START = """
import numpy as np
from wattline.model.jobs import JobTable
from tests.unit.network.test_allocator import nodes_of, run, some_jobs
"""


@pytest.mark.compiled
@pytest.mark.long  # half a minute each; test_compiled_choices.py compares one
@pytest.mark.parametrize("placement", ["level-spread", "nedd"])
def test_compiled_and_plain_agree(placement):
    """Print where jobs go, how congestion stretches them, and what NeDD reads of their traffic."""
    behaviour = {"node_traffic_gbit_s": 6.0, "sensitive_jobs": 0.7}
    ends, nodes, energy_j = in_plain(START + f"""
found = run(some_jobs(), {placement!r}, **{behaviour!r})
result = [found.schedule.end_s.tolist(),
          [[int(node) for node in nodes_of(found, job)] for job in range(12)],
          float(found.energy_j)]
""")
    found = run(some_jobs(), placement, **behaviour)
    stretch = (found.schedule.end_s - found.schedule.start_s) / some_jobs().run_s
    assert stretch.max() > 1.0  # or it would say nothing about congestion
    assert [nodes_of(found, job) for job in range(12)] == nodes
    np.testing.assert_allclose(found.schedule.end_s, ends, rtol=1e-12)
    assert found.energy_j == pytest.approx(energy_j, rel=1e-12)


@pytest.mark.both_ways
def test_no_more_nodes_are_taken_than_are_free():
    """Kernels ask for enough free nodes, and compiled they would read on behind the last one."""
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[10.0, 10.0], procs=[6, 5])
    free = [3, 4, 20, 21, 71]
    rules = Rules(choose_nodes=True, logged={SENSITIVE: drawn_sensitive(jobs, Behaviour())})
    for name in PLACEMENTS if PLAIN else ("simple", "rrn", "nedd"):  # few are compiled
        state, _, _ = prepare(jobs, MACHINE, rules)
        made = bound(plug_in(name, fabric_for(name, NETWORK, 72, Behaviour())), 2)
        made.fabric.annotate(0, jobs, rules.logged)
        state.node_free[:] = 0
        state.node_free[free] = 1
        state.clock[0].free = len(free)
        assert not place(state, made, 0)  # one node too many: it waits
        assert np.flatnonzero(state.node_free).tolist() == free
        assert state.live[0].first_node == -1
        assert place(state, made, 1)  # and all that are left
        assert not state.node_free.any()
        placer = Placer(NETWORK, name)
        placer.free[:] = False
        placer.free[free] = True
        with pytest.raises(InputError, match="asks for 6 nodes, but only 5 of 72 are free"):
            placer.place(6)
        assert sorted(placer.place(5).tolist()) == free


def test_congestion_is_estimated_before_it_is_run_plain():
    """A kernel that takes longer as plain Python than the compiler takes waits for it."""
    def parts(count, **behaviour):
        jobs = some_jobs(count)
        asked = Behaviour(**behaviour)
        nature = Nature(network=congestion(NETWORK, asked)) if asked.congestion else Nature()
        rules = Rules(choose_nodes=True, nature=nature)
        return made_ready(jobs, MACHINE, Composition(
            Fcfs(), Easy(), NoLimit(), Requested(), FirstFit(), NoRegulation()), rules)

    few, many, quiet = parts(5), parts(600), parts(600, congestion=False)
    assert 0 < plain_network_s(few[0].jobs, few[2].network) < 10.0
    assert plain_network_s(many[0].jobs, many[2].network) > 10.0
    assert plain_network_s(quiet[0].jobs, quiet[2].network) == 0.0
    assert [is_short(each) for each in (few, many, quiet)] == [True, False, True]


def test_the_other_plug_ins():
    """Each places every job, and NeDD reads the traffic of running jobs."""
    jobs = JobTable.build(submit_s=[0.0, 1.0, 2.0], run_s=[100.0] * 3, procs=[3, 2, 2],
                          application=[0, 0, 1], names={"application": ("miniMD", "HPCG")})
    found = run(jobs, "nedd")
    first, quiet, busy = ({int(node) // 2 for node in nodes_of(found, job)} for job in range(3))
    # Without congestion, whose paths would be found anew for each of them.
    ended = {name: int(run(some_jobs(6), name, congestion=False).ran.sum()) for name in PLACEMENTS}
    assert not first & quiet  # sensitive: a quiet router
    # Not sensitive: the busiest router that has a free node, half taken by the first job.
    assert first & busy
    assert ended == dict.fromkeys(PLACEMENTS, 6)
