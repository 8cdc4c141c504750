"""The kernels that manage energy, compiled and plain, give the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.property.energy_twin_runs import RUNS
from tests.property.twin_runs import columns

from wattline.analysis.checker import check
from wattline.model.kernel import PLAIN

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(PLAIN, reason="compares the compiled kernels with this very mode")


@pytest.fixture(scope="module")
def plain_results(tmp_path_factory):
    path = tmp_path_factory.mktemp("energy_twins") / "plain.npz"
    done = subprocess.run(
        [sys.executable, "-m", "tests.property.energy_twin_runs", str(path)], cwd=ROOT,
        env={**os.environ, "WATTLINE_PLAIN": "1", "PYTHONPATH": str(ROOT)}, text=True,
        capture_output=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return np.load(path)


@pytest.mark.parametrize("name", RUNS)
def test_compiled_and_plain_runs_are_equal(name, plain_results):
    run = RUNS[name]()
    assert check(run) == []
    assert np.count_nonzero(run.ran) > 0.9 * len(run.ran)
    for column, values in columns(run).items():
        twin = plain_results[f"{name}/{column}"]
        # Compiled sums may use fused operations; a last digit may differ, a decision may not.
        np.testing.assert_allclose(values, twin, rtol=1e-12, atol=1e-9, err_msg=column)
