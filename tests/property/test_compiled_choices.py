"""Every choice of every axis is compiled, and then decides as plain Python does.

What is compiled takes seconds for each combination of policies, so a few combinations between them
have every choice. Contracts are compared in tests/unit/grid/test_contracts.py, placements on a
network in test_network_twins.py. What other tests compile and compare before a commit (`ELSEWHERE`)
is compared here by `make test-long`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.checked import ALONE, REGULATION, WORLDS, Cases, every_choice_once, whole
from tests.support.choices import every
from tests.support.plain_process import PlainProcess

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[2]
GROUPS = [*(cases for cases in every_choice_once() if not cases[0].startswith(REGULATION)),
          *WORLDS.values()]
ELSEWHERE = {
    **dict.fromkeys([*ALONE, "placement.rdn"], "tests/property/test_network_twins.py"),
    "power.adaptive": "tests/unit/engine/test_at_once.py",
}
"""Places where a choice is compiled and held to plain Python before a commit, if not in a group
here."""


def is_left_for_later(cases: Cases) -> bool:
    """Each of its choices is compared elsewhere: half a minute for a composition of them."""
    return all(case in ELSEWHERE for case in cases)


def test_every_choice_is_compared_before_a_commit() -> None:
    here = {case for cases in GROUPS if not is_left_for_later(cases) for case in cases}
    assert here | set(ELSEWHERE) == every()
    for file in set(ELSEWHERE.values()):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "mark.compiled" in text, file
        assert "mark.long" not in text, file


@pytest.mark.parametrize("cases", [
    pytest.param(cases, marks=[pytest.mark.long] if is_left_for_later(cases) else [])
    for cases in GROUPS], ids=", ".join)
def test_compiled_it_decides_as_plain_python_does(cases: Cases, plain: PlainProcess) -> None:
    ours, theirs = whole(cases), plain.call("tests.support.checked", "whole", cases)
    assert set(ours) == set(theirs)
    assert np.count_nonzero(ours["schedule.start_s"] >= 0) > 8
    for name, values in theirs.items():
        # Compiled sums may use fused operations; a last digit may differ, a decision may not.
        np.testing.assert_allclose(ours[name], values, rtol=1e-12, atol=1e-9, err_msg=name)
