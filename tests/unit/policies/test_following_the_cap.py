"""Running jobs that follow the cap, on ten nodes of 16 cores small enough to follow by hand.

A node draws 112 W idle and 352 W at full speed: above idle 80, 96, 128, 144, 160, 176, 208 and
240 W by level.
"""

import math

import numpy as np
import pytest
from tests.support.workloads import logged_ranges

from wattline.engine.composed import composed
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import EventKind
from wattline.physics.core_power import NODE_OFF_W, SANDY_BRIDGE, parse_cpu_freq
from wattline.physics.powercap import CapChange, PowerCap
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.results.verify.judge import verify
from wattline.testing.five_ways import differences

SPEED = SANDY_BRIDGE.speed()
MACHINE = Machine.uniform(10, SANDY_BRIDGE.node_class(16, off_w=NODE_OFF_W))


def jobs(*rows):
    """(submit, nodes, seconds) each."""
    submit, nodes, run = zip(*rows, strict=True)
    return JobTable.build(submit_s=submit, procs=np.array(nodes) * 16, run_s=run)


def run(table, plan, strategy=Strategy.DVFS, logged=None):
    policy = composed(admission=adaptive(MACHINE, plan, strategy=strategy, follow=True))
    rules = Rules(cap_w=plan.signal(MACHINE.power_w_max), logged=logged or {})
    found = simulate(table, MACHINE, policy, rules)
    assert verify(found).sentences == []
    assert differences(table, MACHINE, policy, rules) == []
    return found


def test_a_running_job_is_slowed_down_when_the_cap_falls():
    """2,000 W leave 880 W above idle: eight nodes at 1.4 GHz draw 768 W, at 1.6 GHz 1,024 W."""
    found = run(jobs((0, 8, 100)), PowerCap(changes=(CapChange(50.0, 2000.0),)))
    assert found.schedule.end_s[0] == pytest.approx(50 + 50 / SPEED[1])
    assert found.time_above_cap_s == 0


def test_a_running_job_is_sped_up_when_the_cap_rises():
    plan = PowerCap(2000.0, changes=(CapChange(50.0, math.inf),))
    found = run(jobs((0, 8, 100)), plan)
    assert found.schedule.end_s[0] == pytest.approx(50 + 100 - 50 * SPEED[1])


def test_the_fastest_is_slowed_down_first():
    """Two jobs of four nodes at 2.6 and 1.2 GHz: 960 + 320 W. 1,100 W above idle are left."""
    logged = logged_ranges([parse_cpu_freq("1200000-2600000"), parse_cpu_freq("1200000-1200000")])
    plan = PowerCap(changes=(CapChange(10.0, 1120.0 + 1100.0),))
    found = run(jobs((0, 4, 100), (0, 4, 100)), plan, logged=logged)
    assert found.schedule.end_s[0] == pytest.approx(10 + 90 / SPEED[5])
    assert found.schedule.end_s[1] == pytest.approx(100 / SPEED[0])


def test_jobs_that_allow_no_less_stay_above_a_cap_that_falls_too_far():
    logged = logged_ranges([parse_cpu_freq("2600000-2600000")])
    found = run(jobs((0, 8, 100)), PowerCap(changes=(CapChange(50.0, 2000.0),)), logged=logged)
    assert found.schedule.end_s[0] == 100
    assert found.time_above_cap_s == 50


def test_the_queue_is_served_before_running_jobs_are_sped_up():
    """At 60 s 880 W become 1,680 W: the second job starts, then both rise within the cap."""
    plan = PowerCap(2000.0, changes=(CapChange(60.0, 2800.0),))
    found = run(jobs((0, 5, 200), (10, 5, 100)), plan)
    assert found.schedule.start_s[1] == 60
    assert found.power_w_peak <= 2800


def test_a_slowed_job_is_sped_up_when_another_ends_and_nobody_waits():
    plan = PowerCap(changes=(CapChange(50.0, 2000.0),))
    found = run(jobs((0, 4, 60), (0, 4, 200)), plan)
    rises = found.events.kind == EventKind.RATE
    ended = found.schedule.end_s[0]
    assert np.any(rises & (found.events.time_s == ended))
    assert found.power_w_peak > 2000  # before the cap came
    assert found.time_above_cap_s == 0


def test_the_ramp_holds_back_what_rises_and_not_what_falls():
    plan = PowerCap(2000.0, changes=(CapChange(50.0, math.inf), CapChange(90.0, 1800.0)),
                    change_rate_w_per_s=2.0)
    found = run(jobs((0, 8, 400)), plan)
    power, times = found.events.power_w, found.events.time_s
    at_50 = power[(times >= 50) & (times < 51)]
    assert at_50.max() <= 1120 + 768 + 2.0 * 60 + 1e-6
    assert power[times == 90][-1] <= 1800
