"""Parts that a candidate does not change stay as they are, with all that they remember."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.live_folder import tell_up_to, write_site
from tests.support.thinned import crossed

import wattline as wl
from wattline.advice.futures.carried import carried_over
from wattline.advice.futures.policy import planned
from wattline.advice.futures.self_tuning import TUNED, SelfTuning
from wattline.engine.supervised import Supervised
from wattline.policies.memory import memories
from wattline.scenario.build import Plan

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
MACHINE = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)
FALLING = [{"time_s": 0.0, "watts": 17e3}, {"time_s": 20e3, "watts": 14e3},
           {"time_s": 60e3, "watts": 12e3}]


def log(jobs: int = 90, seed: int = 5) -> wl.Trace:
    """A log of a busy machine, some of whose jobs need more than 12 kW."""
    trace = wl.generate("lublin", seed=seed, jobs=jobs, nodes=64)
    return replace(trace, jobs=trace.jobs.with_columns(
        requested_s=trace.jobs.run_s * (1 + np.arange(jobs) % 3), user=np.arange(jobs) % 4,
        submit_s=trace.jobs.submit_s / 4))


def plan_under(power: str, cap: Any, **more: Any) -> Plan:
    return planned(log(), {"machine": MACHINE, "power": power, "cap": cap, **more}, False)


@pytest.mark.parametrize(("power", "cap", "fresh"), crossed(
    ["block", "wait", "dvfs", "adaptive"], [15e3, FALLING], [False, True],
    later=pytest.mark.long))
def test_to_change_to_what_is_there_changes_nothing(power: str, cap: Any, fresh: bool) -> None:
    ready = plan_under(power, cap)
    alone = ready.run()
    world = Supervised(ready.jobs, ready.machine, ready.policy, ready.rules)
    at_s = float(ready.jobs.submit_s[0])
    changes = 0
    while not world.finished and np.isfinite(world.next_s):
        at_s += 9000.0
        world.run_until(at_s)
        if not world.finished:
            other = plan_under(power, cap) if fresh else ready
            world.switch(carried_over(ready.scenario, other, world.policy), ready.rules)
            changes += 1
    assert changes > 5
    np.testing.assert_array_equal(ready.finished(world.finish()).schedule.start_s,
                                  alone.schedule.start_s)


def test_who_is_set_aside_stays_aside_under_another_order() -> None:
    ready = plan_under("wait", 13e3)
    world = Supervised(ready.jobs, ready.machine, ready.policy, ready.rules)
    at_s = float(ready.jobs.submit_s[0])
    while not world.state.clock[0].aside:
        at_s += 3000.0
        world.run_until(at_s)
    before = world.state
    aside = before.aside.job[: before.clock[0].aside].tolist()
    since_s = before.live.aside_s[aside].tolist()
    other = plan_under("wait", 13e3, order="sjf")
    world.switch(carried_over(ready.scenario, other, world.policy), other.rules)
    now = world.state
    there = now.aside.job[: now.clock[0].aside].tolist()
    stayed = [job for job in aside if job in there]
    assert stayed == there[: len(stayed)]
    assert stayed  # not all of them could start at this instant
    assert all(now.live.aside_s[job] == s for job, s in zip(aside, since_s, strict=True)
               if job in there)
    queue = now.clock[0].queue_last - now.clock[0].queue_first
    assert not set(aside) & set(now.queue.job[:queue].tolist())


def test_parts_are_carried_over_by_what_the_scenarios_say() -> None:
    ready = plan_under("adaptive", 15e3)
    there = Supervised(ready.jobs, ready.machine, ready.policy, ready.rules).policy
    order = carried_over(ready.scenario, plan_under("adaptive", 15e3, order="sjf"), there)
    assert order.admission is there.admission
    assert type(order.order) is not type(there.order)
    capped = carried_over(ready.scenario, plan_under("adaptive", 12e3), there)
    assert capped.admission is not there.admission
    assert list(memories(capped)) == list(memories(there))


@pytest.mark.parametrize("power", ["block", "wait", "dvfs"])
def test_a_cap_below_what_waiting_jobs_need_means_the_same_live_and_in_a_log(
    tmp_path: Path, power: str
) -> None:
    ready = plan_under(power, 15e3, placement="first-fit")
    file = write_site(tmp_path, cap_w=15e3, power=power)
    tell_up_to(file, ready, 30e3).close()
    asked: dict[str, Any] = {"candidates": ["cap=11kW", "power=wait cap=11kW", "cap=18kW"],
                             "samples": 2, "arrivals": "none"}
    live = wl.advise_policy(live=file, **asked)
    by_log = wl.advise_policy(log(), at=30e3, machine=MACHINE, power=power, cap=15e3,
                              placement="first-fit", **asked)
    for mine, other in zip(live.candidates, by_log.candidates, strict=True):
        assert mine.means == pytest.approx(other.means), mine.name
        assert mine.means["jobs.refused"] == 0  # a cap that is lowered may be lifted again


@pytest.mark.parametrize("power", ["block", "wait"])
def test_a_candidate_that_is_there_already_is_left_out_and_named(power: str) -> None:
    found = wl.advise_policy(log(), at=30e3, machine=MACHINE, power=power, cap=15e3, samples=1,
                             candidates=["order=fcfs", f"power={power} cap=15kW", "sjf"])
    assert [each.name for each in found.candidates] == ["as it is", "sjf"]
    said, = (line for line in found.assumed if "there already" in line)
    assert said.endswith(f"order=fcfs, power={power} cap=15kW")


def test_a_supervisor_that_leaves_jobs_behind_is_not_called_better() -> None:
    figures = {name: {"jobs.not_run": jobs, "time_above_cap_s": 0.0}
               for name, jobs in (("as it is", 35.0), ("sjf", 80.0), (TUNED, 66.0))}
    found = SelfTuning(None, "wait_s", {"as it is": 100.0, "sjf": 10.0, TUNED: 28.0}, figures,  # type: ignore[arg-type]
                       (), 4, 1.0, ())
    assert found.best_fixed == "as it is"
    assert math.isnan(found.regret)
    assert found.fewer_ran == 31
    assert found.to_dict()["fewer_ran"] == 31


def test_what_a_candidate_with_another_cap_begins_anew_is_said_in_the_answer() -> None:
    budget = {"name": "budget", "energy": "2GJ", "period": "1d"}
    found = wl.advise_policy(log(jobs=60), at="50%", machine=MACHINE, power=budget, cap=15e3,
                             candidates=["cap=14kW", "sjf"], samples=1, arrivals="none")
    anew = [line for line in found.to_dict()["assumed"] if "anew" in line]
    assert len(anew) == 1
    assert "under 'cap=14kW' power = budget begins anew" in anew[0]
    plain = wl.advise_policy(log(jobs=60), at="50%", machine=MACHINE, power="block", cap=15e3,
                             candidates=["cap=14kW"], samples=1, arrivals="none")
    assert not [line for line in plain.assumed if "anew" in line], "block remembers nothing"
