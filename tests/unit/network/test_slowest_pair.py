"""A job is held up by the fullest link on the paths of any of its pairs, not of the last one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.engine.congestion import _slowdown
from wattline.model.kernel import PLAIN


@pytest.mark.skipif(not PLAIN, reason="kernels take the arrays of a whole network")
@pytest.mark.parametrize(("load", "slowdown"), [
    ([3.0, 0.5], 3.0), ([0.5, 3.0], 3.0), ([0.5, 0.2], 1.0)])
def test_the_slowest_pair_counts_wherever_it_stands(load: list[float], slowdown: float) -> None:
    """Two pairs, each with one path over a link of its own, of 1 Gbit/s."""
    each = np.arange(3)
    paths = SimpleNamespace(path_start=each, link_start=each, link=np.array([0, 1]),
                            minimal=np.ones(2), link_gbit_s=np.ones(2))
    flows = SimpleNamespace(pair_row=np.array([0, 1]), price=np.ones(2), cost=np.zeros(2),
                            load=np.array(load))
    network = SimpleNamespace(paths=paths, flows=flows)
    assert _slowdown(network, 0, 2) == pytest.approx(slowdown)  # type: ignore[arg-type]
