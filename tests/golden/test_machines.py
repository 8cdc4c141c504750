"""Nodes of two classes, cores, and what a policy in Python may do to jobs and nodes."""

from __future__ import annotations

from collections import defaultdict

from tests.golden.lab import joules, play, spans, table
from tests.support.workloads import compose
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import EventKind, Outcome
from wattline.policies.placement.first_fit import FirstFit
from wattline.policies.view import Pause, PowerDown, PowerUp, SetLevel, SetSpeed, Start, WakeAt

FAST = NodeClass("fast", power_w_idle=100.0, power_w_active=400.0, speed=2.0)
SLOW = NodeClass("slow", power_w_idle=50.0, power_w_active=200.0)
MIXED = Machine((NodeGroup(FAST, 2), NodeGroup(SLOW, 2)))


def test_two_classes_of_nodes():
    """Three jobs of 10, 10 and 4 s of work. A has the fast nodes and takes 5 s; B the slow ones;
    C two fast ones and a slow one, at the speed of the slowest.

        0         1
        01234567890123
        BBBBBBBBBB....   slow
        BBBBBBBBBBCCCC   slow
        AAAAA.....CCCC   fast
        AAAAA.....CCCC   fast
    """
    run = play(table((0, 2, 10), (0, 2, 10), (0, 3, 4)), compose(placement=FirstFit()), MIXED,
               choose_nodes=True)
    assert spans(run) == [(0, 5), (0, 10), (10, 14)]
    assert joules(run) == [5 * 800, 10 * 400, 4 * 1000]
    # Fast: 14 s idle of 200 W, A 600 W above it for 5 s, C 600 W for 4 s.
    # Slow: 14 s idle of 100 W, B 300 W for 10 s, C 150 W for 4 s.
    assert run.class_energy_j == {"fast": 2800 + 3000 + 2400, "slow": 1400 + 3000 + 600}
    assert run.energy_j == 13200
    placed = run.placement
    rows = zip(placed.job.tolist(), placed.first.tolist(), placed.count.tolist(), strict=True)
    assert sorted(rows) == [(0, 0, 2), (1, 2, 2), (2, 0, 3)]


def test_cores_are_shared_where_the_granularity_says_so():
    """Two nodes of four cores, 40 W idle and 120 W active: a core 10 W and 30 W.

    A takes 3 cores and B 5, together. By whole nodes A takes one and B, which needs two, waits.
    """
    machine = Machine.uniform(2, NodeClass(cores=4, power_w_idle=40.0, power_w_active=120.0))
    jobs = table((0, 3, 10), (0, 5, 10), (0, 1, 5))
    by_core = play(jobs, compose(), machine, granularity="core")
    assert by_core.units == 8
    assert spans(by_core) == [(0, 10), (0, 10), (10, 15)]
    assert joules(by_core) == [900, 1500, 150]
    assert by_core.energy_j == 10 * 240 + 5 * (30 + 70)
    by_node = play(jobs, compose(), machine)
    assert by_node.units == 2
    assert spans(by_node) == [(0, 10), (10, 20), (0, 5)]
    assert joules(by_node) == [1200, 2400, 600]


class Script:
    """A policy that does what is written down for each instant."""

    def __init__(self, *steps):
        self.plan = defaultdict(list)
        for time_s, *actions in steps:
            self.plan[time_s] += actions
        self.called_s = []

    def decide(self, view):
        self.called_s.append(view.now_s)
        later = [time_s for time_s in self.plan if time_s > view.now_s]
        return [*self.plan.pop(view.now_s, []), *([WakeAt(min(later))] if later else [])]


def test_speed_pause_and_resume():
    """10 s of work on 2 nodes (600 W). From 4 on at half speed and 400 W; paused at 6 with 5 s
    left; on again at 10 at full speed.

        0         1
        012345678901234
        AAAAaa....AAAAA
    """
    script = Script((0, Start(0)), (4, SetSpeed(0, 0.5, 400.0)), (6, Pause(0)), (10, Start(0)))
    run = play(table((0, 2, 10, 20)), script)
    assert spans(run) == [(0, 15)]
    assert joules(run) == [4 * 600 + 2 * 400 + 5 * 600]
    assert run.energy_j == 15 * 400 + 4 * 400 + 2 * 200 + 5 * 400
    kinds = [EventKind(kind).name for kind in run.events.kind if kind != EventKind.WAKE]
    assert kinds == ["SUBMIT", "START", "RATE", "PAUSE", "RESUME", "END"]


def test_a_paused_job_is_killed_when_its_own_time_is_used_up():
    """The same with a request of 9 s of full speed: 4 s and 2 half ones are used when it is
    paused, so 4 are left from 10 on, and it is killed at 14 with a second of work undone."""
    script = Script((0, Start(0)), (4, SetSpeed(0, 0.5, 400.0)), (6, Pause(0)), (10, Start(0)))
    run = play(table((0, 2, 10, 9)), script, overrun="kill")
    assert spans(run) == [(0, 14)]
    assert run.schedule.outcome.tolist() == [Outcome.KILLED]
    assert joules(run) == [4 * 600 + 2 * 400 + 4 * 600]


def test_paused_jobs_may_go_on_elsewhere():
    """A pauses on the fast nodes at 2 with 6 of its 10 s left, B (8 s) takes them for 4 s; A goes
    on at 2 on the slow ones. Idle power while paused belongs to nobody."""
    script = Script((0, Start(0)), (2, Pause(0)), (3, Start(1), Start(0)))
    run = play(table((0, 2, 10), (0, 2, 8)), script, MIXED, choose_nodes=True)
    assert spans(run) == [(0, 9), (3, 7)]
    assert joules(run) == [2 * 800 + 6 * 400, 4 * 800]
    # Fast: 9 s of 200 W, 600 W above it for 2 + 4 s. Slow: 9 s of 100 W, 300 W for 6 s.
    assert run.class_energy_j == {"fast": 1800 + 3600, "slow": 900 + 1800}


def test_machine_wide_level_by_a_python_policy():
    """Half speed and 0.6 of the power from 2 to 6, for the running job and the one that starts."""
    script = Script((0, Start(0)), (2, SetLevel(0.5, 0.6)), (6, SetLevel(1.0, 1.0)))
    run = play(table((0, 2, 10)), script)
    assert spans(run) == [(0, 12)]
    assert joules(run) == [2 * 600 + 4 * 360 + 6 * 600]


def test_power_down_and_up_with_boot_time_and_energy():
    """Two nodes shut down from 0 (10 s at 80 W), are off (5 W) until 30, boot for 20 s at 150 W.
    B needs three nodes and waits for them and for A's end.

        0    1    2    3    4    5    6   (a column is 2 s)
        DDDDD..........bbbbbbbbbbBBBBB
        DDDDD..........bbbbbbbbbbBBBBB
        -------------------------BBBBB   idle, 100 W
        AAAAAAAAAAAAAAAAAAAAAAAAA-----
    """
    node = NodeClass(power_w_idle=100.0, power_w_active=300.0, power_w_off=5.0, boot_s=20.0,
                     boot_power_w=150.0, shutdown_s=10.0, shutdown_power_w=80.0)
    script = Script((0, Start(0), PowerDown(2)), (30, PowerUp(2)), (50, Start(1)))
    run = play(table((0, 1, 50), (20, 3, 10)), script, Machine.uniform(4, node))
    assert spans(run) == [(0, 50), (50, 60)]
    assert joules(run) == [15000, 9000]
    switched_j = 10 * 2 * 80 + 20 * 2 * 5 + 20 * 2 * 150
    assert run.energy_j == 50 * 300 + 50 * 100 + switched_j + 10 * (3 * 300 + 100)
    changes = run.events.kind == EventKind.NODE
    assert run.events.time_s[changes].tolist() == [0, 10, 30, 50]
    assert run.events.value[changes].tolist() == [-2, -2, 2, 2]
    assert run.events.power_w[changes].tolist() == [
        300 + 100 + 160, 300 + 100 + 10, 300 + 100 + 300, 400]


class AtCycles(Script):
    """Starts what fits, but only at the instants of its control cycle."""

    cycle_s = 10.0

    def decide(self, view):
        super().decide(view)
        if view.now_s % self.cycle_s:
            return []
        starts, free = [], view.free
        for job in view.queue:
            if job.units <= free:
                free -= job.units
                starts.append(Start(job.job))
        return starts


def test_a_control_cycle_is_an_event():
    """Cycles at 0, 10, 20; B is submitted at 3 and waits for the next one."""
    policy = AtCycles()
    run = play(table((0, 2, 4), (3, 1, 12)), policy)
    assert spans(run) == [(0, 4), (10, 22)]
    assert policy.called_s == [0, 3, 4, 10, 20, 22]
    cycles = run.events.kind == EventKind.CONTROL
    assert run.events.time_s[cycles].tolist() == [0, 10, 20]
    assert run.energy_j == 22 * 400 + (8 + 12) * 200

