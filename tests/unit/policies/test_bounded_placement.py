"""Bounds below the root: a full rack is passed over, and a job waits rather than exceed one."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.plain import ROOT
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.views.build import power_view, view_from_mapping
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.easy import Easy
from wattline.policies.placement.bounded_setup import bounded
from wattline.policies.placement.bounds_in_views import bounds_in, placed
from wattline.results.verify.judge import verify
from wattline.scenario.api import simulate as simulate_scenario

MACHINE = Machine.uniform(8, NodeClass(power_w_idle=100, power_w_active=300), nodes_per_rack=4)
ONE_BUSY = bounded(power_view(MACHINE, limits_w={"rack0": 600}), MACHINE)
"""The first rack may have one busy node."""


def limited(site: str) -> dict[str, Any]:
    return {"name": "bounded", "limits": {"site": site}}


def test_a_rack_with_a_limit_takes_fewer_jobs():
    """Two racks of four nodes, 100 W idle, 300 W busy. The first may draw 800 W: two busy nodes.

    Three jobs of two nodes: the first takes n0 and n1, the second and third go to the other rack
    (n4 to n7) although n2 and n3 are free; a fourth has to wait for the first to end.
    """
    machine = Machine.uniform(8, NodeClass(power_w_idle=100, power_w_active=300),
                              nodes_per_rack=4)
    view = power_view(machine, limits_w={"rack0": 800})
    jobs = JobTable.build(submit_s=[0, 0, 0, 0], run_s=[50, 100, 100, 10], procs=[2] * 4)
    run = simulate(jobs, machine, compose(placement=bounded(view, machine)),
                   Rules(choose_nodes=True))
    result = [run.schedule.start_s.tolist(), run.placement.first.tolist(),
              run.memories["placement.memory"].room_w.tolist()]
    starts, first, room = result
    assert starts == [0, 0, 0, 50]
    assert first == [0, 4, 6, 0]
    assert room == [400], "of the only bound"


def test_the_bound_of_the_site_holds_too():
    machine = Machine.uniform(4, NodeClass(power_w_idle=100, power_w_active=300),
                              nodes_per_rack=2)
    view = power_view(machine, site_limit_w=800)
    jobs = JobTable.build(submit_s=[0, 0, 0], run_s=[10, 20, 5], procs=[1] * 3)
    run = simulate(jobs, machine, compose(placement=bounded(view, machine)),
                   Rules(choose_nodes=True))
    result = [run.schedule.start_s.tolist(), run.power_w_peak]
    assert result == [[0, 0, 10], 800]


def test_a_scenario_names_bounds():
    fields = {"trace__generate": "lublin", "trace__jobs": 60, "machine__nodes": 64,
              "machine__node_idle_w": 100, "machine__node_active_w": 300,
              "machine__nodes_per_rack": 8}
    run = simulate_scenario(**fields, policy__placement=limited("14kW"))
    assert 6400 < run.power_w_peak <= 14000
    with pytest.raises(InputError, match="bounded needs limits"):
        simulate_scenario(**fields, policy__placement="bounded")


def test_bounds_and_fair_share_by_joules_go_together():
    """Each keeps its own books: the bound holds, and the order is that without a bound."""
    free, wide, tight = (simulate_scenario(
        trace__generate="lublin", trace__jobs=80, machine__nodes=64, machine__node_idle_w=100,
        machine__node_active_w=300, policy__order={"name": "energy-share", "age": 0.1},
        policy__placement=placement) for placement in ("first-fit", limited("1MW"),
                                                       limited("14kW")))
    assert free.schedule.start_s.tolist() == wide.schedule.start_s.tolist()
    assert free.power_w_peak > 14000 >= tight.power_w_peak
    assert tight.ran.any()


def test_a_job_that_no_idle_machine_could_hold_is_refused():
    """Two racks of two nodes, 100 W idle, 300 W busy; the first may draw 400 W: one busy node.

    Three nodes busy is the most. The job of four is refused and holds nobody up; it would wait for
    ever, and with it all behind it.
    """
    machine = Machine.uniform(4, NodeClass(power_w_idle=100, power_w_active=300),
                              nodes_per_rack=2)
    view = power_view(machine, limits_w={"rack0": 400})
    jobs = JobTable.build(submit_s=[0, 1, 2], run_s=[10, 10, 10], procs=[4, 3, 4])
    run = simulate(jobs, machine, compose(placement=bounded(view, machine)),
                   Rules(choose_nodes=True))
    levels = Dvfs(np.array([0.5, 1.0]), np.array([0.5, 1.0]))
    slowed = simulate(jobs, machine, compose(admission=levels,
                                             placement=bounded(view, machine)),
                      Rules(choose_nodes=True))
    result = [run.ran.tolist(), float(run.schedule.start_s[1]), slowed.refused.tolist(),
              slowed.ran.tolist()]
    ran, start_s, refused, slowed = result
    assert ran == [False, True, False]
    assert start_s == 1
    assert refused == [False] * 3  # at half the power all four fit: nobody is refused
    assert slowed == [True] * 3


def starts(jobs: JobTable, backfill: Any, placement: Any = ONE_BUSY) -> list[float]:
    policy = compose(backfill=backfill, placement=placement)
    run = simulate(jobs, MACHINE, policy, Rules(choose_nodes=True))
    assert verify(run).sentences == []
    return list(run.schedule.start_s.tolist())


def test_a_small_job_passes_a_head_job_that_placement_refuses():
    """The first rack may have one busy node. A takes n0, n4 and n5; B needs five nodes, and five
    are free, three of them in the rack that has no watts left. C fits in n6 and ends before A.

    Under both rules B is planned at A's end, and C starts at once.
    """
    jobs = JobTable.build(submit_s=[0, 0, 1, 2], run_s=[100, 100, 100, 50], procs=[1, 2, 5, 1])
    result = [starts(jobs, Easy()), starts(jobs, Conservative())]
    assert result == [[0, 0, 100, 2], [0, 0, 100, 2]]


def test_a_job_that_placement_refuses_for_ever_holds_up_neither_the_others_nor_the_clock():
    """Six nodes do not fit, which is not noticed when A is submitted: it never starts.

    The others run as they would without it, and the simulation ends.
    """
    jobs = JobTable.build(submit_s=[0, 1, 2, 3], run_s=[100, 100, 100, 50], procs=[6, 5, 1, 1])
    blind = ONE_BUSY._replace(whole_w=ONE_BUSY.whole_w + 1e6)
    for backfill in (Easy(), Conservative()):
        assert np.nan_to_num(starts(jobs, backfill, blind), nan=-1).tolist() == [-1, 1, 101, 101]


def test_all_jobs_are_slowed_where_a_rack_cannot_hold_them_at_full_speed():
    """At 120 W a node A's four nodes of the first rack fit into its 600 W, at full speed one does.

    B goes at half speed beside it until A has ended at 200 s, then fast: 50 s are left of its 150.
    """
    jobs = JobTable.build(submit_s=[0, 0], run_s=[100, 150], procs=[6, 1])
    dvfs = Dvfs(np.array([0.5, 1.0]), np.array([0.4, 1.0]))
    run = simulate(jobs, MACHINE, compose(admission=dvfs, placement=ONE_BUSY),
                   Rules(choose_nodes=True))
    assert verify(run).sentences == []
    result = [run.schedule.start_s.tolist(), run.schedule.end_s.tolist()]
    assert result == [[0, 0], [200, 250]]


def test_reservations_put_off_by_placement_end_for_many_jobs():
    """Seeded workloads of early ends and overruns: every job of at most five nodes is run."""
    result = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        run_s = rng.integers(4, 20, 12)
        jobs = JobTable.build(submit_s=np.sort(rng.integers(0, 30, 12)), run_s=run_s,
                              requested_s=run_s + rng.integers(-3, 5, 12),
                              procs=rng.integers(1, 6, 12))
        result.append(bool(np.all(np.isfinite(starts(jobs, Conservative())))))
    assert result == [True] * 25


@pytest.fixture
def shown() -> str:
    """The file of views that the page prints."""
    page = (ROOT / "docs/views.md").read_text(encoding="utf-8")
    return re.search("```toml\n(.views.power.*?)```", page, re.DOTALL)[1]


@pytest.fixture
def peak_w(tmp_path: Path) -> Callable[..., float]:
    """The highest power of a simulation with such a file."""

    def run(text: str, nodes: int = 128) -> float:
        file = tmp_path / "v.toml"
        file.write_text(text, encoding="utf-8")
        return simulate_scenario(
            trace__generate="lublin", trace__jobs=40, machine__nodes=nodes,
            machine__node_idle_w=112, machine__node_active_w=300,
            policy__placement={"name": "bounded", "views": str(file)}).power_w_peak

    return run


def test_the_views_file_of_the_page_bounds_a_simulation(shown, peak_w):
    tight = shown.replace("limit_w = 1.2e6", "limit_w = 20e3")
    assert peak_w(shown) > 20000 >= peak_w(tight) > 128 * 112
    with pytest.raises(InputError, match="has 128 nodes, the machine has 64"):
        peak_w(shown, 64)
    with pytest.raises(InputError, match="node 'n001' has no power_w"):
        peak_w(shown.replace(", power_w = 112", ""))


def test_all_bounds_on_the_power_are_kept_and_need_its_idle_use(shown, peak_w):
    two = shown.replace('limit = "limit_w"}', 'limit = "limit_w"}, '
                        '{used = "power_w", limit = "fuse_w"}')
    two = two.replace('{name = "limit_w", unit = "W"},',
                      '{name = "limit_w", unit = "W"}, {name = "fuse_w", unit = "W"},'
                      '{name = "heat_w", unit = "W", inherit = "children_sum"},')
    fused = two.replace("limit_w = 2e6", "limit_w = 2e6, fuse_w = 20e3")
    other = two.replace('{used = "power_w", limit = "fuse_w"}',
                        '{used = "heat_w", limit = "fuse_w"}')
    assert peak_w(two) > 20000 >= peak_w(fused)
    with pytest.raises(InputError, match="node 'n001' has no heat_w; its idle power is needed"):
        peak_w(other)


def named_machine(nodes: int, names: str = "") -> Machine:
    group = NodeGroup(NodeClass(power_w_idle=1, power_w_active=2), nodes)
    return Machine((group,), node_names=names)


def view(*names: str, title: str = "power") -> Any:
    tables = [{"name": "room", "limit_w": 100.0}]
    tables += [{"name": name, "parent": "room", "power_w": 1.0, "limit_w": 5.0}
               for name in names]
    return view_from_mapping(title, {
        "bounds": [{"used": "power_w", "limit": "limit_w"}], "entities": tables,
        "keys": [{"name": "power_w", "inherit": "children_sum"}, {"name": "limit_w"}],
    }, "here")


def chosen(machine: Machine, *views: Any) -> Any:
    try:
        found = placed(views, machine)
    except InputError as error:
        return str(error)
    own = {bound.entity: bound.nodes.tolist() for bound in bounds_in(found, machine)}
    return [own, list(found.assumed)]


def test_nodes_of_a_view_are_found_by_their_names_never_by_numbers_in_them():
    names = "cn1-gpu-[01-02],cn1-cpu-[01-02]"
    tables = ("cn1-cpu-01", "cn1-gpu-02", "cn1-gpu-01", "cn1-cpu-02")
    named = chosen(named_machine(4, names), view(*tables))
    swapped = chosen(named_machine(3), view("n2", "n0", "n1"))
    partly = chosen(named_machine(4, names), view(*tables[:3]))
    strange = chosen(named_machine(4, names), view("cn2"))
    assert named == [{"room": [0, 1, 2, 3], "cn1-cpu-01": [2], "cn1-gpu-02": [1],
                      "cn1-gpu-01": [0], "cn1-cpu-02": [3]}, []]
    assert swapped == [{"room": [0, 1, 2], "n2": [2], "n0": [0], "n1": [1]}, []]
    assert partly[0]["room"] == [0, 1, 2]
    assert partly[1] == ["view 'power' bounds nothing of cn1-cpu-02: they are not in it"]
    assert "view 'power' has the node 'cn2', which the machine does not have" in strange


def test_without_names_the_order_of_the_view_is_taken_and_said():
    ordered = chosen(named_machine(2), view("a1", "b1"))
    both = chosen(named_machine(2), view("b1", "a1"), view("a1", "b1", title="other"))
    fewer = chosen(named_machine(3), view("a1", "b1"))
    assert ordered == [{"room": [0, 1], "a1": [0], "b1": [1]}, [
        "the machine's nodes have no names (machine.node_names): they are taken as view 'power' "
        "lists them, node 0 being 'a1' and node 1 'b1'"]]
    assert both[0]["a1 (view power)"] == both[0]["a1 (view other)"] == [1]
    assert fewer == "view 'power' has 2 nodes, the machine has 3"


def test_what_was_assumed_of_a_views_nodes_stands_with_the_run_unless_they_are_named(
        shown: str, tmp_path: Path) -> None:
    file = tmp_path / "v.toml"
    file.write_text(shown, encoding="utf-8")
    fields = {"trace__generate": "lublin", "trace__jobs": 5, "machine__nodes": 128,
              "machine__node_idle_w": 112, "machine__node_active_w": 300,
              "policy__placement": {"name": "bounded", "views": str(file)}}
    assert "node 0 being 'n001' and node 127 'n128'" in simulate_scenario(**fields).assumed[-1]
    named = simulate_scenario(**fields, machine__node_names="n[001-128]")
    assert (list(named.assumed), named.machine.hosts[-1]) == ([], "n128")
    with pytest.raises(InputError, match="has 128 nodes, and node_names has 127 names"):
        simulate_scenario(**fields, machine__node_names="n[001-127]")


def test_a_view_and_a_machine_that_disagree_on_watts_are_refused_with_both_figures(shown, peak_w):
    """Nodes of 50 W by the view and of 100 W by the machine: the bound would be passed unseen."""
    half = shown.replace("power_w = 112", "power_w = 56")
    with pytest.raises(InputError) as refused:
        peak_w(half)
    said = str(refused.value)
    assert "\n" not in said
    assert "node 'n001' draws 56 W idle (power_w), by the machine 112 W" in said
    assert "128 of 128 nodes differ, together 7168 W and 14336 W" in said
    assert peak_w(shown.replace("power_w = 112", "power_w = 112.00001")) > 0
