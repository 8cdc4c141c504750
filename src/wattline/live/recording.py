"""Sensors read side by side for a while, with what reading them cost."""

from __future__ import annotations

import itertools
import math
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from wattline.live.sensor import Channel, Quality, Reading, Sensor

UNEVEN, GOLDEN = 0.5, (math.sqrt(5) - 1) / 2
"""Readings come up to half a step late, spread evenly: in step with a load that goes on and off,
they would always see the same of it."""


@dataclass
class Track:
    """What one channel said, reading by reading."""

    sensor: str
    channel: Channel
    time_s: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    broken: list[bool] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    """Why readings are missing or do not follow on those before, and how often."""

    def add(self, reading: Reading) -> None:
        if self.time_s and reading.time_s <= self.time_s[-1]:
            return  # its clock stood still: nothing new
        self.time_s.append(reading.time_s)
        self.value.append(reading.value)
        self.broken.append(reading.quality is Quality.RESET)
        if reading.reason:
            self.reasons[reading.reason] = self.reasons.get(reading.reason, 0) + 1

    @property
    def missing(self) -> int:
        return sum(math.isnan(value) for value in self.value)


@dataclass
class Cost:
    """What reading a sensor took, programs that it started included."""

    reads: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0


@dataclass(frozen=True)
class Recording:
    """All channels that measure power, and the cost of each sensor."""

    tracks: list[Track]
    costs: dict[str, Cost]
    seconds: float
    """How long it took in the end."""


def record(
    sensors: Mapping[str, Sensor], seconds: float, every_s: float, *,
    clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
) -> Recording:
    """Read every sensor each `every_s` seconds or so; a slow one delays the next reading of all."""
    tracks = {name: [Track(name, channel) for channel in sensor.channels()]
              for name, sensor in sensors.items()}
    costs = {name: Cost() for name in sensors}
    begin_s = next_s = clock()
    for number in itertools.count(1):
        if next_s > begin_s + seconds:
            break
        for name, sensor in sensors.items():
            for track, reading in zip(tracks[name], _read(sensor, costs[name]), strict=True):
                track.add(reading)
        next_s = max(begin_s + every_s * (number + UNEVEN * (number * GOLDEN % 1.0)), clock())
        sleep(max(next_s - clock(), 0.0))
    kept = [track for each in tracks.values() for track in each if track.channel.unit != "Hz"]
    return Recording(kept, costs, clock() - begin_s)


def _read(sensor: Sensor, cost: Cost) -> list[Reading]:
    cpu_s, wall_s = _cpu_s(), time.perf_counter()
    readings = list(sensor.read())
    cost.reads += 1
    cost.cpu_s += _cpu_s() - cpu_s
    cost.wall_s += time.perf_counter() - wall_s
    return readings


def _cpu_s() -> float:
    """Processor time of this process and of programs that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
