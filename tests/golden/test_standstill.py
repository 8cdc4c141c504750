"""A job's power while a change of frequency holds it up is its own, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.lab import joules, play, spans, table
from tests.support.workloads import compose
from wattline.model.signal import Signal
from wattline.policies.admission.dvfs import Dvfs


def test_a_job_pays_for_the_time_in_which_it_stands_still():
    """All four nodes run one job at 1,200 W. At 4 s the cap falls to 700 W: the job stands still
    for 2 s, then needs 12 s for the 6 s of work that are left, at half the speed and power.

        0123456789012345678
        AAAA..aaaaaaaaaaaa
    """
    levels = Dvfs(np.array([0.5, 1.0]), np.array([0.5, 1.0]), latency_s=2.0)
    cap_w = Signal.from_steps([(0, 1200.0), (4, 700.0)], "W")
    run = play(table((0, 4, 10)), compose(admission=levels), cap_w=cap_w)
    assert spans(run) == [(0, 18)]
    # Nobody else is there: all that the machine drew is the job's.
    assert joules(run) == [pytest.approx(4 * 1200 + 14 * 600)]
    assert run.energy_j == pytest.approx(joules(run)[0])
