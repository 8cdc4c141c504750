"""The report of a contract's folder says what came of the contract."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

import wattline as wl

TYPE = {"name": "one", "nodes": 1, "time_s_min": 60, "time_s_max": 90, "power_w_max": 250,
        "power_w_min": 200, "threshold": 5}
SHORT: dict[str, Any] = {
    "types": [TYPE], "servers": 10, "power_w_idle": 100, "duration": "20m", "warmup": "0s",
    "check": 0, "cycle_s": 5, "rounds": 5}
CUT = {"programme": "emergency", "bid": "auto",
       "curtailment": {"start": "12m", "duration": "5m", "share": 0.2}}


@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("asked", [
    {"bid": (1500, 200)}, {"bid": (1500, 200), "programme": "fcr"},
    {"bid": (1500, 200), "programme": "pjm-regd"},
    # Its search takes ten seconds; the next one searches as well.
    pytest.param({"bid": "auto", "programme": "fcr", "duration": "5m", "rounds": 2, "cycle_s": 4},
                 marks=pytest.mark.long),
    CUT, CUT | {"policy": "auto"}])
@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_report_says_what_came_of_the_contract(tmp_path: Path, asked: dict[str, Any]) -> None:
    made = wl.regulate(**SHORT | asked)
    figures = made.figures
    folder = made.save(tmp_path / "run")
    page = wl.open_run(folder).report(tmp_path / "report")
    page = page / "index.html" if page.is_dir() else page
    text = html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))
    assert f"The contract costs {figures['cost']:.4g} " in text
    if figures["constraints_met"] is None:
        assert "nothing is offered" in text
    else:
        assert ("all constraints are met" in text) == (not figures["violations"])
    for line in figures["violations"]:
        assert line in text
    terms = figures["programme"]
    if terms is not None and figures["score"] is not None:
        assert f"{terms['title']}: score {figures['score']:.2f}, at least" in text
    if terms is not None and terms["credit"] is not None:
        assert f"the credit is {terms['credit']:.4g} {terms['currency']}" in text
