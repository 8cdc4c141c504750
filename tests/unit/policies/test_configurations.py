"""Traditional, naive and adaptive: which configuration a job gets, and when it starts."""

import numpy as np
import pytest

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.physics.configurations import ConfigurationTable
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.moldable import adaptive, naive, traditional
from wattline.policies.configuration.offers import fastest_for, make_offers
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation
from wattline.results.verify.judge import verify

NODE = NodeClass("node", cores=1, power_w_idle=0.0, power_w_active=230.0)

# Table 5.2: three configurations of SP-MZ.
C1, C2, C3 = (6, 16, 115.0, 447.9, 796.4), (8, 12, 65.0, 415.3, 783.8), (8, 10, 80.0, 439.2, 738.2)
SP_MZ = ConfigurationTable.build("SP-MZ", *zip(C1, C2, C3, strict=True))


def run(jobs, tables, configuration, nodes, bound_w, **ladder):
    offers = make_offers(jobs, tables, **ladder)
    kind, *rest = configuration
    policy = Composition(Fcfs(), Easy(), Lending(offers, LendingMemory.start(), 0),
                         kind(offers, *rest), Counted(), NoRegulation())
    rules = Rules(cap_w=Signal(np.array([0.0]), np.array([bound_w]), "W"))
    return simulate(jobs, Machine.uniform(nodes, NODE), policy, rules)


def section_5_2_4():
    """Job A holds 6 of 16 nodes for 1000 s; 10 nodes and 750 W are free; the share is 800 W."""
    bound_w = 800.0 * 16 / 6
    first = ConfigurationTable.build("A", [6], [16], [115.0], [1000.0], [bound_w - 750.0])
    jobs = JobTable.build(
        submit_s=[0.0, 1.0], run_s=[1000.0, 450.0], requested_s=[1000.0, 450.0], procs=[6, 6],
        application=[0, 1], queue=[0, 1],
        names={"application": ("A", "SP-MZ"), "queue": ("heavy", "normal")},
    )
    return jobs, {"A": first, "SP-MZ": SP_MZ}, bound_w


@pytest.mark.parametrize(
    ("configuration", "start_s", "expected"),
    [((traditional,), 1000.0, C1), ((naive,), 1000.0, C2), ((adaptive, 0.0), 1.0, C3)],
)
def test_worked_example_of_section_5_2_4(configuration, start_s, expected):
    jobs, tables, bound_w = section_5_2_4()
    # The share of job A itself is too small for its power under the fair policies, so it weighs.
    weights = {"heavy": (bound_w - 750.0) / 800.0 * 1.001, "normal": 1.0}
    done = run(jobs, tables, configuration, 16, bound_w, weights=weights)
    schedule = done.schedule
    assert schedule.start_s.tolist() == [0.0, start_s]
    assert schedule.nodes[1] == expected[0]
    assert schedule.end_s[1] - schedule.start_s[1] == pytest.approx(expected[3])
    assert schedule.energy_j[1] == pytest.approx(expected[3] * expected[4])
    assert done.time_above_cap_s == 0.0
    assert verify(done).sentences == []


def table(name="app"):
    """Two caps on 2, 4 and 8 nodes: half power costs a quarter more time."""
    return ConfigurationTable.build(
        name, [2, 2, 4, 4, 8, 8], [8] * 6, [50, 100] * 3, [125, 100, 63, 50, 32, 26],
        [200, 400, 400, 800, 800, 1600],
    )


def jobs_of(*rows):
    submit_s, procs, requested_s = zip(*rows, strict=True)
    return JobTable.build(submit_s=submit_s, run_s=requested_s, requested_s=requested_s,
                          procs=procs, application=[0] * len(rows),
                          names={"application": ("app",)})


def test_traditional_takes_fewer_nodes_where_the_request_cannot_be_powered():
    done = run(jobs_of((0.0, 8, 40.0)), {"app": table()}, (traditional,), 8, 1000.0)
    assert done.schedule.nodes[0] == 4
    assert done.schedule.end_s[0] == 50.0  # beyond its request, and not killed for it


def test_fixed_uses_the_given_cores_and_cap():
    done = run(jobs_of((0.0, 8, 40.0)), {"app": table()}, (traditional,), 8, 1000.0,
               asked={"cap_w": 50.0})
    assert (done.schedule.nodes[0], done.schedule.end_s[0]) == (8, 32.0)
    with pytest.raises(InputError, match="no configuration with 8 cores and a cap of 70 W"):
        run(jobs_of((0.0, 8, 40.0)), {"app": table()}, (traditional,), 8, 1000.0,
            asked={"cap_w": 70.0})


def test_naive_uses_more_nodes_at_lower_power():
    done = run(jobs_of((0.0, 4, 50.0)), {"app": table()}, (naive,), 8, 1600.0)
    assert (done.schedule.nodes[0], done.schedule.end_s[0]) == (8, 32.0)


def test_adaptive_respects_the_threshold():
    # The first job takes 800 W of 1100; the second's fair share of 367 W is not there.
    jobs = jobs_of((0.0, 10, 60.0), (1.0, 4, 110.0))
    starts = {}
    for threshold in (0.0, 0.2, np.inf):
        done = run(jobs, {"app": table()}, (adaptive, threshold), 12, 1100.0)
        starts[threshold] = done.schedule.start_s[1]
    assert starts == {0.0: 32.0, 0.2: 1.0, np.inf: 1.0}


def test_backfilling_minds_watts_as_well_as_nodes():
    # The head (8 nodes, 1600 W) waits for the first job, expected to end at 130 s. The third fits
    # in nodes and watts now, but would not leave the head its watts; the fourth ends in time.
    jobs = jobs_of((0.0, 2, 130.0), (1.0, 8, 40.0), (2.0, 2, 200.0), (3.0, 2, 90.0))
    done = run(jobs, {"app": table()}, (traditional,), 16, 1600.0)
    start_s = done.schedule.start_s
    assert start_s.tolist() == [0.0, 103.0, 129.0, 3.0]
    assert done.power_w_peak <= 1600.0 * (1 + 1e-9)


def test_jobs_need_an_application_with_a_table():
    nameless = JobTable.build(submit_s=[0.0], run_s=[1.0], procs=[2])
    with pytest.raises(InputError, match="job 1 names no application"):
        make_offers(nameless, {"app": table()})
    other = JobTable.build(submit_s=[0.0], run_s=[1.0], procs=[2], application=[0],
                           names={"application": ("lammps",)})
    with pytest.raises(InputError, match="no application 'lammps'"):
        make_offers(other, {"app": table()})
    with pytest.raises(InputError, match="weight greater than 0"):
        make_offers(jobs_of((0.0, 2, 1.0)).with_columns(queue=[1]), {"app": table()},
                    weights={"1": 0.0})


def test_a_job_that_asks_for_a_range_of_nodes_gets_no_other():
    """Rows of 2, 4 and 8 nodes; alone, eight would be fastest."""
    tables = {"app": table()}
    jobs = jobs_of((0.0, 8, 50.0))
    offers = make_offers(jobs, tables)

    def chosen(least, most):
        offers.annotate(0, jobs, {"nodes_min": np.array([least]), "nodes_max": np.array([most])})
        row = fastest_for(offers, 0, 16, 1e6)
        return int(offers.row_nodes[row]) if row >= 0 else None

    nodes = sorted(set(table().nodes.tolist()))
    assert chosen(1, 100) == int(table().nodes[table().time_s.argmin()])
    assert [chosen(each, each) for each in nodes] == nodes
    assert chosen(1, nodes[1]) == nodes[1]
    assert chosen(max(nodes) + 1, max(nodes) + 4) is None


def test_without_a_range_any_configuration_will_do():
    offers = make_offers(jobs_of((0.0, 8, 50.0)), {"app": table()})
    assert (int(offers.least[0]), int(offers.most[0]) >= 10**6) == (0, True)


def with_loans(jobs, nodes, bound_w):
    offers = make_offers(jobs, {"app": table()})
    policy = Composition(Fcfs(), Easy(), Lending(offers, LendingMemory.start()), naive(offers),
                         Counted(), NoRegulation())
    rules = Rules(cap_w=Signal(np.array([0.0]), np.array([bound_w]), "W"))
    return simulate(jobs, Machine.uniform(nodes, NODE), policy, rules)


def test_unused_watts_go_to_a_running_job():
    # Its share of 800 W gives 32 s; with the 800 W that nobody uses it takes 26 s.
    done = with_loans(jobs_of((0.0, 4, 50.0)), 8, 1600.0)
    assert done.schedule.end_s[0] == pytest.approx(26.0)


def test_lent_watts_come_back_when_a_job_can_start():
    # The first runs on lent watts for 13 s (16 s of its 32 s of work), then at its own 16 s more;
    # the second starts at once and gets the loan when the first has ended.
    done = with_loans(jobs_of((0.0, 8, 50.0), (13.0, 8, 50.0)), 16, 1600.0)
    assert done.schedule.start_s.tolist() == [0.0, 13.0]
    assert done.schedule.end_s.tolist() == pytest.approx([29.0, 42.0])
    assert done.time_above_cap_s == 0.0
    assert done.energy_j == pytest.approx(42.0 * 1600.0)
    assert verify(done).sentences == []


def test_a_job_that_holds_its_share_leaves_less_to_the_next():
    """Two jobs of half the machine: the first draws 300 of its 500 W. The second, which needs 600 W
    at its requested time and has 2 s more, starts at once beside the draw and waits for the share.
    """
    table = ConfigurationTable.build("a", [2, 2], [4, 4], [50, 100], [10.0, 4.0], [300.0, 600.0])
    jobs = JobTable.build(submit_s=[0.0, 1.0], run_s=[4.0, 4.0], requested_s=[20.0, 5.0],
                          procs=[2, 4], application=[0, 0], names={"application": ("a",)})
    starts = {}
    for holds in (0, 1):
        offers = make_offers(jobs, {"a": table})
        policy = Composition(Fcfs(), Easy(), Lending(offers, LendingMemory.start(), 0, holds),
                             adaptive(offers, holds=holds), Counted(), NoRegulation())
        node = NodeClass("node", power_w_idle=0.0, power_w_active=250.0)
        rules = Rules(cap_w=Signal(np.array([0.0]), np.array([1000.0]), "W"))
        run = simulate(jobs, Machine.uniform(4, node), policy, rules)
        starts[holds] = run.schedule.start_s.tolist()
        assert run.time_above_cap_s == 0.0
        assert run.energy_j == pytest.approx(300.0 * 10 + 600.0 * 4), "what is held is not drawn"
    assert starts == {0: [0.0, 1.0], 1: [0.0, 10.0]}


@pytest.mark.parametrize(("procs", "start_s"), [((2, 6, 2), [0, 10, 14]), ((2, 5, 1), [0, 10, 2])])
def test_a_job_that_holds_its_share_gives_all_of_it_back_to_the_first_that_waits(procs, start_s):
    """Six nodes under 1,500 W, a share of 250 W a node. The first job draws 300 of its 500 W until
    10 s; then the second has the 1,500 W, or 1,250 W, of its share. The third asks for 30 s. With a
    share of 500 W it would take what the second is promised; its 250 W are those that are left
    beside 1,250 W."""
    table = ConfigurationTable.build(
        "a", [1, 2, 2], [4] * 3, [50, 50, 100], [20.0, 10.0, 4.0], [200.0, 300.0, 600.0])
    jobs = JobTable.build(submit_s=[0.0, 1.0, 2.0], run_s=[9.0] * 3, requested_s=[10.0, 4.0, 30.0],
                          procs=procs, application=[0] * 3, names={"application": ("a",)})
    offers = make_offers(jobs, {"a": table})
    policy = Composition(Fcfs(), Easy(), Lending(offers, LendingMemory.start(), 0, 1),
                         naive(offers, 1), Counted(), NoRegulation())
    rules = Rules(cap_w=Signal(np.array([0.0]), np.array([1500.0]), "W"))
    found = simulate(jobs, Machine.uniform(6, NODE), policy, rules)
    assert found.schedule.start_s.tolist() == start_s
