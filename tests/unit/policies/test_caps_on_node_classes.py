"""A cap holds on nodes of several classes, and a job at a lower frequency stays slow there."""

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
from wattline.policies.admission.wait import Wait
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.regulation.none import NoRegulation
from wattline.scenario.build import plan
from wattline.scenario.load import changed, validate

THRIFTY = NodeClass("thrifty", cores=16, power_w_idle=112, power_w_active=352, speed=1.0)
HUNGRY = NodeClass("hungry", cores=16, power_w_idle=150, power_w_active=700, speed=2.0)


def table(count=80, seed=1):
    random = np.random.default_rng(seed)
    return JobTable.build(submit_s=np.sort(random.uniform(0, 2000, count)),
                          procs=16 * random.integers(1, 5, count),
                          run_s=random.uniform(50, 500, count))


@pytest.mark.parametrize("admission", ["block", "wait", "watts", "adaptive"])
@pytest.mark.parametrize("classes", [(THRIFTY, HUNGRY), (HUNGRY, THRIFTY)])
def test_the_cap_holds_whichever_nodes_a_job_gets(admission, classes):
    machine = Machine(groups=tuple(NodeGroup(node, 5) for node in classes))
    cap = PowerCap(0.7 * machine.power_w_max)
    chosen = {"block": Block(), "wait": Wait(30.0, 10), "watts": Watts(),
              "adaptive": adaptive(machine, cap)}[admission]
    policy = Composition(Fcfs(), Easy(), chosen, Requested(), FirstFit(), NoRegulation())
    run = simulate(table(), machine, policy,
                   Rules(cap_w=cap.signal(machine.power_w_max), choose_nodes=True))
    assert run.time_above_cap_s == 0
    assert run.ran.all()


def test_a_slow_job_on_fast_nodes_is_slower_there_too():
    """Under a cap that leaves only the lowest frequency a job takes 2.6/1.2 times as long."""
    machine = Machine(groups=(NodeGroup(THRIFTY, 2), NodeGroup(HUNGRY, 2)))
    jobs = JobTable.build(submit_s=[0.0], procs=[4 * 16], run_s=[100.0])
    idle_w = 2 * 112 + 2 * 150
    cap = PowerCap(idle_w + 4 * (700 - 150) / 3)
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
