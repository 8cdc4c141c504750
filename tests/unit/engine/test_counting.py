"""A look ahead leaves out nodes that make no difference, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.support.choices import CASES, NODES, trace

from wattline.engine import ahead
from wattline.engine.again import Again
from wattline.engine.ahead import Candidate, Moment, memory_of_runs, moment_of_log
from wattline.scenario.build import Plan, plan
from wattline.scenario.load import changed, validate

CHOSEN = {"policy.placement": "first-fit"}
ALIKE: dict[str, dict[str, Any]] = {
    "plain": {}, "sjf": {"policy.order": "sjf"},
    "conservative": {"policy.backfill": "conservative"},
    "block": CASES["power.block"], "wait": CASES["power.wait"], "dvfs": CASES["power.dvfs"],
    "shut": CASES["power.adaptive, shut"]}


def _planned(fields: dict[str, Any], seed: int = 3) -> Plan:
    machine = {} if "machine.classes" in fields else NODES
    given = {key: value for key, value in fields.items() if key != "trace"}
    read = validate(changed({"name": "counted", "trace": {"file": "made"}},
                            machine | CHOSEN | given), "counted")
    return plan(read, trace(str(fields.get("trace", "")), seed, 40))


def _moment(ready: Plan) -> Moment:
    at_s = float(np.median(ready.jobs.submit_s))
    return moment_of_log(ready.jobs, ready.machine, ready.policy,  # type: ignore[arg-type]
                         ready.rules, at_s, at_s + 1e6)


@pytest.mark.parametrize("taken_over", [False, True], ids=["as it is", "taken over"])
@pytest.mark.parametrize("name", ALIKE)
def test_without_nodes_all_goes_as_with_them(
    name: str, taken_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = _planned(ALIKE[name])
    here = _moment(ready)
    assert here.running.any()
    assert here.waiting.any()

    def look() -> tuple[int, ahead.Future]:
        one = Candidate(here, ready.policy if taken_over else None,  # type: ignore[arg-type]
                        ready.rules, here.now_s + 1e6)
        return one.books.state.nodes.size, one.run(here.jobs.run_s * 1.3)

    nodes, counted = look()
    monkeypatch.setattr(ahead, "nodes_are_alike", lambda *_: False)
    nodes_kept, chosen = look()
    assert nodes_kept == ready.machine.node_count
    assert nodes == (nodes_kept if here.books.state.clock[0].off else 0)
    for column in ("start_s", "end_s", "refused"):
        assert np.array_equal(getattr(counted, column), getattr(chosen, column), equal_nan=True)
    assert counted.energy_j == pytest.approx(chosen.energy_j, rel=1e-12)
    assert counted.peak_w == pytest.approx(chosen.peak_w, rel=1e-12)


@pytest.mark.parametrize("name", ["placement.first-fit, classes", "placement.nedd"])
def test_nodes_that_differ_are_kept(name: str) -> None:
    ready = _planned(CASES[name])
    here = _moment(ready)
    for policy in (None, ready.policy):
        one = Candidate(here, policy, ready.rules, here.now_s + 1e6)  # type: ignore[arg-type]
        assert one.books.state.nodes.size == ready.machine.node_count


@pytest.mark.parametrize("field", ["down_owed", "off", "changing"])
def test_nodes_that_the_books_know_by_number_are_kept(field: str) -> None:
    ready = _planned({})
    here = _moment(ready)
    assert Candidate(here, None, ready.rules, 1e9).books.state.nodes.size == 0
    setattr(here.books.state.clock[0], field, 1)
    kept = Candidate(here, None, ready.rules, 1e9).books.state.nodes.size
    assert kept == ready.machine.node_count


@pytest.mark.parametrize("made", [Again, memory_of_runs])
def test_candidates_one_after_the_other_in_the_same_memory(made: Callable[[], Again]) -> None:
    ready, other = _planned(CASES["power.block"]), _planned(CASES["power.dvfs"])
    here, memory = _moment(ready), made()
    draws = [here.jobs.run_s * factor for factor in (2.0, 0.3)]
    for own in (ready, other, ready):
        def candidate(own: Plan = own) -> Candidate:
            return Candidate(here, own.policy, own.rules,  # type: ignore[arg-type]
                             here.now_s + 1e6)

        for found, drawn_s in zip(candidate().runs(draws, memory), draws, strict=True):
            alone = candidate().run(drawn_s)
            assert np.array_equal(found.start_s, alone.start_s, equal_nan=True)
            assert np.array_equal(found.end_s, alone.end_s, equal_nan=True)
            assert (found.energy_j, found.peak_w) == (alone.energy_j, alone.peak_w)
