"""A policy that takes over from itself decides as if nobody had changed anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.thinned import crossed

import wattline as wl
from wattline.engine.ahead import Candidate, moment_of_log
from wattline.engine.supervised import Supervised
from wattline.scenario.build import Plan
from wattline.scenario.in_python import asked

MACHINE = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)
CAPS: dict[str, Any] = {
    "flat": 15e3,
    "falling": [{"time_s": 0, "watts": 17e3}, {"time_s": 20_000, "watts": 14e3},
                {"time_s": 60_000, "watts": 12e3}],
    "rising": [{"time_s": 0, "watts": 12e3}, {"time_s": 30_000, "watts": 16e3}]}
POWERS = ("block", "wait", "dvfs", "adaptive")


def _planned(power: str, cap: str, order: str = "fcfs") -> Plan:
    trace = wl.generate("lublin", seed=5, jobs=150, nodes=64)
    requested_s = trace.jobs.run_s * (1 + np.arange(150) % 3)
    jobs = trace.jobs.with_columns(requested_s=requested_s, submit_s=trace.jobs.submit_s / 4)
    return asked(replace(trace, jobs=jobs), machine=MACHINE, cap=CAPS[cap],
                 policies={"power": power, "order": order}).plan()


@pytest.mark.parametrize(("power", "cap", "order"), crossed(
    POWERS, list(CAPS), ["fcfs", "sjf"], later=pytest.mark.long, together=2))
def test_a_switch_to_the_same_policy_gives_every_start_again(
    power: str, cap: str, order: str
) -> None:
    ready = _planned(power, cap, order)
    alone = ready.run()
    world = Supervised(ready.jobs, ready.machine, ready.policy,  # type: ignore[arg-type]
                       ready.rules)
    for time_s in np.linspace(alone.start_s, alone.end_s, 12)[1:-1]:
        world.run_until(float(time_s))
        world.switch(ready.policy, ready.rules)  # type: ignore[arg-type]
    run = world.finish()
    assert np.array_equal(run.schedule.outcome, alone.schedule.outcome)
    assert run.schedule.start_s == pytest.approx(alone.schedule.start_s, nan_ok=True)
    assert run.energy_j == pytest.approx(alone.energy_j, rel=1e-9)


@pytest.mark.parametrize(("power", "cap", "at_s"), crossed(
    POWERS, list(CAPS), [15_000.0, 40_000.0, 65_000.0], later=pytest.mark.long))
def test_a_look_ahead_says_the_same_of_who_stays_and_of_who_takes_over(
    power: str, cap: str, at_s: float
) -> None:
    ready = _planned(power, cap)
    here = moment_of_log(ready.jobs, ready.machine, ready.policy,  # type: ignore[arg-type]
                         ready.rules, at_s, at_s + 2e5)
    stays, takes_over = (
        Candidate(here, policy, ready.rules, at_s + 2e5).run(here.jobs.run_s)
        for policy in (None, ready.policy))  # type: ignore[arg-type]
    assert np.array_equal(stays.refused, takes_over.refused)
    assert takes_over.start_s == pytest.approx(stays.start_s, nan_ok=True)
    assert takes_over.energy_j == pytest.approx(stays.energy_j, rel=1e-9)
