"""Sweeps: every combination, checked before the first of them costs any time."""

from __future__ import annotations

import pytest

import wattline as wl
from wattline.scenario.sweep import combinations, label, parse_variations

TRACE = wl.generate("lublin", seed=1, jobs=30, nodes=32)
MACHINE = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)


def test_every_combination_is_simulated_and_named() -> None:
    found = wl.sweep(TRACE, vary={"machine.nodes": [32, 40], "order": ["fcfs", wl.Sjf()]},
                     machine__node_idle_w=90, machine__node_active_w=300)
    assert list(found.runs) == [f"lublin seed 1: nodes {nodes}, order {order}"
                                for nodes in (32, 40) for order in ("fcfs", "sjf")]
    assert [run.machine.node_count for run in found.runs.values()] == [32, 32, 40, 40]
    alone = wl.simulate(TRACE, machine=MACHINE, order="sjf")
    assert found["lublin seed 1: nodes 32, order sjf"].energy_j == alone.energy_j


def test_a_sweep_begins_without_a_cap_where_none_is_given() -> None:
    found = wl.sweep(TRACE, machine=MACHINE, vary={"power": [None, wl.Block(cap="80%")]})
    free, capped = found.runs.values()
    assert free.cap_w is None
    assert capped.power_w_peak <= 0.8 * free.power_w_peak
    assert len(found.to_pandas()) == 2


def test_a_mistake_in_the_last_is_found_before_the_first_runs() -> None:
    told: list[float] = []
    with pytest.raises(wl.InputError, match="must be at least 1"):
        wl.sweep(TRACE, vary={"machine.nodes": [32, 0]}, progress=told.append)
    assert told == []


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(wl.InputError, match=r"vary: cap needs a list of values"):
        wl.sweep(TRACE, machine=MACHINE, vary={"cap": "80%"})


def test_the_text_of_a_command_line_is_the_same_variation() -> None:
    found = parse_variations(["power.cap=0.6,80%", 'policy.order={name = "wfp", exponent = 2},sjf'])
    assert found == {"power.cap": [0.6, "80%"],
                     "policy.order": [{"name": "wfp", "exponent": 2}, "sjf"]}
    assert len(list(combinations(found))) == 4
    assert label("a", {"power.cap": 0.6}) == "a: cap 0.6"
    with pytest.raises(wl.InputError, match="is varied twice"):
        parse_variations(["a=1", "a=2"])
    with pytest.raises(wl.InputError, match="is no variation"):
        parse_variations(["a="])


def test_nothing_varied_is_one_run() -> None:
    assert list(combinations({})) == [{}]


def test_a_cap_that_is_varied_is_kept_and_the_answer_says_by_whom() -> None:
    found = wl.sweep(TRACE, machine=MACHINE, vary={"cap": [None, "80%"]})
    free, capped = found.runs.values()
    assert capped.power_w_peak <= 0.8 * free.power_w_peak
    assert any("'dvfs' keeps the cap" in line for line in capped.remarks)
    assert free.remarks == ()
    asked = wl.sweep(TRACE, machine=MACHINE, vary={"cap": ["80%"]}, power="block")
    assert not any("keeps the cap" in line for run in asked.runs.values() for line in run.remarks)


def test_no_cap_is_written_as_none_in_either_spelling() -> None:
    found = wl.sweep(TRACE, machine=MACHINE, power="dvfs", vary={"power.cap": [None, "80%"]})
    same = wl.sweep(TRACE, machine=MACHINE, power="dvfs", vary={"power.cap": ["none", "80%"]})
    assert [run.energy_j for run in found.runs.values()] == [
        run.energy_j for run in same.runs.values()]
    short = wl.sweep(TRACE, machine=MACHINE, power="dvfs", vary={"cap": [None, "80%"]})
    assert [run.energy_j for run in short.runs.values()] == [
        run.energy_j for run in same.runs.values()]
    with pytest.raises(wl.InputError, match=r"machine\.nodes needs a list of values"):
        wl.sweep(TRACE, vary={"machine.nodes": 8})


def test_a_cap_is_given_once() -> None:
    with pytest.raises(wl.InputError, match=r"cap is given twice: as 80% to power\.cap"):
        wl.simulate(TRACE, machine=MACHINE, power=wl.Dvfs(cap="70%"), **{"power.cap": "80%"})
    with pytest.raises(wl.InputError, match="Dvfs: cap: 'seventy' is neither watts"):
        wl.Dvfs(cap="seventy")


def test_a_run_without_a_cap_is_measured_by_that_of_its_own_machine() -> None:
    found = wl.sweep("examples/tiny.swf", power="dvfs", vary={
        "power.cap": ["none", "90%"], "machine.nodes": [8, 16]})
    free, capped = "tiny: cap none, nodes 16", "tiny: cap 90%, nodes 16"
    cap = found[capped].cap_w
    assert cap is not None
    watched = wl.simulate("examples/tiny.swf", watch_cap=float(cap.value[0]), machine__nodes=16)
    shown = {row.key: row for row in found.rows}["time_above_cap_s"].values[1]
    assert shown == watched.time_above_cap_s > 0
    table = found.to_pandas().loc[free]
    assert (table["time_above_cap_s"], table["above_cap_of"]) == (shown, capped)
    assert found.figures[free]["above_cap_of"] == capped
    assert f"'{free}' is measured against the cap of '{capped}'" in repr(found)
    other = wl.compare(found[free], found["tiny: cap 90%, nodes 8"])
    assert "no run on the same machine has a cap" in repr(other)


def test_a_cap_that_is_varied_goes_before_one_that_the_scenario_watches() -> None:
    scenario = {"trace": {"file": "examples/tiny.swf"}, "power": {"watch_cap": "80%"},
                "machine": {"node_idle_w": 90, "node_active_w": 300}}
    found = wl.sweep(scenario, power="dvfs", vary={"power.cap": ["none", "90%"]})
    free, capped = found.runs.values()
    assert free.cap_w is None
    assert capped.power_w_peak <= 0.9 * free.power_w_peak
    for run in (free, capped):
        assert "power.watch_cap 80% of the scenario is left out: the cap is varied" in run.remarks
    with pytest.raises(wl.InputError, match="give either 'cap'"):
        wl.sweep(scenario, watch_cap="70%", vary={"power.cap": ["90%"]})


@pytest.mark.parametrize("by_scenario", [True, False])
def test_a_policy_with_a_cap_of_its_own_goes_before_one_that_is_watched(by_scenario: bool) -> None:
    scenario = {"trace": {"file": "examples/tiny.swf"},
                "machine": {"node_idle_w": 90, "node_active_w": 300}}
    given = {} if by_scenario else {"watch_cap": "80%"}
    if by_scenario:
        scenario["power"] = {"watch_cap": "80%"}
    found = wl.sweep(scenario, vary={"power": [None, wl.Dvfs(cap="90%")]}, **given)
    watched, capped = found.runs.values()
    whose = " of the scenario" if by_scenario else ""
    left_out = f"power.watch_cap 80%{whose} is left out: the cap is varied"
    assert capped.power_w_peak <= 0.9 * watched.power_w_peak
    assert left_out in capped.remarks
    assert left_out not in watched.remarks
    assert watched.time_above_cap_s > 0  # it is measured against the cap that is watched
