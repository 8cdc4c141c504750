"""The kernels that manage energy, compiled and plain, give the same results on many seeds.

Before a commit test_compiled_choices.py compares each of them on one case.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.property.energy_twin_runs import RUNS
from tests.property.twin_runs import columns

from wattline.results.verify.judge import verify

pytestmark = [pytest.mark.compiled, pytest.mark.long]


@pytest.mark.parametrize("name", RUNS)
def test_compiled_and_plain_runs_are_equal(name, plain):
    for seed in range(21, 26):
        run = RUNS[name](seed)
        assert verify(run).sentences == []
        assert np.count_nonzero(run.ran) > 0.7 * len(run.ran)
        twins = plain.call("tests.property.energy_twin_runs", "results", name, seed)
        for column, values in columns(run).items():
            # Compiled sums may use fused operations; a last digit may differ, a decision may not.
            np.testing.assert_allclose(values, twins[column], rtol=1e-12, atol=1e-9,
                                       err_msg=f"{column}, seed {seed}")
