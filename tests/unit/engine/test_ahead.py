"""From a moment on: with true run times it goes as the simulation went."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.thinned import crossed

import wattline as wl
from wattline.engine.ahead import Candidate, moment_of_log
from wattline.engine.supervised import Supervised
from wattline.scenario.in_python import asked

MACHINE = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)
POLICIES: list[dict[str, Any]] = [
    {}, {"order": "sjf"}, {"backfill": "conservative"}, {"backfill": "none"},
    {"placement": "first-fit"}, {"power": "block"}, {"power": "wait"}, {"power": "dvfs"},
    {"order": "wfp", "power": "adaptive"}, {"order": "multifactor"}, {"order": "energy-share"}]


@pytest.mark.parametrize(("chosen", "part"), crossed(
    POLICIES, [0.2, 0.55], later=pytest.mark.long), ids=str)
def test_a_moment_goes_on_as_the_simulation_did(chosen: dict[str, Any], part: float) -> None:
    trace = wl.generate("lublin", seed=7, jobs=120, nodes=64)
    ready = asked(trace, machine=MACHINE, policies=chosen,
                  cap="14kW" if "power" in chosen else None).plan()
    run = ready.run()
    at_s = run.start_s + part * (run.end_s - run.start_s)
    until_s = at_s + 36 * 3600
    here = moment_of_log(ready.jobs, ready.machine, ready.policy, ready.rules, at_s, until_s)
    assert here.came >= int(here.running.sum()) > 0
    found = Candidate(here, None, ready.rules, until_s).run(here.jobs.run_s)
    for name in ("start_s", "end_s"):
        true_s = getattr(run.schedule, name)[here.log_row]
        expected_s = np.where(true_s <= until_s, true_s, np.nan)
        assert getattr(found, name) == pytest.approx(expected_s, nan_ok=True), name
    # Joules between the two instants, from the log of events of the whole run.
    log = run.events
    inside_s = np.diff(np.clip(np.append(log.time_s, run.end_s), at_s, until_s))
    idle_j = run.machine.power_w_idle * max(0.0, until_s - max(run.end_s, at_s))
    assert found.energy_j == pytest.approx(float(log.power_w @ inside_s) + idle_j, rel=1e-9)


def test_running_ahead_leaves_the_moment_as_it_was() -> None:
    trace = wl.generate("lublin", seed=3, jobs=80, nodes=64)
    ready = asked(trace, machine=MACHINE).plan()
    at_s = float(ready.jobs.submit_s[50])
    here = moment_of_log(ready.jobs, ready.machine, ready.policy, ready.rules, at_s,
                         at_s + 86400)
    candidate = Candidate(here, None, ready.rules, at_s + 86400)
    first = candidate.run(here.jobs.run_s)
    candidate.run(here.jobs.run_s / 2)
    again = candidate.run(here.jobs.run_s)
    assert np.array_equal(first.start_s, again.start_s, equal_nan=True)
    assert first.energy_j == again.energy_j


@pytest.mark.parametrize("chosen", [
    {}, {"backfill": "conservative"}, {"placement": "first-fit"}, {"power": "dvfs"},
    {"order": "energy-share", "power": "adaptive"}], ids=str)
def test_runs_in_the_same_memory_are_those_of_memory_of_their_own(chosen: dict[str, Any]) -> None:
    trace = wl.generate("lublin", seed=4, jobs=14, nodes=64)
    ready = asked(trace, machine=MACHINE, policies=chosen,
                  cap="14kW" if "power" in chosen else None).plan()
    at_s = float(ready.jobs.submit_s[8])
    here = moment_of_log(ready.jobs, ready.machine, ready.policy, ready.rules, at_s,
                         at_s + 86400)
    assert here.running.any()
    assert here.waiting.sum() > 2
    draws = [here.jobs.run_s * factor for factor in (3.0, 0.2, 1.0)]
    for policy in (None, ready.policy):
        def candidate(policy: Any = policy) -> Candidate:
            return Candidate(here, policy, ready.rules, at_s + 86400)

        for found, drawn_s in zip(candidate().runs(draws), draws, strict=True):
            alone = candidate().run(drawn_s)
            assert np.array_equal(found.start_s, alone.start_s, equal_nan=True)
            assert np.array_equal(found.end_s, alone.end_s, equal_nan=True)
            assert (found.energy_j, found.peak_w) == (alone.energy_j, alone.peak_w)


def test_jobs_that_take_longer_never_end_before_they_did() -> None:
    trace = wl.generate("lublin", seed=3, jobs=80, nodes=64)
    ready = asked(trace, machine=MACHINE).plan()
    at_s = float(ready.jobs.submit_s[50])
    here = moment_of_log(ready.jobs, ready.machine, ready.policy, ready.rules, at_s,
                         at_s + 5 * 86400)
    candidate = Candidate(here, None, ready.rules, at_s + 5 * 86400)
    runs = here.running
    short, long = (candidate.run(here.jobs.run_s * factor).end_s[runs] for factor in (1.0, 1.5))
    assert (long[~np.isnan(long)] > short[~np.isnan(long)]).all()


@pytest.mark.parametrize("chosen", POLICIES, ids=str)
def test_a_supervised_run_that_nobody_touches_is_the_run(chosen: dict[str, Any]) -> None:
    trace = wl.generate("lublin", seed=5, jobs=80, nodes=64)
    ready = asked(trace, machine=MACHINE, policies=chosen,
                  cap="14kW" if "power" in chosen else None).plan()
    alone = ready.run()
    world = Supervised(ready.jobs, ready.machine, ready.policy, ready.rules)
    for time_s in np.linspace(alone.start_s, alone.end_s, 9)[1:-1]:
        world.run_until(float(time_s))
        world.moment(ready.jobs, ready.rules)  # to look changes nothing
    run = world.finish()
    assert np.array_equal(run.schedule.start_s, alone.schedule.start_s, equal_nan=True)
    assert run.energy_j == pytest.approx(alone.energy_j, rel=1e-12)


def test_after_a_switch_nothing_is_lost_and_the_cap_is_kept() -> None:
    trace = wl.generate("lublin", seed=5, jobs=120, nodes=64)
    names = ["block", "wait"]
    plans = [asked(trace, machine=MACHINE, policies={"power": name}, cap="14kW").plan()
             for name in names]
    first = plans[0]
    world = Supervised(first.jobs, first.machine, first.policy, first.rules)
    for number, part in enumerate(np.linspace(0.1, 0.9, 12)):
        submit_s = first.jobs.submit_s
        world.run_until(float(submit_s[0] + part * (submit_s[-1] - submit_s[0])))
        own = plans[(number + 1) % len(plans)]
        world.switch(own.policy, own.rules)
    run = wl.Result.of(first.finished(world.finish()))
    assert run.time_above_cap_s == 0.0
    assert run.power_w_peak <= 14e3 * (1 + 1e-9)
    assert (run.ran | run.refused).all()
    busy_s = np.nansum((run.schedule.end_s - run.schedule.start_s) * run.schedule.nodes)
    assert busy_s <= 64 * (run.end_s - run.start_s)


def test_after_a_switch_decisions_that_nobody_hears_are_not_heaped_up() -> None:
    trace = wl.generate("lublin", seed=5, jobs=300, nodes=64)
    plans = [asked(trace, machine=MACHINE, policies={"power": name}, cap="14kW").plan()
             for name in ("dvfs", "block")]
    world = Supervised(plans[0].jobs, plans[0].machine, plans[0].policy, plans[0].rules)
    world.run_until(float(plans[0].jobs.submit_s[20]))
    world.switch(plans[1].policy, plans[1].rules)
    assert len(world.record.decided) == 0
    found = wl.Result.of(plans[0].finished(world.finish()))
    assert (found.ran | found.refused).all()


def test_a_look_ahead_writes_down_nowhere_where_jobs_are_placed() -> None:
    trace = wl.generate("lublin", seed=4, jobs=50, nodes=64)
    ready = asked(trace, machine=MACHINE, policies={"placement": "first-fit"}).plan()
    at_s = float(ready.jobs.submit_s[30])
    here = moment_of_log(ready.jobs, ready.machine, ready.policy, ready.rules, at_s,
                         at_s + 86400)
    for policy in (None, ready.policy):
        candidate = Candidate(here, policy, ready.rules, at_s + 86400)
        assert np.isfinite(candidate.run(here.jobs.run_s).start_s).all()
        assert candidate.books.record.spans.size == 0
    assert here.books.record.spans.size > 64
