"""A cap that does not change is never exceeded, whatever jobs draw beside their idle nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared import machine as shared_machine
from tests.support.shared import requests as shared_requests

import wattline as wl
from wattline.model.jobs import JobTable
from wattline.model.signal import Signal
from wattline.results.verify.judge import verify
from wattline.scenario.load import changed, validate
from wattline.shared_nodes.rules import Rules as SharedRules
from wattline.shared_nodes.simulate import simulate_shared
from wattline.traces import Trace

IDLE_W, ACTIVE_W = 30.0, 100.0
POLICIES: dict[str, dict[str, Any]] = {
    "block": {"power": "block"}, "wait": {"power": {"name": "wait", "wait_s": 20, "slots": 2}},
    "watts": {"power": "watts"}, "dvfs": {"power": "dvfs"}, "adaptive": {"power": "adaptive"},
    "following": {"power": {"name": "adaptive", "follow_cap": True}},
    "shut": {"power": {"name": "adaptive", "strategy": "shut"}},
    "mix": {"power": {"name": "adaptive", "strategy": "mix"}},
    "conservative watts": {"power": "watts", "backfill": "conservative"},
    "conservative dvfs": {"power": "dvfs", "backfill": "conservative"},
    "late dvfs": {"power": {"name": "dvfs", "latency_s": 3}},
}
STARTS = {"block": 816323.0, "wait": 700720.0, "watts": 632750.0, "dvfs": 516287.1367326921,
          "adaptive": 583901.0211038961, "shut": 643398.0}
"""Sums of starts, each times the job's number, by the power of now alone."""
ABOUT_IDLE_W = [1.0, 29.9, 30.0, 30.1, 32.0, 58.0, 59.0, 100.0]
"""Of a node: below, at and just above what it draws idle, and so at the lowest level of DVFS."""


@st.composite
def workloads(draw: st.DrawFn, nodes: int = 10) -> JobTable:
    """Small whole times, so that ties and exact fits are common."""
    count = draw(st.integers(2, 12))

    def column(values: st.SearchStrategy[Any]) -> np.ndarray[Any, Any]:
        return np.array(draw(st.lists(values, min_size=count, max_size=count)))

    procs = column(st.integers(1, nodes))
    run_s = column(st.integers(1, 30))
    return JobTable.build(
        submit_s=np.cumsum(column(st.integers(0, 8))), run_s=run_s, procs=procs,
        requested_s=run_s + column(st.sampled_from([0, 0, 7])),
        power_w=procs * column(st.sampled_from(ABOUT_IDLE_W)))


def simulated(jobs: JobTable, policy: dict[str, Any], cap_w: float, **fields: Any) -> wl.Run:
    given_fields = {"name": "idle", "trace": {"file": "made"}, "policy": policy,
                    "power": {"cap": f"{cap_w}W"}}
    scenario = validate(changed(given_fields, fields), "idle")
    return wl.simulate(scenario, trace=Trace(jobs, source="made"))


NODES = {"machine.nodes": 10, "machine.node_idle_w": IDLE_W, "machine.node_active_w": ACTIVE_W}
SLOW = {"machine.classes": [{
    "name": "slow", "count": 10, "idle_w": IDLE_W, "active_w": ACTIVE_W, "off_w": 5.0,
    "boot_s": 5.0, "boot_w": 10.0, "shutdown_s": 2.0, "shutdown_w": 20.0}]}
"""Nodes that draw less while they boot than when they have: power comes back there as well."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", POLICIES)
@given(jobs=workloads(), room_w=st.integers(0, 70))
@costing(10)
def test_a_constant_cap_is_never_exceeded(name: str, jobs: JobTable, room_w: int) -> None:
    nodes = SLOW if name in ("shut", "mix") else NODES
    run = simulated(jobs, POLICIES[name], 10 * IDLE_W + 10.0 * room_w, **nodes)
    assert run.time_above_cap_s == 0.0
    assert verify(run).sentences == []


@st.composite
def classes(draw: st.DrawFn) -> dict[str, Any]:
    """Ten nodes of two or three classes: one may idle above what another draws when busy."""
    sizes = draw(st.sampled_from([(6, 4), (4, 6), (3, 3, 4), (1, 8, 1)]))
    idle_w = [draw(st.sampled_from([5.0, 20.0, 45.0, 120.0])) for _ in sizes]
    rise_w = [draw(st.sampled_from([0.0, 10.0, 70.0, 300.0])) for _ in sizes]
    return {"machine.classes": [
        {"name": f"class{at}", "count": sizes[at], "idle_w": idle_w[at],
         "active_w": idle_w[at] + rise_w[at]} for at in range(len(sizes))],
        "policy.placement": "first-fit"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["block", "wait", "watts", "adaptive", "following", "dvfs",
                                  "conservative watts", "conservative dvfs"])
@given(jobs=workloads(), room_w=st.integers(0, 70), on=classes(), silent=st.integers(1, 4))
@costing(10)
def test_nor_on_nodes_of_several_classes(
    name: str, jobs: JobTable, room_w: int, on: dict[str, Any], silent: int
) -> None:
    """Of every `silent` jobs one has no watts of its own: its nodes say what it draws."""
    own_w = np.where(np.arange(len(jobs)) % silent == 0, np.nan, jobs.power_w)
    idle_w = sum(each["count"] * each["idle_w"] for each in on["machine.classes"])
    run = simulated(jobs.with_columns(power_w=own_w), POLICIES[name], idle_w + 10.0 * room_w, **on)
    assert run.time_above_cap_s == 0.0
    assert verify(run).sentences == []
    assert (run.ran | run.refused).all()


@given(jobs=workloads(8), room_w=st.integers(0, 70), share=st.sampled_from([0.0, 0.3, 1.0]))
@costing(10)
def test_nor_where_jobs_share_nodes(jobs: JobTable, room_w: int, share: float) -> None:
    """Of their watts that which is above a node's idle power is added, and nothing taken away."""
    on = shared_machine(8, cpus=4)
    on = replace(on, nodes=replace(on.nodes, idle_w=np.full(8, IDLE_W), cpu_w=np.full(8, 15.0)))
    asked = shared_requests(on, *({
        "submit_s": float(jobs.submit_s[row]), "run_s": float(jobs.run_s[row]),
        "limit_s": float(jobs.requested_s[row]) + 60.0, "tasks": int(jobs.procs[row]),
        "min_nodes": 1} for row in range(len(jobs))))
    own_w = np.where(jobs.procs % 2 == 0, jobs.power_w / jobs.procs, np.nan)
    asked = replace(asked, cpu_load=np.full(len(jobs), share), power_per_node_w=own_w)
    cap_w = 8 * IDLE_W + 5.0 * room_w
    found = simulate_shared(on, asked, SharedRules(), cap=Signal.constant(cap_w, "W"))
    assert found.event_power_w.max(initial=0.0) <= cap_w + 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["block", "wait", "watts", "adaptive", "dvfs", "shut"])
def test_jobs_that_draw_more_than_idle_nodes_are_decided_as_ever(name: str) -> None:
    """Nothing comes back where nobody draws less: the account stays empty to the last bit."""
    random = np.random.default_rng(4)
    procs = random.integers(1, 6, 60)
    jobs = JobTable.build(submit_s=np.cumsum(random.integers(0, 9, 60)), procs=procs,
                          run_s=random.integers(1, 40, 60), requested_s=np.full(60, 50.0),
                          power_w=procs * random.uniform(60.0, 100.0, 60))
    run = simulated(jobs, POLICIES[name], 700.0, **NODES)
    assert run.time_above_cap_s == 0.0
    assert verify(run).sentences == []
    assert float(np.nansum(run.schedule.start_s * np.arange(1, 61))) == pytest.approx(
        STARTS[name], rel=1e-12)
