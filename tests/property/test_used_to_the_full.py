"""Caps, bounds, budgets and limits are used: what would have fitted did start.

That none of them is exceeded, a rule would keep as well that starts too little. Here jobs are
served in their order, and what the first waiting one lacks is worked out from the schedule alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared import machine as shared_machine
from tests.support.shared import requests
from tests.support.shared_budgeted import joules
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import PowerBound
from wattline.model.signal import FloatArray, Signal
from wattline.model.views.build import power_view
from wattline.physics.budget import EnergyBudget
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.block import Block
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.easy import Easy
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.placement.bounded_setup import bounded
from wattline.shared_nodes.rules import Rules as SharedRules
from wattline.shared_nodes.simulate import simulate_shared

IDLE_W, BUSY_W, UNITS = 30.0, 100.0, 10
NODE = NodeClass(power_w_idle=IDLE_W, power_w_active=BUSY_W)
MACHINE = Machine.uniform(UNITS, NODE, nodes_per_rack=5)
SLACK = 1e-6
LEAST_FACTOR = 0.6
"""Of the power of jobs, at the lowest level of the machine."""
CPU_W = 10.0
"""Of each of the four CPUs of shared nodes, which draw 100 W idle."""


class Held(NamedTuple):
    """Jobs by time: one row per job, in the order in which they are served."""

    submit_s: FloatArray
    start_s: FloatArray
    end_s: FloatArray
    served: Any
    """Jobs that are not refused."""

    def running(self, time_s: float) -> Any:
        return np.flatnonzero((self.start_s <= time_s) & (self.end_s > time_s))

    def waiting(self, time_s: float) -> Any:
        later = ~(self.start_s <= time_s)
        return np.flatnonzero(self.served & (self.submit_s <= time_s) & later)

    def times(self, *more: float) -> list[float]:
        found = np.concatenate([self.submit_s, self.end_s, np.asarray(more)])
        return sorted({float(each) for each in found[np.isfinite(found)]})

    def heads(self, *more: float) -> Iterator[tuple[float, int]]:
        """Whenever something happens, the first of those that wait."""
        for time_s in self.times(*more):
            waiting = self.waiting(time_s)
            if waiting.size:
                yield time_s, int(waiting[0])


@st.composite
def workloads(draw: st.DrawFn, units: int = UNITS) -> JobTable:
    """Small whole times, so that ties and exact fits are common; some ask for too much time."""
    count = draw(st.integers(3, 12))

    def column(values: st.SearchStrategy[Any]) -> np.ndarray[Any, Any]:
        return np.array(draw(st.lists(values, min_size=count, max_size=count)))

    procs = column(st.integers(1, units))
    run_s = column(st.integers(1, 30))
    return JobTable.build(
        submit_s=np.cumsum(column(st.integers(0, 8))),
        run_s=run_s,
        procs=procs,
        requested_s=run_s + column(st.sampled_from([0, 0, 7])),
        power_w=procs * column(st.sampled_from([32.0, 58.0, 59.0, 80.0, 100.0])),
    )


def held_by(run: Any) -> Held:
    schedule = run.schedule
    return Held(run.jobs.submit_s, schedule.start_s, schedule.end_s, ~run.refused)


LEVELS = Dvfs(speed=np.array([0.5, 1.0]), power_factor=np.array([LEAST_FACTOR, 1.0]))
CAPPED: dict[str, Any] = {
    "block": Block,
    "watts": Watts,
    "dvfs": lambda: LEVELS,
    "adaptive": lambda: adaptive(MACHINE),
}


@pytest.mark.parametrize("name", CAPPED)
@given(jobs=workloads(), room_w=st.integers(7, 70))
@costing(15)
def test_the_first_waiting_job_lacks_nodes_or_watts(name: str, jobs: JobTable, room_w: int) -> None:
    """In watts above idle; where jobs may be slowed down, at the lowest level of all (`dvfs`) or of
    its own beside those that run (`adaptive`)."""
    admission = CAPPED[name]()
    cap_w = UNITS * IDLE_W + 10.0 * room_w
    run = simulate(
        jobs,
        MACHINE,
        compose(backfill=NoBackfill(), admission=admission),
        Rules(cap_w=Signal.constant(cap_w, "W")),
    )
    held = held_by(run)
    lowest = float(admission.dynamic[0]) if name == "adaptive" else 1.0
    ran_w = jobs.power_w
    if name == "adaptive":  # it keeps the level that it has begun at
        ran_w = run.schedule.energy_j / (held.end_s - held.start_s)
    factor = LEAST_FACTOR if name == "dvfs" else 1.0
    rise_w = np.maximum(ran_w * factor - IDLE_W * jobs.procs, 0.0)
    least_w = np.maximum(jobs.power_w * factor - IDLE_W * jobs.procs, 0.0) * lowest
    for time_s, head in held.heads():
        running = held.running(time_s)
        free = UNITS - jobs.procs[running].sum()
        left_w = cap_w - UNITS * IDLE_W - rise_w[running].sum()
        assert jobs.procs[head] > free or least_w[head] > left_w - SLACK, (time_s, head)


def find_nodes(free: Any, parts: list[tuple[Any, float, float]], units: int, each_w: float) -> bool:
    """Return whether so many free nodes have room in all their parts: as (nodes, watts left,
    share)."""
    left_w = [watts for _, watts, _ in parts]
    found = 0
    for node in np.flatnonzero(free):
        mine = [at for at, (nodes, _, _) in enumerate(parts) if node in nodes]
        if all(each_w * parts[at][2] <= left_w[at] + SLACK for at in mine):
            found += 1
            for at in mine:
                left_w[at] -= each_w * parts[at][2]
    return found >= units


@given(jobs=workloads(), rack_w=st.integers(2, 35), site_w=st.integers(7, 70))
@costing(15)
def test_the_first_waiting_job_lacks_nodes_that_have_watts_in_their_rack(
    jobs: JobTable, rack_w: int, site_w: int
) -> None:
    """Ten watts each above the idle power of a rack of five nodes, and of the site."""
    limits_w = {"rack0": 5 * IDLE_W + 10.0 * rack_w}
    site_limit_w = UNITS * IDLE_W + 10.0 * site_w
    view = power_view(MACHINE, limits_w=limits_w, site_limit_w=site_limit_w)
    policy = compose(backfill=NoBackfill(), placement=bounded(view, MACHINE))
    run = simulate(jobs, MACHINE, policy, Rules(choose_nodes=True))
    held = held_by(run)
    place = run.placement
    each_w = np.maximum(jobs.power_w / jobs.procs - IDLE_W, 0.0)
    for time_s, head in held.heads():
        running = set(held.running(time_s).tolist())
        drawn_w, free = np.zeros(UNITS), np.ones(UNITS, dtype=bool)
        for job, first, count in zip(place.job, place.first, place.count, strict=True):
            if int(job) in running:
                drawn_w[first : first + count] = each_w[job]
                free[first : first + count] = False
        parts = [
            (range(5), 10.0 * rack_w - drawn_w[:5].sum(), 1.0),
            (range(UNITS), 10.0 * site_w - drawn_w.sum(), 1.0),
        ]
        assert not find_nodes(free, parts, int(jobs.procs[head]), each_w[head]), (time_s, head)


def fits_periods(
    held: Held,
    rise_w: FloatArray,
    run_s: FloatArray,
    time_s: float,
    head: int,
    above_j: float,
    length_s: float,
) -> bool:
    """Return True if every period that a job would touch has the joules beside who has started."""
    ends_s = time_s + run_s[head]
    begun = np.flatnonzero(held.start_s <= time_s)
    for period in range(int(time_s // length_s), int(np.ceil(ends_s / length_s))):
        from_s, until_s = period * length_s, (period + 1) * length_s
        spans_s = np.minimum(held.end_s[begun], until_s) - np.maximum(held.start_s[begun], from_s)
        drawn_j = float((rise_w[begun] * np.maximum(spans_s, 0.0)).sum())
        needs_j = rise_w[head] * (min(ends_s, until_s) - max(time_s, from_s))
        if drawn_j + needs_j > above_j - SLACK:
            return False
    return True


@given(jobs=workloads(), share=st.integers(2, 9), length_s=st.sampled_from([20.0, 45.0, 100.0]))
@costing(15)
def test_the_first_waiting_job_lacks_nodes_or_joules(
    jobs: JobTable, share: int, length_s: float
) -> None:
    """Periods of one slot, so that no price holds a job back, and requests that are exact."""
    jobs = jobs.with_columns(requested_s=jobs.run_s, submit_s=jobs.submit_s - jobs.submit_s[0])
    above_j = length_s * UNITS * (BUSY_W - IDLE_W) * share / 10.0
    budget = EnergyBudget(UNITS * IDLE_W * length_s + above_j, 0.0, length_s, Signal.constant(1.0))
    admission = budgeted(MACHINE, budget, adaptive(MACHINE, strategy=Strategy.IDLE, jobs=jobs))
    run = simulate(jobs, MACHINE, compose(backfill=NoBackfill(), admission=admission))
    held = held_by(run)
    assert (run.ran | run.refused).all()
    rise_w = jobs.power_w - IDLE_W * jobs.procs
    for time_s, head in held.heads(*length_s * np.arange(1, run.end_s // length_s + 1)):
        free = UNITS - jobs.procs[held.running(time_s)].sum()
        assert jobs.procs[head] > free or not fits_periods(
            held, rise_w, jobs.run_s, time_s, head, above_j, length_s
        ), (time_s, head)


@pytest.mark.parametrize("name", ["no limit", "watts"])
@given(jobs=workloads(), room_w=st.integers(7, 70))
@costing(15)
def test_a_job_that_fits_beside_the_reservation_of_the_first_does_start(
    name: str, jobs: JobTable, room_w: int
) -> None:
    """EASY: who is over, by its request, when the first waiting job has nodes and watts delays
    nobody. It is enough that it ends before any running job is expected to."""
    cap_w = UNITS * IDLE_W + 10.0 * room_w
    capped = name == "watts"
    run = simulate(
        jobs,
        MACHINE,
        compose(backfill=Easy(), admission=Watts() if capped else NoLimit()),
        Rules(cap_w=Signal.constant(cap_w, "W") if capped else None),
    )
    held = held_by(run)
    rise_w = np.maximum(jobs.power_w - IDLE_W * jobs.procs, 0.0)
    for time_s in held.times():
        running = held.running(time_s)
        free = UNITS - jobs.procs[running].sum()
        left_w = cap_w - UNITS * IDLE_W - rise_w[running].sum() if capped else np.inf
        next_s = min(held.start_s[running] + jobs.requested_s[running], default=np.inf)
        for job in held.waiting(time_s):
            in_time = time_s + jobs.requested_s[job] <= next_s
            fits = jobs.procs[job] <= free and rise_w[job] <= left_w - SLACK
            assert not (fits and in_time), (time_s, job)


# ---- shared nodes -------------------------------------------------------------------------------


NODES = 6
IN_ORDER = SharedRules(
    scheduler="builtin", kill_late_s=0.0, batch_sched_delay_s=0.0, sched_interval_s=1e6
)
"""The queue is looked at when something happens, and one that waits lets nobody pass."""


@st.composite
def whole_nodes(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Jobs of whole nodes, each 40 W above idle, for as long as they say."""
    submit_s = 0.0
    found = []
    for _ in range(draw(st.integers(3, 10))):
        submit_s += draw(st.integers(0, 200))
        count = draw(st.integers(1, NODES))
        run_s = 60.0 * draw(st.integers(1, 15))
        found.append(
            {
                "tasks": 4 * count,
                "min_nodes": count,
                "max_nodes": count,
                "submit_s": submit_s,
                "run_s": run_s,
                "limit_s": run_s,
            }
        )
    found[0]["submit_s"] = 0.0
    return found


class Shared(NamedTuple):
    held: Held
    count: Any
    """Of nodes, by job."""
    found: Any

    def busy(self, time_s: float) -> Any:
        running = np.isin(self.found.allocation_job, self.held.running(time_s))
        return self.found.allocation_node[running]


def shared(
    jobs: list[dict[str, Any]], on: Any = None, rules: SharedRules = IN_ORDER, **more: Any
) -> Shared:
    on = on or shared_machine(NODES)
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules, **more)
    held = Held(asked.submit_s, found.start_s, found.end_s, np.isfinite(found.start_s))
    return Shared(held, asked.min_nodes, found)


@given(jobs=whole_nodes(), nodes=st.integers(1, NODES))
@costing(30)
def test_on_shared_nodes_the_first_waiting_job_lacks_nodes_or_watts(
    jobs: list[dict[str, Any]], nodes: int
) -> None:
    """A cap for so many busy nodes, to the watt."""
    made = shared(jobs, cap=Signal.constant(100.0 * NODES + 40.0 * nodes, "W"))
    for time_s, head in made.held.heads():
        left = nodes - len(made.busy(time_s))
        assert made.count[head] > left, (time_s, head)


@given(
    jobs=whole_nodes(),
    racks=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    feed=st.integers(1, 12),
)
@costing(30)
def test_on_shared_nodes_the_first_waiting_job_lacks_nodes_with_watts_in_their_parts(
    jobs: list[dict[str, Any]], racks: tuple[int, int], feed: int
) -> None:
    """Racks of three nodes with room for so many busy ones, and a feed with half of each watt."""
    every = np.arange(NODES)
    bounds = [
        PowerBound(f"rack{at}", 300.0 + 40.0 * racks[at], 300.0, every[3 * at : 3 * at + 3])
        for at in range(2)
    ]
    bounds.append(PowerBound("feed", 300.0 + 10.0 * feed, 300.0, every, np.full(NODES, 0.5)))
    made = shared(jobs, bounds=bounds)
    for time_s, head in made.held.heads():
        busy = made.busy(time_s)
        free = ~np.isin(every, busy)
        parts = [
            (
                range(3 * at, 3 * at + 3),
                40.0 * (racks[at] - np.isin(busy, range(3 * at, 3 * at + 3)).sum()),
                1.0,
            )
            for at in range(2)
        ]
        parts.append((range(NODES), 10.0 * feed - 20.0 * len(busy), 0.5))
        assert not find_nodes(free, parts, int(made.count[head]), 40.0), (time_s, head)


@given(
    jobs=whole_nodes(), share=st.integers(2, 9), length_s=st.sampled_from([600.0, 1000.0, 2000.0])
)
@costing(30)
def test_on_shared_nodes_the_first_waiting_job_lacks_nodes_or_joules(
    jobs: list[dict[str, Any]], share: int, length_s: float
) -> None:
    above_j = length_s * NODES * 40.0 * share / 10.0
    on = shared_machine(NODES)
    made = shared(jobs, on, budget=joules(on, above_j, length_s))
    run_s = np.array([job["run_s"] for job in jobs])
    for time_s, head in made.held.heads():
        lacks_nodes = made.count[head] > NODES - len(made.busy(time_s))
        assert lacks_nodes or not fits_periods(
            made.held, 40.0 * made.count, run_s, time_s, head, above_j, length_s
        ), (time_s, head)


@given(jobs=whole_nodes(), most=st.integers(1, NODES))
@costing(30)
def test_a_limit_of_a_user_holds_back_only_who_would_pass_it(
    jobs: list[dict[str, Any]], most: int
) -> None:
    """Limits let others pass: on nodes enough for all, whoever waits asks for more CPUs than the
    limit has left."""
    on = shared_machine(NODES * 10)
    limits = on.qos.limits
    user_tres = limits.user_tres.copy()
    user_tres[0, 0] = 4 * most
    on = replace(on, qos=replace(on.qos, limits=replace(limits, user_tres=user_tres)))
    made = shared(jobs, on, replace(IN_ORDER, enforce_limits=True))
    for time_s in made.held.times():
        left = most - len(made.busy(time_s))
        assert left >= 0
        for job in made.held.waiting(time_s):
            assert made.count[job] > left, (time_s, job)
