"""Readings that look like faults of a meter: kept, because nobody can be sure, and told."""

from __future__ import annotations

import numpy as np

from wattline.physics.metering.stretches import Stretches

FACTOR = 10.0
"""A reading alone that is so many times the one before it and the one after it."""
LEAST_W = 1000.0
"""Below it nothing is suspect: small devices do go from nothing to much and back."""
_DAY_S = 86_400


def suspects(measured: Stretches) -> Stretches | None:
    """The power of suspect readings, 0 elsewhere; None without any.

    Only neighbours of the same day or the one beside it are looked at, so that what is suspect
    does not depend on what else is known.
    """
    known = np.flatnonzero(~np.isnan(measured.power_w))
    power = measured.power_w[known]
    high = power > LEAST_W
    if power.size < 2 or not high.any():
        return None
    begin, end = (edges // _DAY_S for edges in (
        measured.edge_s[:-1][known], measured.edge_s[1:][known]))
    near_before = np.append(False, begin[:-1] >= end[1:] - 1)
    near_after = np.append(end[1:] <= begin[:-1] + 1, False)
    rises = np.append(True, power[1:] > FACTOR * power[:-1]) | ~near_before
    falls = np.append(power[:-1] > FACTOR * power[1:], True) | ~near_after
    alone = known[high & rises & falls & (near_before | near_after)]
    if not alone.size:
        return None
    shown = np.zeros(measured.power_w.size)
    shown[alone] = measured.power_w[alone]
    return Stretches(measured.edge_s, shown, measured.filled)
