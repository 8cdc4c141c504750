"""Submissions in sessions: users who come back, and send several jobs of a kind at once.

On real machines jobs do not arrive one by one. A user sits down, sends a handful within minutes,
mostly of one size, and is away for hours. So gaps vary far more than those of a Poisson process,
some days bring several times the usual work, and large jobs, which belong to other projects than
small ones, run longer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.signal import FloatArray

IntArray = npt.NDArray[np.int64]

BATCH_MEAN = 3.5
"""Jobs of a session on average (geometric)."""
GAP_S = (15.0, 1.6)
"""Median of the gaps within a session, and the deviation of their logarithm."""
CAMPAIGNS = 0.3
"""Deviation of the logarithm of how busy a day is: deadlines, campaigns, days of repair."""
DAYS_ALIKE = 0.5
"""How much of that a day has from the day before."""
SAME_SIZE = 0.9
"""Part of the jobs of a session that have the size of its first."""
OWN_PACE = 0.5
"""Part of the spread of run times that lies between sessions; the rest lies within them."""
LONGER_WHEN_LARGER = 0.25
"""Power of the size by which run times grow."""


@dataclass(frozen=True)
class Sessions:
    """Which session each job belongs to, and who sits there."""

    submit_s: FloatArray
    session: IntArray
    user: IntArray


def sessions(
    count: int, edges_s: FloatArray, rate: FloatArray, users: FloatArray, rng: np.random.Generator
) -> Sessions:
    """So many jobs between the first and the last edge; `rate` is that of sessions by hour.

    `users` weighs users. Days differ beyond that, each a little like the one before.
    """
    sizes = _batches(count, rng)
    hour_rate = rate * _busy_days(edges_s, rng)
    done = np.concatenate(([0.0], np.cumsum(hour_rate * np.diff(edges_s))))
    begin_s = np.interp(np.sort(rng.random(sizes.size)) * done[-1], done, edges_s)
    session = np.repeat(np.arange(sizes.size), sizes)
    gaps = GAP_S[0] * np.exp(GAP_S[1] * rng.standard_normal(count))
    first = np.diff(session, prepend=-1) > 0
    within = np.cumsum(np.where(first, 0.0, gaps))
    within -= np.maximum.accumulate(np.where(first, within, 0.0))
    submit_s = np.minimum(begin_s[session] + within, edges_s[-1] - 1.0)
    user = rng.choice(users.size, size=sizes.size, p=users / users.sum())
    order = np.argsort(submit_s, kind="stable")
    return Sessions(np.floor(submit_s[order]), session[order], user[session[order]])


def _batches(count: int, rng: np.random.Generator) -> IntArray:
    """Lengths of sessions that add up to `count`; none where there is no job."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    lengths = rng.geometric(1.0 / BATCH_MEAN, size=count)
    upto = np.cumsum(lengths)
    last = int(np.searchsorted(upto, count))
    found = lengths[: last + 1].astype(np.int64)
    found[-1] -= int(upto[last]) - count
    return found


def _busy_days(edges_s: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A factor for each hour: how busy its day is."""
    day = np.floor(edges_s[:-1] / 86400.0).astype(np.int64)
    day -= day[0]
    shocks = rng.standard_normal(int(day[-1]) + 1)
    level = np.empty_like(shocks)
    level[0] = shocks[0]
    for i in range(1, level.size):
        level[i] = DAYS_ALIKE * level[i - 1] + np.sqrt(1 - DAYS_ALIKE**2) * shocks[i]
    factor: FloatArray = np.exp(CAMPAIGNS * level)[day]
    return factor


def alike(drawn: FloatArray, session: IntArray, rng: np.random.Generator) -> FloatArray:
    """Sizes that mostly stay what the first job of their session has."""
    first = np.unique(session, return_index=True)[1]
    of_first = drawn[first][np.searchsorted(np.unique(session), session)]
    return np.where(rng.random(drawn.size) < SAME_SIZE, of_first, drawn)


def paces(procs: FloatArray, session: IntArray, spread: float,
          rng: np.random.Generator) -> FloatArray:
    """Relative run times: those of a session are alike, those of large jobs longer."""
    if session.size == 0:
        return np.empty(0)
    number = np.searchsorted(np.unique(session), session)
    between = rng.standard_normal(int(number.max()) + 1)[number]
    within = rng.standard_normal(procs.size)
    mixed = np.sqrt(OWN_PACE) * between + np.sqrt(1.0 - OWN_PACE) * within
    found: FloatArray = np.exp(spread * mixed) * (procs / procs.min()) ** LONGER_WHEN_LARGER
    return found
