"""Options of a contract under AQA change the answer, are said to have no effect, or are refused.

Those whose effect depends on the hour (preempt, feedback, below_idle, start_share) are left out.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.thinned import mostly
from tests.unit.demand_response.test_settling import TYPE

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
BASE: dict[str, Any] = {
    "types": [TYPE, TYPE | {"name": "two", "threshold": 3}], "servers": 10, "power_w_idle": 100,
    "duration": "5m", "warmup": "1m", "cycle_s": 10, "seed": 1}
WAYS: dict[str, dict[str, Any]] = {
    "given": {"bid": (1500, 200)},
    "programme": {"bid": (1500, 200), "programme": "fcr"},
    "adaptive": {"bid": "adaptive"},
    "averages": {"bid": "range"},
    "curtailment": {"curtailment": {"start": "2m", "duration": "2m", "notice": "1m"}},
}
OPTIONS: dict[str, Any] = {
    "utilisation": 0.3, "level": "tight", "burst": 5, "warmup": "4m", "pue": 1.3,
    "meter_noise": 0.05, "latency": "20s", "standby": True, "sleep": True, "seed": 5, "rounds": 5,
    "forecast": 2, "check": 2, "weights": (0.9, 0.1), "cycle_s": 5, "prices": {"energy": 0.3},
    "signal_start": "1m", "trace_start": "1h", "mislabelled": 0.9, "hold": 0.5}


def _answer(fields: dict[str, Any]) -> tuple[str, set[str]]:
    found = wl.regulate(**fields)
    told = {"engine_s", "assumed", "facility", "warmup_s"}  # a setting that is told is no answer
    return json.dumps({key: value for key, value in found.figures.items() if key not in told},
                      sort_keys=True), set(found.remarks)


@pytest.mark.parametrize("way", mostly(
    WAYS, [way for way in WAYS if way != "averages"], pytest.mark.long))  # tries all bids: 6 s
def test_none_of_these_options_is_ignored_in_silence(way: str) -> None:
    plain, said = _answer(BASE | WAYS[way])
    ignored = []
    for name, value in OPTIONS.items():
        place = {"contract__trace_start": value} if name == "trace_start" else {name: value}
        try:
            figures, remarks = _answer(BASE | WAYS[way] | place)
        except wl.InputError:
            continue
        if figures == plain and not remarks - said:
            ignored.append(name)
    assert ignored == []
