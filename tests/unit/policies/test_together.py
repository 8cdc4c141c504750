"""Choices that would break each other's books are refused before anything is run."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.choices import CASES, RACKS, planned
from tests.support.plain import in_plain
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.signal import Signal
from wattline.model.views.build import power_view
from wattline.policies.admission.lending import Lending
from wattline.policies.placement.bounded_setup import bounded
from wattline.policies.regulation.setup import POLICIES, Plan, axes, make_desk

MACHINE = Machine.uniform(8, nodes_per_rack=4)
JOBS = JobTable.build(submit_s=[0, 1], run_s=[10, 10], procs=[4, 4])
BOUNDED = bounded(power_view(MACHINE, limits_w={"rack0": 700}), MACHINE)


def regulation(name: str):
    plan = Plan(0.0, 100.0, signal=Signal.constant(0.0), average_w=np.array([3000.0]),
                reserve_w=np.array([500.0]))
    types = {"servers": [4], "time_s_min": [9.0], "time_s_max": [10.0], "power_w_max": [300.0],
             "power_w_min": [200.0], "threshold": [1.0]}
    desk = make_desk(plan, types, weights=[1.0], standby=-1, kinds=np.zeros(2, dtype=np.int64))
    return axes(name, desk)[1]


KEEPERS = {"admission": Lending(None), "placement": BOUNDED}
PAIRS = {
    "admission, placement": KEEPERS,
    **{f"{axis}, {name}": {axis: choice, "regulation": regulation(name)}
       for axis, choice in KEEPERS.items() for name in POLICIES},
}


@pytest.mark.parametrize("pair", PAIRS)
def test_two_policies_that_keep_their_figure_in_the_same_place_are_refused(pair: str) -> None:
    with pytest.raises(InputError, match="cannot go together") as found:
        simulate(JOBS, MACHINE, compose(**PAIRS[pair]), Rules(choose_nodes=True))
    assert "\n" not in str(found.value)


def test_watts_that_are_not_lent_go_beside_rack_bounds() -> None:
    result = in_plain("""
    from tests.support.choices import MOLDABLE, RACKS, CASES, planned
    from wattline.analysis.checker import check
    CASES["both"] = MOLDABLE | {"policy.configure": "naive", "policy.power": "watts",
                                "policy.placement": RACKS}
    run = planned("both").run()
    result = [int(run.ran.sum()), check(run), [bound.entity for bound in run.bounds]]
    """)
    ran, broken, entities = result
    assert ran > 5
    assert broken == []
    assert entities == ["site", "rack0", "rack1"]


def test_a_scenario_with_loans_and_rack_bounds_says_what_to_use() -> None:
    with pytest.raises(InputError, match=r"loans raise a job's power .* use power = 'watts'"):
        planned("power.lending", **{"policy.placement": RACKS})


def test_rack_bounds_on_several_classes_of_nodes_are_refused() -> None:
    with pytest.raises(InputError, match="several classes"):
        planned("placement.bounded", **{
            "machine.classes": CASES["placement.first-fit, classes"]["machine.classes"]})
    mixed = Machine((NodeGroup(NodeClass("a", power_w_idle=50.0), 4),
                     NodeGroup(NodeClass("b"), 4)))
    with pytest.raises(InputError, match="2 classes of nodes"):
        simulate(JOBS, mixed, compose(placement=BOUNDED), Rules(choose_nodes=True))


def test_a_rack_stays_within_its_bound_when_all_jobs_speed_up_again() -> None:
    """Two racks of two nodes, 100 W idle, 300 W busy; the first may draw 450 W: one busy node.

    Until 5 s the cap of 600 W halves speed and power of all jobs. A takes n0, B and C the other
    rack. D would add 50 W to the first rack now, and 200 W at full speed: it waits for B, which has
    done 2.5 s of its 10 s by then and ends at 12.5 s.
    """
    result = in_plain("""
    import numpy as np
    from tests.support.workloads import compose
    from wattline.engine.prepare import Rules
    from wattline.engine.simulate import simulate
    from wattline.model.jobs import JobTable
    from wattline.model.machine import Machine, NodeClass
    from wattline.model.signal import Signal
    from wattline.model.views.build import power_view
    from wattline.policies.admission.dvfs import Dvfs
    from wattline.policies.placement.bounded_setup import bounded
    machine = Machine.uniform(4, NodeClass(power_w_idle=100, power_w_active=300),
                              nodes_per_rack=2)
    jobs = JobTable.build(submit_s=[0, 0, 0, 1], run_s=[20, 10, 10, 10], procs=[1, 1, 1, 1])
    levels = Dvfs(speed=np.array([0.5, 1.0]), power_factor=np.array([0.5, 1.0]))
    placement = bounded(power_view(machine, limits_w={"rack0": 450}), machine)
    rules = Rules(choose_nodes=True, cap_w=Signal.from_steps([(0, 600.0), (5, 1300.0)], "W"))
    run = simulate(jobs, machine, compose(admission=levels, placement=placement), rules)
    result = [run.schedule.start_s.tolist(), run.placement.first.tolist()]
    """)
    assert result == [[0, 0, 0, 12.5], [0, 2, 3, 2]]
