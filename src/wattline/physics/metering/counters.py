"""Energy counters: joules since some beginning, which wrap around, are reset, and jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.physics.metering.stretches import Stretches

TOLERANCE = 0.05
"""By so much may a counter outrun the highest power: times and powers are not exact."""

UPDATE_S = 1.0
"""Counters are brought up to date now and then: a rise may hold joules of so much time before."""


@dataclass(frozen=True)
class SeenOfCounter:
    """What a counter was seen to do, beside the stretches that it gives."""

    wraps: int
    resets: int
    impossible: int
    """Jumps that no hardware could have drawn, or that may be more than they seem."""
    unsure: int = 0
    """Of them those in which the counter may have gone round once more than can be seen."""


def from_counter(
    time_s: npt.ArrayLike, energy_j: npt.ArrayLike, *, highest_w: float,
    range_j: float | None = None, update_s: float = UPDATE_S,
) -> tuple[Stretches, SeenOfCounter]:
    """The stretches between readings of a counter, in the order in which they were taken.

    `highest_w` is the most that the device can draw. A counter that fell has wrapped around where
    it has a range and the joules up to its end are possible in that time; otherwise it was reset.
    What was drawn around a reset is a gap, as is what no hardware could draw, and a stretch in
    which the counter may have gone round once more than can be seen.
    """
    times, joules = np.asarray(time_s, dtype=np.float64), np.asarray(energy_j, dtype=np.float64)
    if times.size != joules.size or times.size < 2 or not (np.diff(times) > 0).all():
        raise InputError("a counter needs two readings at least, at rising times")
    if not highest_w > 0 or (range_j is not None and not range_j > 0):
        raise InputError("a counter needs the highest power of its device, above 0 W, and a range "
                         "above 0 J where it has one")
    lasts_s, rise_j = np.diff(times), np.diff(joules)
    possible_j = highest_w * (1 + TOLERANCE) * (lasts_s + update_s)
    round_j = np.inf if range_j is None else range_j
    fell = rise_j < 0
    wrapped = fell & (rise_j + round_j <= possible_j)
    drawn_j = np.where(wrapped, rise_j + round_j, rise_j)
    reset = fell & ~wrapped & (joules[1:] <= possible_j)
    jumps = (drawn_j < 0) | (drawn_j > possible_j)
    unsure = ~reset & ~jumps & (drawn_j + round_j <= possible_j)
    impossible = (~reset & jumps) | unsure
    drawn_j = np.where(reset | impossible, np.nan, drawn_j)
    found = Stretches.measured(times, drawn_j / lasts_s)
    return found, SeenOfCounter(int((wrapped & ~impossible).sum()), int(reset.sum()),
                                int(impossible.sum()), int(unsure.sum()))
