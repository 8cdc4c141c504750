"""From a moment on with true run times: the same starts and ends as the simulation, whatever it
has of budgets, claims, configurations, classes, networks, dependencies and reservations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.choices import CASES, NODES, trace
from tests.support.thinned import crossed

from wattline.engine.ahead import Candidate, Future, Moment, moment_of_log
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import changed, validate

LONG_S = 1e6
RESERVED = {"reservations": [
    {"start_s": 150.0, "duration_s": 300.0, "nodes": 9},
    {"start_s": 700.0, "duration_s": 200.0, "nodes": 16, "watts": 500.0}]}
FALLING = {"power.cap": {"watts": 4700.0, "changes": [{"at": 200, "watts": 2300.0}]}}
TRIED: dict[str, dict[str, Any]] = {
    "plain": {}, "reserved": {"policy.backfill": "conservative", **RESERVED},
    "budget": CASES["power.budget, charged"], "shut": CASES["power.adaptive, shut"],
    "claims": CASES["configure.claims"], "moldable": CASES["configure.adaptive"],
    "lending": CASES["power.lending"] | RESERVED,
    "classes": CASES["placement.first-fit, classes"] | RESERVED,
    "falling cap": FALLING | {"policy.power": "wait"}, "network": CASES["placement.nedd"]}


def _planned(fields: dict[str, Any], seed: int, chained: bool) -> Plan:
    given = dict(fields)
    count = 12 if "network.groups" in given else 30
    made = trace(str(given.pop("trace", "")), seed, count)
    if chained:
        made = replace(made, jobs=made.jobs.with_columns(**_chains(count, seed)))
    machine = {} if "machine.classes" in given else NODES
    read = validate(changed({"name": "ahead", "trace": {"file": "made"}}, machine | given), "ahead")
    return plan(read, made)


def _chains(count: int, seed: int) -> dict[str, Any]:
    """Half of the jobs come after one of the twelve before them, most with time to think."""
    random = np.random.default_rng(seed)
    after = np.array([random.integers(max(0, row - 12), row) if row and random.random() < 0.5
                      else -1 for row in range(count)])
    return {"after_job": after,
            "think_s": np.where(after >= 0, random.integers(0, 300, count), 0.0)}


def _ahead(ready: Plan, part: float, stretched: float = 1.0) -> tuple[Moment, Future]:
    first_s, last_s = ready.jobs.submit_s[[0, -1]]
    at_s = float(first_s + part * (last_s - first_s))
    here = moment_of_log(ready.jobs, ready.machine, ready.policy, ready.rules,  # type: ignore[arg-type]
                         at_s, at_s + LONG_S)
    one = Candidate(here, None, ready.rules, at_s + LONG_S)
    return here, one.run(here.jobs.run_s * stretched)


@pytest.mark.parametrize(("name", "chained"), crossed(
    list(TRIED), [False, True], later=pytest.mark.long))
def test_every_start_and_end_of_the_simulation_comes_again(name: str, chained: bool) -> None:
    ready = _planned(TRIED[name], 2, chained)
    run = ready.run()
    for part in (0.4, 0.7):
        here, found = _ahead(ready, part)
        for column in ("start_s", "end_s"):
            expected_s = getattr(run.schedule, column)[here.log_row]
            assert getattr(found, column) == pytest.approx(expected_s, nan_ok=True), (part, column)


def test_a_job_that_is_over_is_kept_for_those_after_it_and_counts_as_history() -> None:
    ready = _planned({}, 2, True)
    here, found = _ahead(ready, 0.8)
    assert here.over.any()
    assert not (here.over & (here.running | here.waiting)).any()
    assert set(here.log_row[here.over]) <= set(here.ended)
    assert (found.end_s[here.over] <= here.now_s).all()
    run = ready.run()
    assert len(here.ended) == int((run.schedule.end_s <= here.now_s).sum())


@pytest.mark.parametrize("name", ["moldable", "claims"])
def test_a_configuration_says_how_long_a_job_runs_and_a_draw_does_not(name: str) -> None:
    ready = _planned(TRIED[name], 2, False)
    here, drawn = _ahead(ready, 0.4, 0.01)
    assert here.running.any()
    expected_s = ready.run().schedule.end_s[here.log_row]
    assert drawn.end_s[here.running] == pytest.approx(expected_s[here.running])
