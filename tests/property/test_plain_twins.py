"""Compiled kernels and their plain twins, from the same source, give the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.property.twin_runs import RUNS, columns

from wattline.analysis.checker import check
from wattline.model.kernel import PLAIN

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(PLAIN, reason="compares the compiled kernels with this very mode")


def plainly(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WATTLINE_PLAIN": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, text=True,
                          capture_output=True, check=False)


@pytest.fixture(scope="module")
def plain_results(tmp_path_factory):
    path = tmp_path_factory.mktemp("twins") / "plain.npz"
    done = plainly("-m", "tests.property.twin_runs", str(path))
    assert done.returncode == 0, done.stderr
    return np.load(path)


@pytest.mark.parametrize("name", RUNS)
def test_compiled_and_plain_runs_are_equal(name, plain_results):
    run = RUNS[name]()
    assert check(run) == []
    for column, values in columns(run).items():
        twin = plain_results[f"{name}/{column}"]
        # Compiled sums may use fused operations; a last digit may differ, a decision may not.
        np.testing.assert_allclose(values, twin, rtol=1e-12, atol=1e-9, err_msg=column)


def test_every_combination_decides_alike_on_snapshots():
    """Too many combinations to compile; the plain twins are the same source."""
    done = plainly("-m", "pytest", "-q", "-p", "no:cacheprovider",
                   "tests/property/test_snapshot_decisions.py")
    assert done.returncode == 0, done.stdout[-3000:]
