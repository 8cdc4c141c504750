"""Jobs that begin or end in a gap between readings of a counter.

The counter shows after the gap what was drawn in it, and not who drew it: the joules are divided by
time, and that time does not count as covered. Each day follows from samples within a day of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from wattline.account.measured.holdings import Holding
from wattline.account.measured.node_power import Days
from wattline.account.measured.records import Kind
from wattline.account.measured.rules import LONGEST_S
from wattline.account.measured.series_store import DAY_S, Samples
from wattline.model.signal import FloatArray

GAP = 3.0
"""So many times longer than usual on its day is a gap, and not the pace of the readings."""

Sure = dict[tuple[int, int], float]
"""By stay and day the part of the time that is certain, where that is not all of it."""


def sure_parts(there: Holding, days: Days) -> Sure:
    """Of nodes with one counter alone: where there are others, they know of each other's gaps."""
    rows = next(iter(days.values())) if len(days) == 1 else {}
    if {kind for _, kind in days} != {Kind.JOULES} or not len(there.held):
        return {}
    times = np.concatenate([rows[day].time_s[~np.isnan(rows[day].value)] for day in sorted(rows)])
    start_s, end_s = there.held.start_s, there.held.end_s
    found: Sure = {}
    for stay, (_, after_s) in _gaps(times, rows, start_s).items():
        _lessen(found, there, stay, float(start_s[stay]), (float(start_s[stay]), after_s))
    for stay, (before_s, _) in _gaps(times, rows, end_s).items():
        if before_s > start_s[stay]:  # else it is the gap that it began in
            _lessen(found, there, stay, float(end_s[stay]), (before_s, float(end_s[stay])))
    return found


def certain_s(
    covered_s: FloatArray, stay: npt.NDArray[np.int64], start_s: FloatArray, sure: Sure
) -> FloatArray:
    """Seconds of rows, each of a stay and within a day, without what is not certain of them."""
    if not sure:
        return covered_s
    parts: FloatArray = np.array([sure.get((int(each), int(at_s) // DAY_S), 1.0)
                                  for each, at_s in zip(stay, start_s, strict=True)])
    return np.multiply(covered_s, parts)


def _gaps(
    times: FloatArray, rows: Mapping[int, Samples], border_s: FloatArray
) -> dict[int, tuple[float, float]]:
    """The borders that lie in a gap, and from when to when it is."""
    after = np.searchsorted(times, border_s)
    inside = np.flatnonzero((after > 0) & (after < times.size))
    found = {}
    for at in inside.tolist():
        before_s, after_s = float(times[after[at] - 1]), float(times[after[at]])
        day = rows.get(int(border_s[at]) // DAY_S)
        usual_s = np.nan if day is None else day.stands_s
        lasts_s = after_s - before_s
        # A longer one is not covered in any case.
        if after_s > border_s[at] and GAP * usual_s < lasts_s <= LONGEST_S:
            found[at] = before_s, after_s
    return found


def _lessen(
    found: Sure, there: Holding, stay: int, border_s: float, unsure: tuple[float, float]
) -> None:
    day = int(border_s) // DAY_S
    begin_s = max(float(there.held.start_s[stay]), day * DAY_S)
    end_s = min(float(there.held.end_s[stay]), (day + 1) * DAY_S)
    part_s = min(unsure[1], end_s) - max(unsure[0], begin_s)
    if end_s > begin_s and part_s > 0.0:
        before = found.get((stay, day), 1.0)
        found[stay, day] = max(before - part_s / (end_s - begin_s), 0.0)
