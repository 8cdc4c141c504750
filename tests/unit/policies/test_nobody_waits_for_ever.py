"""A job starts, or is refused with a reason: where placement, switching and claims meet limits."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.choices import planned
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.views.build import power_view
from wattline.physics.core_power import SANDY_BRIDGE
from wattline.physics.powercap import PowerCap
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.placement.bounded_setup import bounded
from wattline.results.verify.judge import verify
from wattline.scenario.build import Plan
from wattline.scenario.refusals import refusals


def play(cap_w, procs, limits_w, strategy=Strategy.SHUT):
    """A node draws 7 W idle and 22 W busy."""
    node = SANDY_BRIDGE.node_class(1, off_w=0.0, boot_s=60.0, shutdown_s=60.0)
    node = replace(node, boot_power_w=9.0, shutdown_power_w=8.0)
    machine = Machine.uniform(8, node, nodes_per_rack=4)
    count = len(procs)
    jobs = JobTable.build(submit_s=np.arange(count), run_s=np.full(count, 100.0),
                          requested_s=np.full(count, 100.0), procs=np.array(procs))
    cap = PowerCap(cap_w)
    policy = compose(admission=adaptive(machine, cap, strategy=strategy, jobs=jobs),
                     placement=bounded(power_view(machine, limits_w=limits_w), machine))
    run = simulate(jobs, machine, policy,
                   Rules(cap_w=cap.signal(machine.power_w_max), choose_nodes=True))
    return [run.ran.tolist(), run.placement.first.tolist(), run.time_above_cap_s,
            verify(run).sentences]


@pytest.mark.parametrize("cap_w", [80.0, 100.0])
def test_nodes_that_are_off_are_exchanged_for_those_of_a_rack_without_watts(cap_w: float) -> None:
    """The first rack has no watts beside idle nodes. Four or three nodes can be busy, and those
    with the highest numbers are switched off first: the whole other rack, where the job must run.
    """
    ran, first, above_s, wrong = play(cap_w, [3], {"rack0": 28.0})
    assert (ran, first, wrong) == ([True], [4], [])
    assert above_s == 0


def test_jobs_of_many_sizes_find_their_nodes_under_a_cap_and_bounds() -> None:
    ran, _, above_s, wrong = play(100.0, [3, 1, 4, 2, 3, 2, 4, 1], {"rack0": 43.0}, Strategy.MIX)
    assert (ran, above_s, wrong) == ([True] * 8, 0, [])


def bounded_and_moldable(rule: str) -> Plan:
    """Racks of four nodes, 280 W idle: 140 W are left in each, too few for one at full power."""
    limits = {f"rack{rack}": 420.0 for rack in range(4)}
    return planned(f"configure.{rule}", **{"machine.node_idle_w": 70.0},
                   **{"policy.placement": {"name": "bounded", "limits": limits}})


@pytest.mark.parametrize("rule", ["naive", "adaptive"])
def test_no_job_is_given_a_configuration_that_finds_no_nodes(rule: str) -> None:
    ready = bounded_and_moldable(rule)
    run = ready.run()
    assert any("of the 455 configurations of 'BT-MZ'" in each for each in ready.assumed)
    assert (run.ran | run.refused).all()
    assert run.ran.sum() > 20


def test_a_job_without_a_configuration_that_finds_nodes_is_refused_with_that_reason() -> None:
    """All cores without a cap are what the rule takes, whatever else the table has."""
    ready = bounded_and_moldable("traditional")
    run = ready.run()
    assert run.refused.all()
    said = refusals(ready, run, run.refused)
    assert "no nodes have the watts of any of its configurations" in said


@pytest.mark.parametrize("power", ["block", "wait", "watts", "dvfs"])
def test_claims_choose_no_option_above_all_caps_and_refuse_a_job_without_one(power: str) -> None:
    """Sixteen idle nodes draw 256 W. Under caps just above that most options never fit; slowed
    down, all do."""
    outcomes = set()
    for cap_w in (258.0, 262.0, 275.0):
        run = planned("configure.claims", **{"power.cap": cap_w, "policy.power": power}).run()
        assert (run.ran | run.refused).all(), cap_w
        assert run.time_above_cap_s == 0
        outcomes.add((bool(run.ran.any()), bool(run.refused.any())))
    assert len(outcomes) > 1 or power == "dvfs", "the caps are felt"
