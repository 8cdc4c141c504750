"""The port of a sensor: what it says of itself, and what it reads.

A sensor is any object with the two methods of `Sensor`. It describes its channels as data, once,
and returns readings that carry a quality, so that a caller never has to guess whether a number is
to be trusted. It asks no policy anything and starts no thread; whoever needs readings calls `read`.
`wattline.testing.SensorContract` holds a sensor to this.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable


class Quality(enum.Enum):
    """How far a reading is to be trusted."""

    GOOD = "good"
    FIRST = "first"
    """A rate needs two readings; there was no earlier one."""
    RESET = "reset"
    """The counter began anew or jumped: joules since the reading before are unknown and are not
    counted; the total goes on from where it stood."""
    MISSING = "missing"
    """Nothing could be read now; the value is NaN and the reason stands beside it."""


Domain = Literal["site", "rack", "node", "package", "core", "uncore", "memory", "gpu", "other"]


@dataclass(frozen=True)
class Channel:
    """One thing that a sensor measures."""

    name: str
    """Unique within the sensor, and the same at every start: it is kept in tables."""
    unit: Literal["W", "J", "Hz"]
    """Watts now, joules since the sensor was opened (they never fall), or a frequency now."""
    domain: Domain
    """What part of the machine the figure is of. A package includes its core and uncore."""


@dataclass(frozen=True)
class Reading:
    """What one channel said at one time."""

    channel: str
    time_s: float
    """On the clock that was given to the sensor."""
    value: float
    quality: Quality
    reason: str = ""
    """Why it is missing, or what happened to the counter."""


def missing(channel: str, time_s: float, reason: str) -> Reading:
    """A gap, with the reason in one line."""
    said = " ".join(reason.split())
    return Reading(channel, time_s, math.nan, Quality.MISSING, said or "it gave no reason")


@runtime_checkable
class Sensor(Protocol):
    """What measures."""

    def channels(self) -> Sequence[Channel]:
        """What it measures; the same at every call."""
        ...

    def read(self) -> Sequence[Reading]:
        """One reading for each channel, in the same order; it never raises for a device."""
        ...
