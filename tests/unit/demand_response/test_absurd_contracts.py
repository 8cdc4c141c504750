"""Numbers that make no contract are refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

import wattline as wl
from wattline.demand_response.building import case_of
from wattline.demand_response.case import Case
from wattline.demand_response.reading import read_contract
from wattline.demand_response.run import run_contract

TYPE = {"name": "one", "nodes": 1, "time_s_min": 30, "time_s_max": 45, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SMALL: dict[str, Any] = {"types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "4m",
                         "warmup": "0s", "check": 0, "cycle_s": 2}


@pytest.mark.parametrize(("field", "value", "said"), [
    ("utilisation", 1e-121, "no job is submitted"),
    ("duration", "1e-9s", "less than a control cycle of 2 s"),
    ("duration", "1e11s", "control cycles, at most 10,000,000"),
    ("warmup", "1e11s", "control cycles, at most 10,000,000"),
])
def test_absurd_numbers_are_refused_with_what_would_be_right(
    field: str, value: Any, said: str
) -> None:
    with pytest.raises(wl.InputError, match=said):
        wl.bid(**SMALL | {field: value})
    with pytest.raises(wl.InputError, match=said):
        wl.regulate(**SMALL | {field: value}, bid=(1500.0, 200.0))


def test_an_hour_in_which_no_job_comes_draws_idle_power() -> None:
    """Of hours that are drawn anew some may be empty, where the load is small."""
    made = case_of(read_contract(None, SMALL))
    none = made.jobs.take(made.jobs.submit_s < 0)
    found = run_contract(Case(made.workload, none, made.signal, duration_s=240.0), None)
    assert found.actual_w.integral(0.0, 240.0) == pytest.approx(240.0 * 1000.0)


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
def test_the_bound_stands_beside_a_bid_that_fails() -> None:
    found = wl.bid(**SMALL | {"duration": "2m", "cycle_s": 10}, forecast=0, method="range",
                   utilisation=0.3)
    assert not found.figures["participates"]
    assert found.figures["bound"]["feasible"] in (True, False)
    slow = TYPE | {"time_s_min": 240, "time_s_max": 360}
    planned = wl.bid(**SMALL | {"types": [slow], "duration": "1h", "cycle_s": 60}, method="range",
                     hours=1, forecast=0)
    assert planned.figures["bound"] is None  # it is of one bid for the whole contract
