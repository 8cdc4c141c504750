"""Switching nodes off under a cap: the cap holds meanwhile, and whoever can start does."""

from dataclasses import replace

import numpy as np
from tests.support.workloads import compose, logged_ranges

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.physics.core_power import SANDY_BRIDGE, parse_cpu_freq
from wattline.physics.powercap import PowerCap
from wattline.policies.admission.adaptive_setup import Strategy, adaptive


def play(plan, procs, ranges=None, nodes=8, power_w=None, halt_w=7.0, off_w=0.0):
    kind = SANDY_BRIDGE.node_class(1, off_w=off_w, boot_s=60.0, shutdown_s=60.0)
    machine = Machine.uniform(nodes, replace(kind, shutdown_power_w=halt_w))
    count = len(procs)
    jobs = JobTable.build(submit_s=np.arange(count), run_s=np.full(count, 100.0),
                          requested_s=np.full(count, 100.0), procs=np.array(procs),
                          power_w=np.array(power_w or [np.nan] * count))
    logged = logged_ranges(ranges or [None] * count)
    admission = adaptive(machine, plan, strategy=Strategy.SHUT, jobs=jobs, logged=logged)
    run = simulate(jobs, machine, compose(admission=admission),
                   Rules(cap_w=plan.signal(machine.power_w_max), logged=logged))
    return [run.ran.tolist(), run.refused.tolist(), run.time_above_cap_s]


def test_the_cap_holds_while_nodes_shut_down():
    """Four nodes that shut down together would draw 108 W of 100; three fit."""
    ran, _, above_s = play(PowerCap(100.0), [4], halt_w=20.0)
    assert (ran, above_s) == ([True], 0)


def test_a_job_that_the_floor_leaves_no_room_for_is_refused():
    """It needs nodes off, and the idle machine may not fall below the floor."""
    ran, refused, _ = play(PowerCap(100.0, floor_w=50.0), [4, 2])
    assert (ran, refused) == ([False, True], [True, False])


def test_a_job_of_many_nodes_that_draw_little_gets_them_back():
    """Four nodes can be busy at full power; eight that draw half of it have to be on."""
    ran, _, above_s = play(PowerCap(100.0), [4, 8], power_w=[np.nan, 88.0])
    assert (ran, above_s) == ([True, True], 0)


def test_a_job_that_cannot_be_slowed_gets_the_watts_of_nodes_off():
    """By the lowest level of all jobs 15 of 16 nodes could be busy; this one needs 4 off."""
    slow = parse_cpu_freq("1200000-2000000")
    ran, _, above_s = play(PowerCap(270.7), [2, 12], ranges=[slow, None], nodes=16, off_w=0.9)
    assert (ran, above_s) == ([True, True], 0)
