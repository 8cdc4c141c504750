"""Several views enforced at once: feeds with a share each, a feed that fails, heat beside watts."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support import choices
from tests.support.plain import ROOT
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.analysis import rundir
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import EventKind
from wattline.model.units import parse_hosts
from wattline.model.views.build import read_views, view_from_mapping
from wattline.policies.placement.bounded_setup import bounded, bounds_of
from wattline.results.verify.judge import verify
from wattline.testing.five_ways import differences

machine = Machine.uniform(4, NodeClass(power_w_idle=100, power_w_active=300))
keys = [{"name": "power_w", "unit": "W", "inherit": "children_sum"},
        {"name": "limit_w", "unit": "W"}, {"name": "overload_w", "unit": "W"},
        {"name": "share"}]


def feed(name, share=0.5, idle=50.0, carries=(), **limits):
    bounds = [{"used": "power_w", "limit": "limit_w", "share": "share"}]
    if carries:
        bounds.append({"used": "power_w", "limit": "overload_w", "share": "share",
                       "carries": list(carries)})
    return view_from_mapping(name, {"keys": keys, "bounds": bounds, "entities": [
        {"name": "ups" + name, **limits},
        {"name": "n[0-3]", "type": "node", "parent": "ups" + name, "power_w": idle,
         **({} if share is None else {"share": share})}]}, "here")


def starts(*views, procs=(1, 1, 1, 1)):
    jobs = JobTable.build(submit_s=[0] * len(procs), run_s=[10] * len(procs), procs=procs)
    run = simulate(jobs, machine, compose(placement=bounded(views, machine)),
                   Rules(choose_nodes=True))
    run = replace(run, bounds=bounds_of(views, machine))
    return [run.schedule.start_s.tolist(), verify(run).sentences], run


def refused(*views):
    try:
        bounds_of(views, machine)
    except InputError as error:
        return str(error)


def test_a_node_draws_its_share_from_each_feed():
    """Idle 50 W, busy 150 W a node from each feed: 450 W of A is room for two busy nodes.

    With 80 % on A a busy node adds 160 W there to the 320 W of the idle machine.
    """
    a = feed("A", limit_w=450.0)
    half, most, other = [starts(a, feed("B", limit_w=2000.0))[0], starts(feed("B"), a)[0],
                         starts(feed("A", 0.8, 80.0, limit_w=500.0), feed("B", 0.2, 20.0))[0]]
    assert half == most == [[0, 0, 10, 10], []]
    assert other == [[0, 10, 20, 30], []]


def test_a_feed_that_must_carry_the_other_is_bounded_for_that_case():
    """Each feed may draw 600 W, all that its nodes can; if A fails B has all, and bears 800 W."""
    a = feed("A", limit_w=600.0)
    found, run = starts(a, feed("B", carries=["A"], limit_w=600.0, overload_w=800.0))
    both, carried, bounds = [starts(a, feed("B", limit_w=600.0))[0], found,
                             [[b.entity, b.limit_w, b.idle_w, b.share is None] for b in run.bounds]]
    assert both == [[0, 0, 0, 0], []]
    assert carried == [[0, 0, 10, 10], []]
    assert bounds == [["upsA (view A)", 600, 200, False], ["upsB (view B)", 600, 200, False],
                      ["upsB (view B, if A fails)", 800, 400, True]]


def test_heat_is_bounded_beside_watts():
    """Half of each watt is heat: 100 W more for each busy node, of which 300 W are cooled."""
    view = view_from_mapping("room", {
        "keys": [*keys, {"name": "heat_w", "inherit": "children_sum"}, {"name": "cooled_w"}],
        "bounds": [{"used": "power_w", "limit": "limit_w"},
                   {"used": "heat_w", "limit": "cooled_w", "share": "share"}],
        "entities": [{"name": "room", "limit_w": 1200.0, "cooled_w": 500.0},
                     {"name": "n[0-3]", "type": "node", "parent": "room", "power_w": 100.0,
                      "heat_w": 50.0, "share": 0.5}]}, "here")
    found, run = starts(view)
    assert found == [[0, 0, 0, 10], []]
    assert [bound.entity for bound in run.bounds] == ["room (power_w)", "room (heat_w)"]


def test_the_checker_finds_a_share_of_a_feed_above_its_bound():
    """All four nodes busy draw 600 W from A; the run kept nothing, the bound is 450 W."""
    _, run = starts(feed("A"), feed("B"))
    tight = replace(run, bounds=bounds_of([feed("A", limit_w=450.0)], machine))
    found = verify(tight).sentences
    assert len(found) == 1
    assert "upsA is above its bound of 450 W" in found[0]
    assert "it draws 600 W at most" in found[0]


def test_a_run_folder_keeps_the_shares_of_its_bounds(tmp_path):
    _, run = starts(feed("A", 0.8, 80.0, limit_w=500.0), feed("B", 0.2, 20.0))
    again = rundir.read(rundir.write(run, str(tmp_path / "run"))).bounds
    found = [[b.entity, b.limit_w, b.idle_w, b.nodes.tolist(), b.share.tolist()] for b in again]
    assert found == [["upsA (view A)", 500, 320, [0, 1, 2, 3], [0.8] * 4]]


def test_feeds_that_do_not_make_sense_are_refused_in_one_line():
    a = feed("A")
    result = [
        refused(a, feed("B", 0.4, 40.0, carries=["A"])),
        refused(a, feed("B", carries=["C"])),
        refused(feed("B", carries=["B"])),
        refused(feed("A", None, 50.0)),
        refused(feed("A", 0.5, 100.0)),
        refused(a, feed("B", carries=["A"], overload_w=390.0)),
    ]
    for said, reason in zip(result, (
        "the shares of node 'n0' in B and A add up to 0.9, must be 1",
        "view 'B' carries 'C', which is no other view with a bound on power_w among A, B",
        "view 'B' carries 'B', which is no other view",
        "node 'n0' has no share; what counts of each of its watts is needed",
        "node 'n0' draws 100 W idle (power_w), by the machine 50 W (0.5 of it counts here)",
        "upsB (view B, if A fails) is bounded to 390 W, and draws 400 W with all nodes idle",
    ), strict=True):
        assert reason in said
        assert "\n" not in said


def peaks(run):
    """The most that each entity drew, from the log and the placement alone."""
    views = tomllib.loads((ROOT / "tests/support/feeds.toml").read_text())["views"]
    inside = {}
    for table in views.values():
        for row in table["entities"]:
            if row.get("type") == "node":
                part = row.get("share", row.get("heat_per_w"))
                above = next(e for e in table["entities"] if e["name"] == row["parent"])
                for name in parse_hosts(row["name"]):
                    inside.setdefault(row["parent"], {})[int(name[1:])] = part
                    if "parent" in above:
                        inside.setdefault(above["parent"], {})[int(name[1:])] = part
    power, most, last = np.full(16, 90.0), {}, run.start_s
    nodes = {}
    spans = zip(run.placement.job, run.placement.first, run.placement.count, strict=True)
    for job, first, count in spans:
        nodes.setdefault(int(job), []).extend(range(first, first + count))
    for time, kind, job, value in zip(run.events.time_s, run.events.kind, run.events.job,
                                      run.events.value, strict=True):
        if time > last:
            for entity, parts in inside.items():
                drawn = sum(power[node] * part for node, part in parts.items())
                most[entity] = max(most.get(entity, 0.0), drawn)
        last = time
        if kind == EventKind.START:
            power[nodes[int(job)]] = value / len(nodes[int(job)])
        elif kind == EventKind.END:
            power[nodes[int(job)]] = 90.0
    return most


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_jobs_keep_all_bounds_of_three_views_by_another_count(seed):
    run = choices.planned("placement.bounded, feeds", seed).run()
    loose = choices.planned("placement.first-fit", seed).run()
    free, kept, wrong = [peaks(loose), peaks(run), verify(run).sentences]
    limits = {"upsA": 2150, "pduA1": 1000, "pduB1": 1050, "upsB": 2125, "loop1": 2000}
    assert wrong == []
    assert all(kept[name] <= limit * (1 + 1e-9) for name, limit in limits.items())
    assert any(free[name] > limit for name, limit in limits.items()), "nothing was bounded"


@pytest.mark.parametrize(("backfill", "power"), crossed(
    ["easy", "conservative"], ["none", "dvfs"], later=pytest.mark.long))
def test_bounds_of_three_views_decide_the_same_in_five_ways(backfill, power):
    fields = {"policy.backfill": backfill, "policy.power": power}
    fields |= {} if power == "none" else {"power.cap": "3kW"}
    plan = choices.planned("placement.bounded, feeds", 4, **fields)
    run = plan.run()
    found = [differences(plan.jobs, plan.machine, plan.policy, plan.rules), verify(run).sentences]
    assert found == [[], []]


def test_the_feeds_of_the_page_are_views_that_can_be_kept(tmp_path):
    """128 nodes of 112 W idle: 7,168 W from each feed, 14,336 W if one has both."""
    page = (ROOT / "docs/views.md").read_text(encoding="utf-8")
    shown = re.search(r"```toml\n(\[views\.feedB\].*?)```", page, re.S)[1]
    file = tmp_path / "feeds.toml"
    file.write_text(shown)
    with pytest.raises(InputError, match="view 'feedB' carries 'feedA', which is no view of the"):
        read_views(file)
    other = shown.replace("feedA", "feed_").replace("feedB", "feedA").replace("feed_", "feedB")
    file.write_text(shown + other.replace("upsB", "upsA"))
    group = NodeGroup(NodeClass(power_w_idle=112, power_w_active=300), 128)
    views = list(read_views(Path(str(file))).values())
    bounds = bounds_of(views, Machine((group,), node_names="n[001-128]"))
    found = [[bound.entity, bound.idle_w] for bound in bounds]
    assert found == [["upsB (view feedB)", 7168], ["upsB (view feedB, if feedA fails)", 14336],
                     ["upsA (view feedA)", 7168], ["upsA (view feedA, if feedB fails)", 14336]]
