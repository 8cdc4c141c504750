"""Gaps of readings in which a job begins or ends, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wattline.account.measured.border_gaps import _gaps
from wattline.account.measured.rules import LONGEST_S


@pytest.mark.parametrize(("after_s", "border_s", "gap"), [
    (50.0, 35.0, False), (51.0, 35.0, True), (51.0, 20.0, False), (51.0, 50.9, True),
    (51.0, 51.0, False), (20.0 + LONGEST_S, 35.0, True), (21.0 + LONGEST_S, 35.0, False)])
def test_a_gap_is_more_than_three_times_as_long_as_readings_usually_stand(
    after_s: float, border_s: float, gap: bool
) -> None:
    """Readings stand for 10 s: from 20 s to 50 s is their pace, to 51 s a gap. What is longer than
    readings hold at most is not covered in any case, nor is a border at a reading in a gap."""
    times = np.array([0.0, 10.0, 20.0, after_s, after_s + 10.0])
    days = {0: SimpleNamespace(stands_s=10.0)}
    assert _gaps(times, days, np.array([border_s])) == ({0: (20.0, after_s)} if gap else {})


def test_on_a_day_without_readings_nothing_is_usual() -> None:
    assert _gaps(np.array([0.0, 100.0]), {}, np.array([50.0])) == {}
