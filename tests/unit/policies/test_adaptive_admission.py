"""Power-adaptive admission on a machine small enough to follow by hand.

Ten nodes of 16 cores: idle 112 W, full 352 W; the seven steps draw 192, 208, 240, 256, 272, 288
and 320 W. Idle machine 1,120 W, all at full speed 3,520 W.
"""

import math

import numpy as np
import pytest
from tests.support.plain import in_plain
from tests.support.workloads import logged_ranges

from wattline.engine.composed import adaptive_run, composed
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.physics.core_power import NODE_OFF_W, SANDY_BRIDGE, parse_cpu_freq
from wattline.physics.powercap import CapChange, PowerCap, WattReservation
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.backfill.conservative import Conservative
from wattline.results.verify.judge import verify
from wattline.studies.esp import study as esp
from wattline.studies.esp.published import rows
from wattline.studies.esp.workloads import esp_jobs, profiles

SPEED = SANDY_BRIDGE.speed()


def machine(boot_s=0.0, shutdown_s=0.0):
    node = SANDY_BRIDGE.node_class(16, off_w=NODE_OFF_W, boot_s=boot_s, shutdown_s=shutdown_s)
    return Machine.uniform(10, node)


def jobs(*rows):
    """(submit, nodes, seconds) each."""
    submit, nodes, run = zip(*rows, strict=True)
    return JobTable.build(submit_s=submit, procs=np.array(nodes) * 16, run_s=run)


def run(table, plan=None, strategy=Strategy.DVFS, **more):
    found = adaptive_run(table, more.pop("machine", machine()), plan, strategy, **more)
    assert verify(found).sentences == []
    return found


def test_without_a_cap_all_run_at_full_speed():
    found = run(jobs((0, 10, 100), (0, 5, 50)))
    assert list(found.schedule.start_s) == [0, 100]
    assert found.power_w_peak == 3520


def test_full_optimal_lowest_wait():
    """2,400 W leave 1,280 W above idle.

    The first job (5 nodes) fits at full speed: 1,200 W. For the second (1 node) 80 W are left:
    just its lowest frequency. The third (1 node) has nothing left and waits for the first.
    """
    found = run(jobs((0, 5, 100), (0, 1, 60), (0, 1, 60)), PowerCap(2400))
    assert list(found.schedule.start_s) == [0, 0, 100]
    assert found.schedule.end_s[1] == pytest.approx(60 / SPEED[0])
    assert found.power_w_peak == 2400
    assert found.time_above_cap_s == 0


def test_the_optimal_frequency_lets_all_idle_nodes_run():
    """2,800 W leave 1,680 W. Ten nodes at full speed need 2,400 W; at 2.0 GHz 1,600 W."""
    found = run(jobs((0, 10, 100)), PowerCap(2800))
    assert found.schedule.end_s[0] == pytest.approx(100 / SPEED[4])
    assert found.power_w_peak == 10 * 272


def test_a_job_keeps_its_range():
    logged = logged_ranges([parse_cpu_freq("2200000-2400000")])
    with_range = run(jobs((0, 10, 100)), PowerCap(2900), logged=logged)
    assert with_range.schedule.end_s[0] == pytest.approx(100 / SPEED[5])
    never = run(jobs((0, 10, 100)), PowerCap(2800), logged=logged)
    assert not never.ran[0]


def test_a_cap_on_the_fly_is_exceeded_until_running_jobs_end():
    plan = PowerCap(changes=(CapChange(50.0, 2000.0), CapChange(500.0, math.inf)))
    found = run(jobs((0, 8, 100), (60, 4, 100)), plan)
    assert found.time_above_cap_s == 50
    assert found.schedule.start_s[1] == 100
    # 880 W above idle: four nodes at 2.6 GHz need 960 W, at 2.4 GHz 832 W; all ten idle nodes
    # would need 800 W at 1.2 GHz, which is the optimal frequency.
    assert found.schedule.end_s[1] - 100 == pytest.approx(100 / SPEED[0])


def test_a_reserved_window_is_never_exceeded_and_short_jobs_fill_the_time_before_it():
    """From 100 s to 200 s 1,520 W are reserved: 2,000 W are left, 880 W above idle."""
    plan = PowerCap(reservations=(WattReservation(100.0, 100.0, 1520.0),))
    table = jobs((0, 8, 150), (0, 8, 80), (0, 2, 500), (0, 3, 300))
    found = run(table, plan, strategy=Strategy.IDLE)
    # The first would run into the window with 1,920 W above idle: it starts when it is over.
    assert found.schedule.start_s[0] == 200
    # The second ends before the window; the third fits into it with 480 W and needs no node of
    # the first; the fourth would: it waits for the first to end.
    assert list(found.schedule.start_s[1:]) == [0, 0, 350]
    assert found.time_above_cap_s == 0


def test_a_window_is_taken_from_the_cap_that_holds_by_then():
    """The change to 2,400 W leaves the window 1,400 W, too little for 4 nodes at 2,080 W."""
    plan = PowerCap(3520, changes=(CapChange(10.0, 2400.0),),
                    reservations=(WattReservation(200.0, 100.0, 1000.0),))
    found = run(jobs((0, 1, 5), (20, 4, 300)), plan, Strategy.IDLE)
    assert list(found.schedule.start_s) == [0, 300]
    assert found.time_above_cap_s == 0


def test_shut_gives_jobs_the_watts_of_idle_nodes():
    """1,600 W: idle nodes leave 480 W, two nodes at full speed; with seven off it is four."""
    plan = PowerCap(1600)
    table = jobs((0, 4, 100))
    idle = run(table, plan, Strategy.IDLE)
    assert not idle.ran[0]
    shut = run(table, plan, Strategy.SHUT)
    assert shut.ran[0]
    assert shut.power_w_peak <= 1600
    assert shut.energy_j < 1600 * 100 + 1


def test_booting_and_shutting_down_take_time_and_energy():
    slow = machine(boot_s=30.0, shutdown_s=20.0)
    plan = PowerCap(1600, changes=(CapChange(300.0, math.inf),))
    table = jobs((0, 4, 100), (310, 10, 50))
    found = run(table, plan, Strategy.SHUT, machine=slow)
    assert found.schedule.start_s[0] == 20
    # The nodes that were switched off boot when the second job wants them.
    assert found.schedule.start_s[1] == 340
    assert found.time_above_cap_s == 0


def test_conservative_backfilling_holds_watts_for_a_late_job():
    """2,720 W leave 1,600 W above idle: six nodes at full speed, or ten at 272 W.

    A (5 nodes, 1,200 W) runs; B (10 nodes) needs A's nodes and then 800 W at its lowest, at 100 s;
    C and D (2 nodes each) may start before it only where they end in time: C does, D does not.
    """
    found = run_conservative(
        jobs((0, 5, 100), (0, 10, 100), (0, 2, 30), (0, 2, 300)), PowerCap(2720))
    assert found.schedule.start_s[0] == 0
    assert found.schedule.start_s[1] == 100
    assert found.schedule.start_s[2] == 0
    assert found.schedule.start_s[3] >= found.schedule.end_s[1]
    assert found.time_above_cap_s == 0


def test_no_stream_of_small_jobs_starves_one_that_waits_for_watts():
    """1,720 W leave 600 W: seven nodes at the lowest frequency take 560 W, beside nothing else.

    One-node jobs of 60 s come every 10 s; beside the large one there are nodes for three of them.
    """
    stream = [(10 * i, 1, 60) for i in range(1, 40)]
    found = run_conservative(jobs((0, 1, 60), (1, 7, 50), *stream), PowerCap(1720))
    large = int(np.argmax(found.jobs.procs))
    assert found.schedule.start_s[large] < 300
    assert found.time_above_cap_s == 0


def run_conservative(table, plan):
    cluster = machine()
    policy = composed(adaptive(cluster, plan, jobs=table))._replace(backfill=Conservative())
    found = simulate(table, cluster, policy, Rules(cap_w=plan.signal(cluster.power_w_max)))
    assert verify(found).sentences == []
    return found


def test_the_floor_keeps_nodes_on():
    plan = PowerCap(1600, floor_w=1120)
    found = run(jobs((0, 4, 100)), plan, Strategy.SHUT)
    assert not found.ran[0]
    assert found.events.power_w.min() == 1120


def test_the_ramp_spreads_starts():
    """Ten 1-node jobs at once raise power by 240 W each; 24 W a second with 1,440 W in store."""
    plan = PowerCap(change_rate_w_per_s=24.0)
    found = run(jobs(*[(0, 1, 1000)] * 10), plan)
    starts = np.sort(found.schedule.start_s)
    assert list(starts[:6]) == [0] * 6
    assert list(starts[6:]) == pytest.approx([10, 20, 30, 40])


@pytest.mark.parametrize(("first_s", "second_starts_s"), [(1000, 60), (30, 30)])
def test_a_job_in_the_place_of_another_is_no_rise(first_s, second_starts_s):
    """4 W a second, 240 W at once: just the first job. The second follows a minute later.

    If the first ends before that, the second takes its place.
    """
    found = run(jobs((0, 1, first_s), (0, 1, 100)), PowerCap(change_rate_w_per_s=4.0))
    assert list(found.schedule.start_s) == [0, second_starts_s]


def test_switching_off_keeps_to_the_ramp():
    """At 10 s the cap falls to 700 W, one busy node. Nine of 98 W go, at 1 W a second."""
    def power_w(rate):
        plan = PowerCap(changes=(CapChange(10.0, 700.0),), change_rate_w_per_s=rate)
        events = run(jobs((0, 1, 5), (900, 1, 1)), plan, Strategy.SHUT).events
        last = np.append(np.diff(events.time_s) > 0, True)  # what holds after each instant
        after = last & (events.time_s >= 10) & (events.time_s < 400)
        return events.time_s[after], events.power_w[after]

    at_s, free_w = power_w(0.0)
    assert free_w[-1] == 1120 - 9 * 98
    assert at_s[-1] == 10
    at_s, held_w = power_w(1.0)
    assert (held_w >= 1120 - 98 - (at_s - 10)).all()  # one node may go at once
    assert list(held_w) == [1120 - 98 * gone for gone in (1, 2, 3, 4)]


def test_below_the_floor_nodes_are_switched_on_again():
    """Six nodes off for the cap; when the job ends, the floor of 1,000 W wants them back."""
    plan = PowerCap(1600, changes=(CapChange(50.0, math.inf),), floor_w=1000)
    found = run(jobs((0, 3, 100), (150, 1, 10)), plan, Strategy.SHUT)
    settled = found.events.time_s > 100
    assert found.ran.all()
    assert found.events.power_w[settled].min() >= 1000


def test_bad_strategies_and_plans_are_refused():
    with pytest.raises(InputError, match="strategy 'sleep' is unknown"):
        Strategy.parse("sleep")
    with pytest.raises(InputError, match="below the 140 W"):
        adaptive(machine(), PowerCap(100))


def test_the_esp_study_keeps_its_caps():
    cases = esp.cases()
    told = rows(cases)
    assert [row[4] for row in told] == ["holds", *["not reproduced"] * (len(told) - 1)]
    assert [row[5].partition(";")[0] for row in told][1:3] == ["inferred", "cap kept"]
    assert [row[1] for row in told if "never ran" in row[5]] == [
        "power and utilisation, 60 %, mostly large jobs, SHUT"]
    assert any("3 of profile P8" in row[5] for row in told)
    found = {case.name: esp.figures(case) for case in cases}
    assert found["none"]["peak_w"] == 1_774_080
    for name in ("70-reserved", "60-shut", "40-dvfs"):
        assert found[name]["time_above_cap_s"] == 0
        assert found[name]["peak_w_while_capped"] <= found[name]["cap_w"]
    fly = found["70-on-the-fly"]
    assert fly["under_cap_from_s"] == pytest.approx(fly["cap_from_s"] + fly["time_above_cap_s"])
    assert [case["jobs"] for case in found.values()] == [230] * 5
    # At full speed the whole machine is above 60 %: those jobs are refused, and said to be.
    assert found["60-shut"]["refused"] == {"P8": 3}
    assert all(case["jobs_run"] + sum(case["refused"].values()) == 230 for case in found.values())


def test_an_infinite_cap_is_none():
    table = jobs((0, 7, 50), (1, 4, 100), (2, 3, 30), (5, 10, 20))
    without, infinite = run(table), run(table, PowerCap(math.inf))
    assert infinite.energy_j == without.energy_j
    assert infinite.schedule.start_s.tolist() == without.schedule.start_s.tolist()


def test_light_esp_has_eight_profiles_with_the_work_of_the_benchmark():
    light, whole = profiles("light"), profiles("esp2")
    assert (len(light), len(whole)) == (8, 14)
    assert sum(kind.count for kind in light) == 230
    assert [kind.share for kind in light][-1] == 1.0
    for mix in (light, whole):
        work = sum(kind.share * kind.count * kind.run_s for kind in mix)
        assert work == pytest.approx(sum(k.share * k.count * k.run_s for k in whole))
    jobs = esp_jobs(5040, 1)
    assert np.bincount(jobs.application).tolist() == [kind.count for kind in light]
    assert np.count_nonzero(jobs.procs == 5040) == 2
    assert np.count_nonzero(esp_jobs(5040, 1, "large").procs == 5040) == 3


@pytest.mark.compiled
@pytest.mark.long  # tests/unit/engine/test_at_once.py compares a smaller run
def test_plain_and_compiled_are_equal():
    """The same source, compiled and not: all figures of all cases are the same numbers."""
    compiled = {case.name: (case.run.energy_j, case.run.end_s, case.run.time_above_cap_s)
                for case in esp.cases(seed=2)}
    plain = in_plain("""
        from wattline.studies.esp import study as esp
        result = {c.name: (c.run.energy_j, c.run.end_s, c.run.time_above_cap_s)
                  for c in esp.cases(seed=2)}
    """)
    assert {name: tuple(values) for name, values in plain.items()} == compiled


@pytest.mark.parametrize("strategy", [Strategy.SHUT, Strategy.MIX])
def test_switching_off_on_a_mixed_machine_is_refused(strategy):
    mixed = Machine((NodeGroup(NodeClass("a"), 2), NodeGroup(NodeClass("b"), 2)))
    with pytest.raises(InputError, match="several node classes"):
        adaptive(mixed, strategy=strategy)
