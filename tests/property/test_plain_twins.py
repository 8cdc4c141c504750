"""Compiled kernels and their plain twins, from the same source, give the same results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property import twin_runs
from tests.support.examples import costing
from tests.support.workloads import workloads

from wattline.results.verify.judge import verify

pytestmark = pytest.mark.compiled

BEFORE_A_COMMIT = ("fcfs-easy-starts-only", "fcfs-easy-block", "sjf-conservative-wait",
                   "wfp-easy-dvfs")
"""The compositions that other tests compile too; every choice is compared in
test_compiled_choices.py, on one case. All others are for `make test-long`."""


@st.composite
def cases(draw) -> twin_runs.Case:
    """Machines of 1 to 40 units; jobs with dependencies; caps and reservations at random times."""
    units = draw(st.integers(1, 40))
    jobs = draw(workloads(units, largest=30, dependencies=True))
    steps = draw(st.lists(st.tuples(st.integers(1, 80), st.integers(100, 320)), max_size=3))
    first_w = draw(st.integers(120, 320))
    windows = st.tuples(st.integers(0, 60), st.integers(1, 30), st.floats(0.1, 1.0))
    return twin_runs.Case(
        jobs, units,
        caps_w=tuple(sorted({0: float(first_w), **dict(steps)}.items())),
        windows=tuple(draw(st.lists(windows, max_size=2))),
        overrun=draw(st.sampled_from(["extend", "kill"])),
    )


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in BEFORE_A_COMMIT else [pytest.mark.long])
    for name in twin_runs.RUNS
])
@given(case=cases())
@costing(70)
def test_compiled_and_plain_runs_are_equal(name, plain, case):
    run = twin_runs.RUNS[name](case)
    assert verify(run).sentences == []
    twins = plain.call("tests.property.twin_runs", "results", name, case)
    for column, values in twin_runs.columns(run).items():
        # Compiled sums may use fused operations; a last digit may differ, a decision may not.
        np.testing.assert_allclose(values, twins[column], rtol=1e-12, atol=1e-9, err_msg=column)
