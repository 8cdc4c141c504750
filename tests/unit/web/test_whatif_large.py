"""Four months of a machine of 49,152 nodes: warm after the start, and the figures of Python."""

from __future__ import annotations

import time

import pytest
from tests.unit.web.asking import asked

import wattline as wl
from wattline.scenario.load import fields_of
from wattline.web.settings import Settings
from wattline.web.whatif.curves import MOST_POINTS


@pytest.mark.compiled
def test_sixteen_thousand_jobs_are_warm_after_the_start() -> None:
    with asked(Settings(warm=True, rated=False)) as client:
        end_s = time.monotonic() + 400
        while not client.get("/api/whatif/choices").json()["warm"]:
            assert time.monotonic() < end_s
            time.sleep(0.2)
        given = {**fields_of("bundled:main-capped"), "power": {"cap": "80%", "idle_fraction": 0.3}}
        found = client.post("/api/whatif", json=given).json()
    assert found["baseline"]["cached"]
    assert found["counts"]["compared"] == 16_044
    told = wl.simulate("bundled:main-capped", power__cap="80%")
    assert found["variant"]["metrics"]["energy_j"] == told.energy_j
    assert found["curves"]["variant"]["time_s"][-1] == told.end_s
    for side in found["curves"].values():
        assert len(side["time_s"]) <= MOST_POINTS
    assert max(found["curves"]["variant"]["power_w"]) == told.power_w_peak
