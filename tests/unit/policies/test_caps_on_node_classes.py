"""A cap holds on nodes of several classes, and a job at a lower frequency stays slow there."""

from itertools import combinations

import numpy as np
import pytest
from tests.support.choices import NETWORK, trace

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.physics.core_power import SANDY_BRIDGE
from wattline.physics.powercap import PowerCap
from wattline.policies.admission.adaptive_setup import adaptive
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.wait import Wait
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.regulation.none import NoRegulation
from wattline.results.verify.judge import verify
from wattline.scenario.build import plan
from wattline.scenario.load import changed, validate

THRIFTY = NodeClass("thrifty", cores=16, power_w_idle=112, power_w_active=352, speed=1.0)
HUNGRY = NodeClass("hungry", cores=16, power_w_idle=150, power_w_active=700, speed=2.0)
CPU = NodeClass("cpu", cores=16, power_w_idle=100, power_w_active=500)
GPU = NodeClass("gpu", cores=16, power_w_idle=700, power_w_active=3500)
CLASS_SIZES = {"cpu": (CPU, 100), "gpu": (GPU, 20)}


def table(count=80, seed=1):
    random = np.random.default_rng(seed)
    return JobTable.build(submit_s=np.sort(random.uniform(0, 2000, count)),
                          procs=16 * random.integers(1, 5, count),
                          run_s=random.uniform(50, 500, count))


def own_watts(jobs, seed=2):
    """The log says what each job draws: between the two classes' power, whichever nodes it gets."""
    each_w = np.random.default_rng(seed).uniform(300, 600, len(jobs))
    return jobs.with_columns(power_w=jobs.procs // 16 * each_w)


def ran_under(cap, machine, jobs, chosen):
    policy = Composition(Fcfs(), Easy(), chosen, Requested(), FirstFit(), NoRegulation())
    return simulate(jobs, machine, policy,
                    Rules(cap_w=cap.signal(machine.power_w_max), choose_nodes=True))


@pytest.mark.parametrize("jobs", [table(), own_watts(table())], ids=["by nodes", "own watts"])
@pytest.mark.parametrize("admission", ["block", "wait", "watts", "dvfs", "adaptive", "following"])
@pytest.mark.parametrize("classes", [(THRIFTY, HUNGRY), (HUNGRY, THRIFTY)])
def test_the_cap_holds_whichever_nodes_a_job_gets(admission, classes, jobs):
    machine = Machine(groups=tuple(NodeGroup(node, 5) for node in classes))
    cap = PowerCap(0.7 * machine.power_w_max)
    chosen = {"block": Block(), "wait": Wait(30.0, 10), "watts": Watts(),
              "dvfs": Dvfs(np.array([0.5, 1.0]), np.array([0.7, 1.0])),
              "adaptive": adaptive(machine, cap),
              "following": adaptive(machine, cap, follow=True)}[admission]
    run = ran_under(cap, machine, jobs, chosen)
    assert run.time_above_cap_s == 0
    assert run.ran.all()


@pytest.mark.parametrize("chosen", [Block(), Wait(30.0, 10), Watts()],
                         ids=["block", "wait", "watts"])
@pytest.mark.parametrize("own", [False, True], ids=["by nodes", "own watts"])
def test_a_job_is_refused_only_where_it_fits_on_no_choice_of_nodes(chosen, own):
    """Against every choice of nodes of three classes, one by one."""
    classes = (HUNGRY, THRIFTY, NodeClass("odd", cores=16, power_w_idle=300, power_w_active=500))
    counts = (2, 1, 2)
    machine = Machine(groups=tuple(map(NodeGroup, classes, counts)))
    nodes = [each for each, count in zip(classes, counts, strict=True) for _ in range(count)]
    idle_w = sum(node.power_w_idle for node in nodes)
    for count in (1, 2, 3, 4, 5):
        own_w = 310.0 * count if own else np.nan
        rises = [max((own_w if own else sum(node.power_w_active for node in taken))
                     - sum(node.power_w_idle for node in taken), 0.0)
                 for taken in combinations(nodes, count)]
        jobs = JobTable.build(submit_s=[0.0], procs=[count * 16], run_s=[100.0], power_w=[own_w])
        least_w = idle_w + min(rises)
        run = ran_under(PowerCap(least_w), machine, jobs, chosen)
        assert run.ran.all(), count
        assert run.power_w_peak <= least_w * (1 + 1e-9)
        if min(rises) > 0.0:
            assert ran_under(PowerCap(least_w - 1.0), machine, jobs, chosen).refused.all(), count


@pytest.mark.parametrize("classes", [(CPU, GPU), (GPU, CPU)], ids=["cpu first", "gpu first"])
@pytest.mark.parametrize("cap_w", [80e3, 84e3, 92.8e3, np.inf])
@pytest.mark.parametrize("admission", ["block", "wait", "watts", "dvfs", "adaptive"])
def test_watts_that_only_one_class_can_draw_are_judged_and_run_there(admission, cap_w, classes):
    """70 kW on 20 nodes are 3,500 W a node: on CPU nodes of 500 W nobody would draw them."""
    machine = Machine(groups=tuple(NodeGroup(*CLASS_SIZES[node.name]) for node in classes))
    jobs = JobTable.build(submit_s=[0.0], procs=[20 * 16], run_s=[100.0], power_w=[70e3])
    cap = PowerCap(min(cap_w, machine.power_w_max))
    chosen = {"block": Block(), "wait": Wait(30.0, 10), "watts": Watts(),
              "dvfs": Dvfs(np.array([0.5, 1.0]), np.array([0.7, 1.0])),
              "adaptive": adaptive(machine, cap)}[admission]
    run = ran_under(cap, machine, jobs, chosen)
    assert run.schedule.end_s.tolist() == [100.0]
    assert run.power_w_peak == pytest.approx(80e3)
    assert verify(run).sentences == []


@pytest.mark.parametrize("admission", ["block", "wait", "watts"])
def test_the_cap_is_used_up_to_the_smallest_job(admission):
    """A job of one CPU node needs 400 W, not the 2,800 W that it would on a GPU node."""
    machine = Machine(groups=(NodeGroup(GPU, 4), NodeGroup(CPU, 12)))
    count = 60
    jobs = JobTable.build(submit_s=np.zeros(count), procs=np.full(count, 16),
                          run_s=np.random.default_rng(3).uniform(50, 500, count))
    cap = PowerCap(0.5 * machine.power_w_max)
    chosen = {"block": Block(), "wait": Wait(30.0, 10), "watts": Watts()}[admission]
    run = ran_under(cap, machine, jobs, chosen)
    assert run.power_w_peak > cap.watts - 400.0
    assert run.time_above_cap_s == 0.0
    assert verify(run).sentences == []


def test_a_job_of_own_watts_draws_at_a_low_frequency_what_its_own_nodes_say():
    """1,800 W on four nodes, 524 W idle: the lowest frequency takes its part off what is above."""
    machine = Machine(groups=(NodeGroup(THRIFTY, 2), NodeGroup(HUNGRY, 2)))
    jobs = JobTable.build(submit_s=[0.0], procs=[4 * 16], run_s=[100.0], power_w=[1800.0])
    least = SANDY_BRIDGE.dynamic()[0]
    cap = PowerCap(524 + (1800 - 524) * least)
    run = ran_under(cap, machine, jobs, adaptive(machine, cap))
    assert run.power_w_peak == pytest.approx(524 + (1800 - 524) * least)


def test_where_cores_are_shared_the_idle_ones_are_counted_as_cores():
    """16 cores, 8 idle beside a job: the optimal frequency is the one that leaves them theirs."""
    machine = Machine.uniform(1, THRIFTY)
    share = SANDY_BRIDGE.dynamic()[4]
    cap = PowerCap(112 + 240 * share)
    jobs = JobTable.build(submit_s=[0.0, 0.0], procs=[8, 8], run_s=[100.0, 100.0])
    policy = Composition(Fcfs(), Easy(), adaptive(machine, cap, granularity="core"), Requested(),
                         Counted(), NoRegulation())
    run = simulate(jobs, machine, policy,
                   Rules(cap_w=cap.signal(machine.power_w_max), granularity="core"))
    assert run.schedule.start_s.tolist() == [0.0, 0.0]
    assert run.power_w_peak == pytest.approx(cap.watts)


def test_a_slow_job_on_fast_nodes_is_slower_there_too():
    """Under a cap that leaves only the lowest frequency a job takes 2.6/1.2 times as long."""
    machine = Machine(groups=(NodeGroup(THRIFTY, 2), NodeGroup(HUNGRY, 2)))
    jobs = JobTable.build(submit_s=[0.0], procs=[4 * 16], run_s=[100.0])
    idle_w = 2 * 112 + 2 * 150
    cap = PowerCap(idle_w + (2 * (352 - 112) + 2 * (700 - 150)) / 3)
    policy = Composition(Fcfs(), Easy(), adaptive(machine, cap), Requested(), FirstFit(),
                         NoRegulation())
    run = simulate(jobs, machine, policy,
                   Rules(cap_w=cap.signal(machine.power_w_max), choose_nodes=True))
    assert run.schedule.end_s[0] == pytest.approx(100 / SANDY_BRIDGE.speed()[0])
    rise_w = SANDY_BRIDGE.dynamic()[0] * (2 * (352 - 112) + 2 * (700 - 150))
    assert run.power_w_peak == pytest.approx(idle_w + rise_w)


def test_congestion_does_not_speed_up_a_job_at_a_low_frequency():
    given = NETWORK | {
        "policy.placement": "rdn", "power.cap": 1e6,
        "policy.power": {"name": "adaptive", "cpu_freq": "1200000-1200000"},
    }
    made = validate(changed({"name": "slow", "trace": {"file": "made"}}, given), "slow")
    ready = plan(made, trace("", 1, 12))
    run = ready.run()
    took_s = run.schedule.end_s - run.schedule.start_s
    slow_s = ready.jobs.run_s / SANDY_BRIDGE.speed()[0]
    assert np.all(took_s >= slow_s * (1 - 1e-9))
    assert np.any(took_s > slow_s * 1.01), "nothing was congested"


@pytest.mark.parametrize(("asked_s", "start_s"), [(8.0, 4.0), (9.0, 40.0)])
def test_a_job_passes_only_if_it_ends_in_time_on_the_slow_nodes_that_it_gets(
    asked_s: float, start_s: float
) -> None:
    """Job 1 has both fast nodes to 20 s, job 2 all four from then on, for 20 s. On a node of half
    the speed 8 s become 16, from 4 s to 20 s, and 9 s would end at 22 s."""
    fast, slow = NodeClass("fast", speed=1.0), NodeClass("slow", speed=0.5)
    machine = Machine((NodeGroup(fast, 2), NodeGroup(slow, 2)))
    jobs = JobTable.build(submit_s=[0, 1, 4], run_s=[20, 10, asked_s], procs=[2, 4, 1])
    policy = Composition(Fcfs(), Easy(), NoLimit(), Requested(), FirstFit(), NoRegulation())
    run = simulate(jobs, machine, policy, Rules(choose_nodes=True))
    assert run.schedule.start_s.tolist() == [0.0, 20.0, start_s]
    assert verify(run).findings == ()
