"""The engine does what the PuPPET net says: every start, every end, the same power at all times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import TIMES, costing
from tests.support.thinned import crossed

from wattline.books.log import RATE
from wattline.engine.prepare import Rules as EngineRules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.petri.puppet import jobs_from_table, puppet_net
from wattline.petri.puppet_rules import Rules
from wattline.petri.simulate import Simulation
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.wait import Wait
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
METHODS = ("none", "block", "wait", "dvfs")
IDLE_W = 30.0


def rules_of(method: str, nodes: int, wait_s: float, slots: int, latency_s: float = 0.0,
             levels: tuple[float, ...] = LEVELS, idle_w: float = IDLE_W,
             jobs_only: bool = False, **physics: float) -> Rules:
    return Rules(nodes, idle_w, levels=levels if method == "dvfs" else (1.0,),
                 wait_slots=slots if method == "wait" else 0, wait_time_s=wait_s,
                 latency_s=latency_s, jobs_only=jobs_only, **physics)


def by_net(jobs: JobTable, order: str, method: str, rules: Rules,
           cap_w: Signal) -> tuple[np.ndarray, Signal]:
    """Start and end of every job (NaN: never ran) and the power curve."""
    cap = cap_w if method != "none" else float("inf")
    net = puppet_net(jobs_from_table(jobs, 100.0), rules, order, cap)
    simulation = Simulation(net, float(jobs.submit_s[0]))
    curve: dict[float, float] = {}

    def note(moved: Simulation) -> None:
        curve[moved.now_s] = rules.watts(moved.place("Power").values()[0])

    simulation.run(on_instant=note)
    times = np.full((len(jobs), 2), np.nan)
    for done in simulation.place("Done").values():
        times[done.n] = done.start, done.end
    return times, Signal.from_steps(curve.items())


def by_engine(jobs: JobTable, order: str, method: str, rules: Rules, cap_w: Signal,
              overrun: str = "extend") -> Run:
    admission = {
        "none": NoLimit(), "block": Block(rules.jobs_only),
        "wait": Wait(rules.wait_time_s, rules.wait_slots, rules.jobs_only),
        "dvfs": Dvfs(np.array([rules.rate(f) for f in rules.levels]),
                     np.array([rules.share(f) for f in rules.levels]), rules.latency_s,
                     jobs_only=rules.jobs_only),
    }[method]
    policy = Composition(Fcfs() if order == "fcfs" else Wfp(), Easy(), admission, Requested(),
                         Counted(), NoRegulation())
    machine = Machine.uniform(rules.nodes, NodeClass(power_w_idle=rules.idle_w,
                                                     power_w_active=100.0))
    return simulate(jobs, machine, policy,
                    EngineRules(cap_w=None if method == "none" else cap_w, overrun=overrun,
                                cap_counts="jobs" if rules.jobs_only else "machine"))


def with_room(jobs: JobTable, rules: Rules, cap_w: Signal) -> Signal:
    """The cap, never below what any job that is not refused needs alone at the lowest level.

    Below that the net stops behind such a job, and the engine sets it aside.
    """
    low_w = jobs.power_w * rules.share(rules.levels[0])
    if not rules.jobs_only:
        low_w = rules.nodes * rules.idle_w + np.maximum(low_w - jobs.procs * rules.idle_w, 0.0)
    needed_w = low_w[low_w <= cap_w.value.max() * (1.0 + 1e-6)].max(initial=0.0)
    return Signal(cap_w.time_s, np.maximum(cap_w.value, needed_w), cap_w.unit)


def assert_equal(jobs: JobTable, order: str, method: str, rules: Rules, cap_w: Signal) -> None:
    if method == "dvfs":
        cap_w = with_room(jobs, rules, cap_w)
    times, curve = by_net(jobs, order, method, rules, cap_w)
    run = by_engine(jobs, order, method, rules, cap_w)
    np.testing.assert_allclose(run.schedule.start_s, times[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.schedule.end_s, times[:, 1], rtol=1e-9, atol=1e-9)
    power = Signal.from_steps(zip(run.events.time_s, run.events.power_w, strict=True))
    # Between two events: instants of the two may differ in the last bit of the float.
    instants = np.union1d(power.time_s, curve.time_s)
    middles = (instants[:-1] + instants[1:])[np.diff(instants) > 1e-6] / 2
    np.testing.assert_allclose(power.sample(middles), curve.sample(middles), rtol=1e-9, atol=1e-6)
    if method != "none" and len(cap_w.value) == 1:
        assert run.time_above_cap_s == 0


@st.composite
def small_workloads(draw: st.DrawFn) -> JobTable:
    """Small whole numbers, so that ties, exact fits and overruns are common."""
    count = draw(st.integers(2, 14))
    column = st.lists(st.integers(1, 16), min_size=count, max_size=count)
    gaps = draw(st.lists(st.integers(0, 6), min_size=count, max_size=count))
    procs = np.array(draw(st.lists(st.integers(1, 8), min_size=count, max_size=count)))
    # Below, at and just above what nodes idle at, and above what they do at the lowest level.
    each_w = st.sampled_from([1.0, 29.0, IDLE_W, 31.0, 50.0, 60.0, 90.0, 130.0])
    watts = np.array(draw(st.lists(each_w, min_size=count, max_size=count)))
    return JobTable.build(submit_s=np.cumsum(gaps), run_s=draw(column), requested_s=draw(column),
                          procs=procs, power_w=procs * watts)


@st.composite
def caps(draw: st.DrawFn) -> Signal:
    """Between the idle power of 8 nodes (240 W) and what they can draw; often it changes."""
    first = draw(st.integers(26, 100)) * 10.0
    later = draw(st.lists(st.tuples(st.integers(1, 80), st.integers(26, 100)), max_size=4))
    return Signal.from_steps([(0.0, first), *((float(t), 10.0 * w) for t, w in later)])


@pytest.mark.parametrize(("order", "method"), crossed(
    ["wfp", "fcfs"], METHODS, later=pytest.mark.long))
@given(jobs=small_workloads(), cap_w=caps(), wait_s=st.integers(0, 30), slots=st.integers(1, 4),
       latency_s=st.sampled_from([0.0, 0.0, 0.25, 2.0, 12.0]), jobs_only=st.booleans())
@costing(30)
def test_engine_equals_net_on_small_workloads(order: str, method: str, jobs: JobTable,
                                              cap_w: Signal, wait_s: int, slots: int,
                                              latency_s: float, jobs_only: bool) -> None:
    rules = rules_of(method, 8, float(wait_s), slots, latency_s, jobs_only=jobs_only)
    assert_equal(jobs, order, method, rules, cap_w)


def random_workload(rng: np.random.Generator, count: int, nodes: int) -> JobTable:
    """Arrivals and run times that are no whole numbers; requests that are often overrun."""
    run_s = rng.uniform(1.0, 300.0, count)
    procs = rng.integers(1, nodes // 2 + 1, count)
    return JobTable.build(
        submit_s=np.cumsum(rng.uniform(0.0, 60.0, count)), run_s=run_s,
        requested_s=np.ceil(run_s * rng.uniform(0.6, 3.0, count)), procs=procs,
        power_w=procs * rng.uniform(0.0, 130.0, count))


@pytest.mark.parametrize(("order", "method"), crossed(
    ["fcfs", "wfp"], METHODS, later=pytest.mark.long))
def test_engine_equals_net_under_load(order: str, method: str) -> None:
    # With and without steps of the cap, and a latency; one of each before a commit.
    for seed in range(2 if TIMES == 1 else 4 * TIMES):
        rng = np.random.default_rng(seed)
        nodes = int(rng.choice([16, 64]))
        jobs = random_workload(rng, 50 if TIMES == 1 else 80, nodes)
        cap_w = Signal.constant(float(rng.uniform(0.75, 1.0)) * nodes * 100.0)
        if seed % 3 == 0:
            steps = [(1000.0 * k, float(rng.uniform(0.5, 1.0)) * nodes * 100.0) for k in range(6)]
            cap_w = Signal.from_steps(steps)
        rules = rules_of(
            method, nodes, float(rng.choice([50.0, 500.0])), int(rng.integers(1, 8)),
            latency_s=0.4 * (seed % 2), levels=tuple(np.sort(rng.uniform(0.2, 1.0, 4))),
            idle_w=float(rng.uniform(0.0, IDLE_W)), alpha=float(rng.uniform(1.0, 3.0)),
            beta=float(rng.choice([0.0, 0.5, rng.uniform(0.0, 2.0)])),
            core_share=float(rng.uniform(0.0, 1.0)))
        assert_equal(jobs, order, method, rules, cap_w)


def test_a_stopped_backfill_is_freed_by_time() -> None:
    # 10 nodes. Job 0 holds 6 nodes until 100; job 1 needs 8 and gets
    # the reservation at 100 with 2 extra. At 20 job 2 (4 nodes, 80 s) would end in time, but not
    # within the cap: it blocks job 3. At 30 it could no longer end in time, so the arrival of
    # job 4 lets job 3 pass; nothing has ended meanwhile.
    jobs = JobTable.build(submit_s=[0, 10, 20, 20, 30], run_s=[100, 10, 80, 300, 10],
                          requested_s=[100, 10, 80, 300, 10], procs=[6, 8, 4, 2, 9],
                          power_w=[600.0, 240.0, 400.0, 60.0, 270.0])
    rules = rules_of("block", 10, 0.0, 0)
    cap_w = Signal.constant(800.0)
    run = by_engine(jobs, "fcfs", "block", rules, cap_w)
    assert run.schedule.start_s[3] == 30.0
    assert_equal(jobs, "fcfs", "block", rules, cap_w)


def test_a_change_of_frequency_stops_jobs_for_its_latency() -> None:
    # One node, a job of 100 W and 100 s. At 36 s the cap falls to 55 W: f = 0.5 (51.25 W, a rate
    # of 0.7071). It stands still for 2 s, then works until 50 s, when the cap rises again: 12 s at
    # 0.7071 are 8.485 s of its work. It stands still for 2 s more and does the other 55.515 s.
    jobs = JobTable.build(submit_s=[0], run_s=[100], requested_s=[120], procs=[1], power_w=[100.0])
    rules = rules_of("dvfs", 1, 0.0, 0, latency_s=2.0)
    cap_w = Signal.from_steps([(0.0, 100.0), (36.0, 55.0), (50.0, 100.0)])
    run = by_engine(jobs, "fcfs", "dvfs", rules, cap_w)
    assert run.schedule.end_s[0] == pytest.approx(52.0 + 64.0 - 12.0 * 0.5**0.5)
    assert run.energy_j == pytest.approx(36 * 100 + 14 * 51.25 + (run.schedule.end_s[0] - 50) * 100)
    assert_equal(jobs, "fcfs", "dvfs", rules, cap_w)


def changes_within(run: Run, latency_s: float) -> int:
    """Count how many changes of frequency came before the standstill of the one before was over."""
    changed_s = np.unique(run.events.time_s[run.events.kind == RATE])
    return int(np.sum(np.diff(changed_s) < latency_s))


@pytest.mark.parametrize("order", ["fcfs", "wfp"])
def test_engine_equals_net_where_changes_come_within_one_latency(order: str) -> None:
    for seed in range(min(TIMES, 2)):
        rng = np.random.default_rng(seed)
        jobs = random_workload(rng, 40, 16)
        steps = [(25.0 * k, float(rng.uniform(600.0, 1400.0))) for k in range(200)]
        cap_w = Signal.from_steps([*steps, (5000.0, 1600.0)])
        rules = rules_of("dvfs", 16, 0.0, 0, latency_s=40.0)
        assert changes_within(by_engine(jobs, order, "dvfs", rules, cap_w), 40.0) > 50
        assert_equal(jobs, order, "dvfs", rules, cap_w)


@pytest.mark.parametrize(("raised_s", "run_s", "end_s"), [
    # It stands still from 10 to 24 s: the change at 14 s begins the 10 s of latency anew.
    (14.0, 100.0, 114.0),
    # Two changes apart: 10 to 20 and 60 to 70 s, and 40 s at half speed between them.
    (60.0, 100.0, 140.0),
    # Killed at its requested 300 s, which no standstill is counted in.
    (14.0, 1000.0, 314.0),
])
def test_a_standstill_begins_anew_at_each_change(raised_s, run_s, end_s) -> None:
    jobs = JobTable.build(submit_s=[0], run_s=[run_s], requested_s=[300], procs=[1],
                          power_w=[100.0])
    rules = rules_of("dvfs", 1, 0.0, 0, latency_s=10.0, levels=(0.5, 1.0), beta=1.0)
    cap_w = Signal.from_steps([(0.0, 100.0), (10.0, 55.0), (raised_s, 100.0)])
    run = by_engine(jobs, "fcfs", "dvfs", rules, cap_w, overrun="kill")
    assert run.schedule.end_s[0] == pytest.approx(end_s)
    if run_s <= 300.0:
        assert_equal(jobs, "fcfs", "dvfs", rules, cap_w)


def test_a_start_in_the_pass_of_a_change_stands_still_and_a_later_one_does_not() -> None:
    # Three nodes, idle 30 W, a cap of 200 W, levels 0.5 and 1. Job 1 comes at 20 s and takes the
    # machine to 0.5: both stand still until 30 s, job 1 from its first second. Job 2 comes at
    # 25 s, when nothing changes, and works at once. Job 1 ends at 50 s, the level rises again.
    jobs = JobTable.build(submit_s=[0, 20, 25], run_s=[100, 10, 5], requested_s=[200, 200, 200],
                          procs=[1, 1, 1], power_w=[100.0, 100.0, 60.0])
    rules = rules_of("dvfs", 3, 0.0, 0, latency_s=10.0, levels=(0.5, 1.0), beta=1.0)
    cap_w = Signal.constant(200.0)
    run = by_engine(jobs, "fcfs", "dvfs", rules, cap_w)
    assert run.schedule.start_s.tolist() == [0.0, 20.0, 25.0]
    assert run.schedule.end_s == pytest.approx([130.0, 50.0, 35.0])
    assert_equal(jobs, "fcfs", "dvfs", rules, cap_w)
