"""Every choice of every axis is compiled, and then decides as plain Python does.

What is compiled takes seconds for each combination of policies, so a few combinations between them
have every choice. Contracts are compared in tests/unit/grid/test_contracts.py, placements on a
network in test_network_twins.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.checked import REGULATION, WORLDS, Cases, every_choice_once, whole
from tests.support.plain_process import PlainProcess

pytestmark = pytest.mark.compiled

GROUPS = [cases for cases in every_choice_once() if not cases[0].startswith(REGULATION)]


@pytest.mark.parametrize("cases", [*GROUPS, *WORLDS.values()], ids=", ".join)
def test_compiled_it_decides_as_plain_python_does(cases: Cases, plain: PlainProcess) -> None:
    ours, theirs = whole(cases), plain.call("tests.support.checked", "whole", cases)
    assert set(ours) == set(theirs)
    assert np.count_nonzero(ours["schedule.start_s"] >= 0) > 8
    for name, values in theirs.items():
        # Compiled sums may use fused operations; a last digit may differ, a decision may not.
        np.testing.assert_allclose(ours[name], values, rtol=1e-12, atol=1e-9, err_msg=name)
