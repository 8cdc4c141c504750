"""Table 2.3 follows from the printed weights, average power and reserve, up to one scale."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.grid.bidding import Problem
from wattline.grid.bidding.theory import minimal_weights, needed_rates, service
from wattline.grid.workloads import applications, workload
from wattline.studies.regulation import thresholds


def test_inferred_thresholds_ask_for_the_printed_weights() -> None:
    load = thresholds._scaled(workload("MOC"), thresholds.inferred(), 1.0)
    problem = Problem(load, 0.1, 0.1, 0.1, thresholds.SIGNAL_STD, 0.0)
    printed = np.array([thresholds.WEIGHTS[t.name] for t in load.types])
    at = service(problem, thresholds.AVERAGE_W, thresholds.RESERVE_W, printed)
    least = minimal_weights(problem, at, needed_rates(problem, np.zeros(6)))
    assert least == pytest.approx(printed, rel=1e-6)
    assert sum(least) == pytest.approx(1.0, abs=0.003)  # they are printed to a tenth of a percent


def test_the_shipped_thresholds_are_twice_the_inferred_ones() -> None:
    shipped = applications("moc")
    for name, value in thresholds.inferred().items():
        assert shipped[name].threshold == pytest.approx(thresholds.SHIPPED_SCALE * value, rel=0.03)
        assert shipped[name].sources["threshold"] == "inferred"
        assert shipped[name].threshold_sure == "fitted"
