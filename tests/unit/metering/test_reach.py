"""For how long samples stand, where nobody says it."""

import numpy as np
import pytest

from wattline.physics.metering.reach import reaches
from wattline.physics.metering.samples import standing

DAY_S = 86_400


def covered_s(times):
    times = np.asarray(times, dtype=float)
    found = standing(times, np.ones(times.size), reaches(times))
    return float(np.nansum(found.power_w * np.diff(found.edge_s)))


def test_a_change_of_pace_is_followed():
    times = [*np.arange(0, 43_200, 10), *np.arange(43_200, DAY_S, 1200)]
    assert covered_s(times) == DAY_S


@pytest.mark.parametrize("exports", [2, 3, 4])
def test_exports_of_one_meter_that_are_shifted_leave_no_gaps(exports):
    times = np.sort(np.concatenate([np.arange(0, 7200, 60) + 0.4 * each
                                    for each in range(exports)]))
    assert covered_s(times) == pytest.approx(7200)


@pytest.mark.parametrize("lost", [slice(100, 103), slice(0, 1), slice(350, 359), slice(40, 300)])
def test_samples_that_are_missing_are_a_gap(lost):
    every = np.arange(0, 3600, 10)
    times = np.delete(every, np.arange(every.size)[lost])
    assert covered_s(times) == 10 * times.size


def test_an_outage_over_midnight_is_a_gap():
    times = [*np.arange(DAY_S - 3600, DAY_S - 600, 60), *np.arange(DAY_S + 600, DAY_S + 3600, 60)]
    assert covered_s(times) == 6000


def test_another_day_changes_nothing():
    """So that a day comes out the same whatever else is in a ledger."""
    own = np.arange(2 * DAY_S, 3 * DAY_S, 600.0)
    whole = np.concatenate([np.arange(0, DAY_S, 7.0), own, np.arange(4 * DAY_S, 5 * DAY_S, 3.0)])
    found, mine = reaches(whole), reaches(own)
    kept = np.searchsorted(whole, own)
    assert found[kept][-1] == mine[-1] == 600
    assert (found[kept] == mine).all()
