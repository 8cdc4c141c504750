"""A look ahead puts expected ends in order when somebody asks, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.choices import CASES, NODES, trace
from tests.support.thinned import crossed

from wattline.engine import ahead
from wattline.engine.ahead import Candidate, Future, Moment, moment_of_log
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import changed, validate

ORDERS = ("fcfs", "sjf", "largest", "wfp")
POWERS: dict[str, dict[str, Any]] = {
    "none": {}, "block": CASES["power.block"], "wait": CASES["power.wait"]}
OVERRUNS = ("extend", "kill")


def _planned(fields: dict[str, Any], jobs: int = 60) -> Plan:
    read = validate(changed({"name": "put off", "trace": {"file": "made"}}, NODES | fields), "it")
    return plan(read, trace("", 3, jobs))


def _moment(ready: Plan) -> Moment:
    at_s = float(np.median(ready.jobs.submit_s))
    return moment_of_log(ready.jobs, ready.machine, ready.policy,  # type: ignore[arg-type]
                         ready.rules, at_s, at_s + 1e6)


def _looks(ready: Plan, here: Moment, taken_over: bool) -> tuple[int, list[Future]]:
    one = Candidate(here, ready.policy if taken_over else None,  # type: ignore[arg-type]
                    ready.rules, here.now_s + 1e6)
    draws = [here.jobs.run_s * factor for factor in (0.2, 1.0, 1.7)]
    return int(one.books.state.clock[0].defers), list(one.runs(draws))


@pytest.mark.parametrize(("order", "power", "overrun"), crossed(
    ORDERS, list(POWERS), OVERRUNS, later=pytest.mark.long))
def test_futures_are_the_same_to_the_digit(
    order: str, power: str, overrun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = _planned({"policy.order": order, "policy.overrun": overrun} | POWERS[power])
    here = _moment(ready)
    assert here.running.any()
    assert here.waiting.any()
    found = [_looks(ready, here, taken_over) for taken_over in (False, True)]
    assert [defers for defers, _ in found] == [1, 1]
    monkeypatch.setattr(ahead, "defer", lambda *_: None)
    expected = [_looks(ready, here, taken_over) for taken_over in (False, True)]
    assert [defers for defers, _ in expected] == [0, 0]
    for (_, mine), (_, theirs) in zip(found, expected, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            for column in ("start_s", "end_s", "refused"):
                assert np.array_equal(getattr(one, column), getattr(other, column),
                                      equal_nan=True)
            assert (one.energy_j, one.peak_w, one.time_above_cap_s) == (
                other.energy_j, other.peak_w, other.time_above_cap_s)


@pytest.mark.parametrize("fields", [
    CASES["power.dvfs"], {"policy.backfill": "conservative"}, {"policy.backfill": "none"},
    CASES["power.adaptive, shut"]], ids=["dvfs", "conservative", "no backfilling", "adaptive"])
def test_who_reads_them_otherwise_or_changes_speeds_puts_nothing_off(
    fields: dict[str, Any]
) -> None:
    ready = _planned(fields, 24)
    here = _moment(ready)
    for taken_over in (False, True):
        assert _looks(ready, here, taken_over)[0] == 0
