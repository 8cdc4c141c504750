"""Effect of a value of an axis, by pairs with the same seed."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wattline as wl
from wattline.analysis.expressions import Expression
from wattline.sweeps.paired import against_first

AXES = {"power.cap": ["90%", "80%", "70%"], "policy.order": ["fcfs", "sjf"]}
LUCK = {1: 0.0, 2: 500.0, 3: -900.0}
"""Effect of a draw on all its points alike: far more than any value of an axis."""


def rows(less: float = 0.0) -> list[dict[str, Any]]:
    found = []
    for cap, order, seed in product(*AXES.values(), LUCK):
        energy_j = (1000.0 + LUCK[seed] + {"90%": 0, "80%": -10, "70%": -30}[cap]
                    + (5 if order == "sjf" else 0) + less * seed * (cap == "70%"))
        found.append({"setting": {"power.cap": cap, "policy.order": order, "trace.seed": seed},
                      "figures": {"energy_j": energy_j}})
    return found


@pytest.mark.parametrize("less", [0.0, 2.0])
def test_the_luck_of_draws_is_not_in_differences(less: float) -> None:
    found = against_first(rows(less), "power.cap", Expression.parse("energy_j"))
    assert list(found) == ["80%", "70%"]
    assert found["80%"] == (pytest.approx(-10.0), pytest.approx(0.0, abs=1e-9), 6)
    by_seed = [-30.0 + less * seed for seed in LUCK]
    half = 4.303 * float(np.std(by_seed, ddof=1)) / math.sqrt(3)  # Student's t, 2 degrees
    assert found["70%"] == (pytest.approx(np.mean(by_seed)), pytest.approx(half, rel=1e-3), 6)


def test_without_a_pair_or_a_second_seed_nothing_is_made_up() -> None:
    some = [row for row in rows() if row["setting"]["trace.seed"] == 1]
    alone = against_first(some, "policy.order", Expression.parse("energy_j"))
    assert alone["sjf"].mean == 5.0
    assert math.isnan(alone["sjf"].half)
    unpaired = [row for row in rows()
                if (row["setting"]["power.cap"] == "90%") == (row["setting"]["trace.seed"] == 1)]
    assert against_first(unpaired, "power.cap", Expression.parse("energy_j")) == {}
    assert against_first([], "power.cap", Expression.parse("energy_j")) == {}


@pytest.mark.usefixtures("unpainted")
def test_report_and_json_have_them(tmp_path: Path) -> None:
    scenario = {"trace": {"generate": "lublin", "jobs": 30}, "machine": {"nodes": 32}}
    found = wl.run_sweep({"scenario": scenario, "seeds": 3,
                          "axes": {"policy.order": ["fcfs", "sjf"]}}, tmp_path / "s", workers=1)
    told = found.to_dict()["effects"]["wait_s.mean"]["policy.order"]
    mean, half = found.differences("policy.order", "fcfs", "sjf", "wait_s.mean")
    assert "difference" not in told["fcfs"]
    assert told["sjf"]["difference"] == pytest.approx(mean)
    assert told["sjf"]["half"] == pytest.approx(half)
    assert told["sjf"]["pairs"] == 3
    assert told["sjf"]["mean"] == pytest.approx(told["fcfs"]["mean"] + mean)
    assert found.page is not None
    assert "Against the first value" in found.page.read_text(encoding="utf-8")
