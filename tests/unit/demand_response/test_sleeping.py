"""Idle servers that may sleep: power below the idle machine, and awake again when it may rise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wattline.demand_response.building import assumed_sleep, case_of
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract
from wattline.model.run import EventKind

TYPE = {"name": "one", "nodes": 1, "time_s_min": 20, "time_s_max": 30, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
EVENT = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "10m", "warmup": "0s",
         "utilisation": 0.4, "check": 0, "cycle_s": 2, "start_share": 0,
         "curtailment": {"start": "3m", "duration": "4m", "notice": "1m", "share": 0.25}}
# The mean is 10 x 100 W + 4 x 150 W = 1,600 W, a quarter less 1,200 W: 200 W above idle.


@pytest.mark.parametrize("policy", ["aqa", "qoscap"])
def test_servers_sleep_under_a_limit_and_wake_after_it(policy: str) -> None:
    case = case_of(read_contract(None, EVENT | {"policy": policy, "sleep": True}))
    case = replace(case, sleep=replace(assumed_sleep(100.0), boot_s=10.0, shutdown_s=4.0))
    slept = run_contract(case, None)
    awake = run_contract(replace(case, sleep=None), None)
    events = slept.run.events
    switched = events.value[events.kind == EventKind.NODE]
    assert switched.min() < 0 < switched.max()
    inside = slept.actual_w.sample(np.arange(190.0, 420.0, 2.0))
    assert inside.max() <= 1200.5
    assert slept.quality[0].violation_share < awake.quality[0].violation_share
    # Off and booting servers are in the power, so the joules of the checker agree.
    assert slept.run.energy_j == pytest.approx(slept.actual_w.integral(slept.run.start_s,
                                                                       slept.run.end_s), rel=1e-9)
    last = events.time_s > 500.0
    assert events.power_w[last].min() >= 1000.0  # all are awake again


def test_nothing_sleeps_where_it_is_not_allowed() -> None:
    case = case_of(read_contract(None, EVENT))
    found = run_contract(case, None)
    assert not np.any(found.run.events.kind == EventKind.NODE)


def test_what_is_assumed_of_sleeping_nodes_is_said() -> None:
    from wattline.demand_response.remarks import remarks

    said = remarks(read_contract(None, EVENT | {"sleep": True}))
    assert said == ["assumed of nodes that sleep: off 10 W unless node_off_w is given, 120 s to "
                    "boot, 30 s to shut down, both at idle power; [[machine.classes]] says it"]


@pytest.mark.parametrize(("boot", "said"), [
    ({}, ["nodes that sleep are awake at once: [[machine.classes]] has no boot_s"]),
    ({"boot_s": 60}, []),
])
def test_classes_without_a_time_to_boot_are_said_to_be_awake_at_once(
    boot: dict[str, float], said: list[str]
) -> None:
    from wattline.demand_response.remarks import remarks

    node = {"name": "node", "count": 10, "idle_w": 100, "active_w": 250, **boot}
    given = EVENT | {"servers": None, "power_w_idle": None, "machine__classes": [node]}
    scenario = read_contract(None, given | {"sleep": True})
    assert remarks(scenario) == said
