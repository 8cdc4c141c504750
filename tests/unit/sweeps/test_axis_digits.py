"""Values of an axis keep all their digits, whatever they stand beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wattline as wl
from wattline.sweeps.axes import number_text, read_axis

CAPS_W = [6123.4567891, 6123.4567892]
SWEEP: dict[str, Any] = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 20},
                 "machine": {"nodes": 32, "node_idle_w": 90, "node_active_w": 300},
                 "policy": {"power": "dvfs"}},
    "axes": {"power.cap": ["none", *CAPS_W]}}


@pytest.mark.parametrize(("value", "text"), [
    (0.7, "0.7"), (3.5e6, "3.5e+06"), (1e6 + 1, "1000001.0"), (0.1 + 0.2, "0.30000000000000004"),
    (float("nan"), "nan"), (float("inf"), "inf")])
def test_a_number_is_short_where_that_says_all_of_it(value: float, text: str) -> None:
    assert number_text(value) == text


def test_beside_none_a_number_keeps_its_digits_in_the_table(tmp_path: Path) -> None:
    found = wl.run_sweep(SWEEP, tmp_path / "a", workers=1, cache=False, report=False)
    column = found.to_pandas()["power.cap"].tolist()
    assert column[0] == "none"
    assert [float(text) for text in column[1:]] == CAPS_W
    assert len(found.effects()["power.cap"]) == 3
    # 10 nW apart, but two values: the difference is of that pair, not of one with itself.
    found.differences("power.cap", *CAPS_W)
    with pytest.raises(wl.InputError, match="no two points differ"):
        found.differences("power.cap", "none", 6123.46)


def test_a_range_in_per_cent_keeps_its_digits() -> None:
    axis = read_axis("power.cap", {"from": "70%", "to": "90%", "count": 4})
    assert [float(text.removesuffix("%")) for text in axis.values] == pytest.approx(  # type: ignore[union-attr]
        [70, 76 + 2 / 3, 83 + 1 / 3, 90], rel=1e-14)
