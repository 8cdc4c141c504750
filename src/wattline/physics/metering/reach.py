"""For how long a sample stands, where nobody says it: as long as is usual around it.

Meters change their pace, and exports of one meter overlap, a little shifted. So the usual time
between samples is found anew at each of them, from those next to it on its own day and, over
midnight, on the next: what is usual at noon does not depend on what came in another month.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.signal import FloatArray
from wattline.physics.metering.samples import LATE

DAY_S = 86_400
SIDE = 8
"""So many times between samples are looked at before a sample, and so many after it."""
AT_ONCE = 50_000


def reaches(time_s: FloatArray) -> FloatArray:
    """How long each of these samples stands, at rising times; NaN where nothing tells it.

    The usual time is the fourth longest of the 16 around (of fewer, a quarter from the top): three
    gaps among them are longer, and the times between several exports of one meter much shorter.
    """
    gap_s = np.diff(time_s)
    found = np.append(gap_s, np.nan)
    maybe = _maybe_late(gap_s)
    for begin in range(0, maybe.size, AT_ONCE):
        some = maybe[begin : begin + AT_ONCE]
        found[some] = _usual_s(time_s, gap_s, some)
    if gap_s.size:
        found[-1] = _usual_s(time_s, gap_s, np.array([gap_s.size]))[0]
    return found


def _maybe_late(gap_s: FloatArray) -> npt.NDArray[np.int64]:
    """Only there it matters how long a sample stands: elsewhere the next one is near."""
    return np.flatnonzero(gap_s > LATE * gap_s.min(initial=np.inf))


def _usual_s(
    time_s: FloatArray, gap_s: FloatArray, at: npt.NDArray[np.int64]
) -> FloatArray:
    """What is usual around the gaps at these places, the gaps themselves left out."""
    offset = np.concatenate([np.arange(-SIDE, 0), np.arange(1, SIDE + 1)])
    place = at[:, None] + offset
    inside = (place >= 0) & (place < gap_s.size)
    place = np.clip(place, 0, gap_s.size - 1)
    own = _day(time_s[at])[:, None]
    next_day = _day(time_s[np.minimum(at + 1, gap_s.size)])[:, None]
    # Before a gap both samples are of the day that it begins on, after it of the one it ends on.
    side_day = np.where(offset < 0, own, np.where(next_day <= own + 1, next_day, -1))
    whole = inside & (_day(time_s[place]) == side_day) & (_day(time_s[place + 1]) == side_day)
    around = np.where(whole, gap_s[place], -np.inf)
    around = -np.sort(-around, axis=1)
    count = whole.sum(axis=1)
    rank = np.minimum(np.maximum(1, count // 4 - 1), np.maximum(0, count - 1))
    usual = around[np.arange(at.size), rank]
    return np.where(count > 0, usual, np.nan)


def _day(time_s: FloatArray) -> FloatArray:
    return np.asarray(time_s // DAY_S, dtype=np.float64)
