"""The power and the joules of a node, from the channels of a sensor.

Joules come from counters where there are any: then nothing is lost between two readings, however
far apart. They go on over a restart of the agent, where the sensor can say where its counters
stood.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from wattline.live.sensor import Channel, Quality, Reading, Sensor
from wattline.live.sensors.counter import CounterFile
from wattline.model.errors import InputError

SHORTEST_S = 0.5
"""Counters move in steps: over a shorter time they give no power worth the name."""
SLOWER = 0.5
"""A clock that was set back goes so much slower until the time is reached again."""
READ_AT_ONCE_S = 0.5
"""A mark without counters that is older says when something was, and not what was drawn by then."""
TIMES_KEPT = 100
"""Of readings: a mark comes seconds late at most, unless no agent was there to read."""
LONGEST_PAUSE_S = 300.0
"""A counter that was not read for longer may have gone round more than once."""


@runtime_checkable
class Resumes(Protocol):
    """A sensor whose counters can be read on by another process."""

    def counters(self) -> Mapping[str, float]:
        """Where each counter stood at the last reading, by channel."""
        ...

    def resume(self, counters: Mapping[str, float], passed_s: float) -> None:
        """Count the first reading from there, which was so long ago."""
        ...


@runtime_checkable
class Counted(Protocol):
    """A sensor whose counters others can read too, from files."""

    def files(self) -> Mapping[str, CounterFile]:
        """By channel."""
        ...


@dataclass(frozen=True)
class Measured:
    """What a node drew at one time."""

    time_s: float
    power_w: float
    energy_j: float
    quality: Quality
    reason: str = ""


class Meter:
    """Adds up those channels of a sensor that are the node."""

    def __init__(
        self, sensor: Sensor, names: Sequence[str] = (), clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sensor, self._clock, self._steady = sensor, clock, steady
        self._told: deque[tuple[float, float]] = deque(maxlen=TIMES_KEPT)
        """When readings were by the clock that nobody sets, and the times that were told of them;
        the last one is the latest."""
        self.channels = _chosen(sensor.channels(), names)
        self._energy_j = 0.0
        self._last: dict[str, Reading] = {}
        self._base: tuple[float, float] | None = None
        """Time and joules that the next power is counted from."""
        self._power_w = math.nan
        self._begins = "the meter was read for the first time"

    def resume(self, noted: Mapping[str, Any], boot: str) -> None:
        """Go on where an earlier process stopped, as far as that can be known."""
        if not noted:
            return
        self._energy_j = float(noted["energy_j"])
        same_boot = noted["boot"] == boot and "steady_s" in noted
        if same_boot:
            self._told.append((float(noted["steady_s"]), float(noted["time_s"])))
        pause_s = (self._steady() - float(noted["steady_s"]) if same_boot
                   else self._clock() - float(noted["time_s"]))
        if (isinstance(self._sensor, Resumes) and noted["boot"] == boot
                and 0 <= pause_s < LONGEST_PAUSE_S):
            self._sensor.resume(noted["counters"], pause_s)
            self._begins = ""
        else:
            self._begins = "joules since the agent's last reading are not counted"

    def note(self, boot: str) -> dict[str, Any]:
        """What `resume` needs."""
        counters = self._sensor.counters() if isinstance(self._sensor, Resumes) else {}
        steady_s, time_s = self._told[-1] if self._told else (self._steady(), self._clock())
        return {"energy_j": self._energy_j, "time_s": time_s, "steady_s": steady_s, "boot": boot,
                "counters": {name: value for name, value in counters.items()
                             if not math.isnan(value)}}

    def read(self) -> Measured:
        readings = {each.channel: each for each in self._sensor.read()}
        now_s = self._time_s()
        chosen = [readings[channel.name] for channel in self.channels]
        for channel, reading in zip(self.channels, chosen, strict=True):
            self._energy_j += self._passed_j(channel, reading)
        missing = next((each for each in chosen if each.quality is Quality.MISSING), None)
        if missing is not None:
            self._base = None
            return Measured(now_s, math.nan, self._energy_j, Quality.MISSING,
                            f"{missing.channel}: {missing.reason}")
        return self._power(now_s, chosen)

    def counter_files(self) -> list[Path]:
        """Files that show all that the node draws, for whoever marks a moment; else none."""
        return [file.path for file in self._files()]

    def read_at(self, steady_s: float, shown: Sequence[float]) -> Measured:
        """What the node had drawn at a time before, when its files showed this."""
        begins, now, files = bool(self._begins), self.read(), self._files()
        passed_s = max(self._told[-1][0] - steady_s, 0.0)
        readable = files and len(files) == len(shown)
        if not readable and passed_s <= READ_AT_ONCE_S:
            return now
        known = readable and not begins and now.quality in (Quality.GOOD, Quality.FIRST)
        since_j = sum(file.since(each, passed_s) for file, each in zip(files, shown, strict=True)
                      ) if known else math.nan
        time_s = self._time_at(steady_s)
        if math.isnan(since_j):
            return Measured(time_s, math.nan, now.energy_j, Quality.MISSING,
                            "what was drawn until a mark is not known")
        return replace(now, time_s=time_s, energy_j=now.energy_j - since_j)

    def _files(self) -> list[CounterFile]:
        found = self._sensor.files() if isinstance(self._sensor, Counted) else {}
        names = [channel.name for channel in self.channels]
        return [found[name] for name in names] if all(name in found for name in names) else []

    def _time_s(self) -> float:
        """The time of day, which never goes back: joules in front of others would be lost."""
        now_s, steady_s = self._clock(), self._steady()
        if self._told:
            before_s, told_s = self._told[-1]
            now_s = max(now_s, told_s + SLOWER * max(steady_s - before_s, 0.0))
        self._told.append((steady_s, now_s))
        return now_s

    def _time_at(self, steady_s: float) -> float:
        """The time to tell of a moment before: between those of the readings around it, whatever
        the clock did meanwhile, so that joules stay in their order."""
        times = list(self._told)
        at = bisect_left(times, (steady_s, -math.inf))
        if at == len(times):
            return times[-1][1]
        after_s, told_after_s = times[at]
        if at == 0:
            return told_after_s - (after_s - steady_s)
        before_s, told_s = times[at - 1]
        return told_s + (told_after_s - told_s) * (steady_s - before_s) / (after_s - before_s)

    def _power(self, now_s: float, chosen: Sequence[Reading]) -> Measured:
        if self.channels[0].unit == "W":
            self._power_w = sum(each.value for each in chosen)
        elif self._base is None:
            self._power_w, self._base = math.nan, (chosen[0].time_s, self._energy_j)
        elif ((passed_s := chosen[0].time_s - self._base[0]) >= SHORTEST_S
              and self._energy_j > self._base[1]):  # else it has not been brought up to date yet
            self._power_w = (self._energy_j - self._base[1]) / passed_s
            self._base = (chosen[0].time_s, self._energy_j)
        first, self._begins = self._begins, ""
        quality = Quality.FIRST if first or math.isnan(self._power_w) else Quality.GOOD
        reset = next((each for each in chosen if each.quality is Quality.RESET), None)
        if reset is not None:
            # What was drawn since the last reading is unknown, and so is the power.
            self._power_w, quality, first = math.nan, Quality.RESET, reset.reason
        return Measured(now_s, self._power_w, self._energy_j, quality, first)

    def _passed_j(self, channel: Channel, reading: Reading) -> float:
        """Joules of one channel since it was read last."""
        if reading.quality is Quality.MISSING:
            if channel.unit == "W":
                self._last.pop(channel.name, None)  # what nobody measured is not made up
            return 0.0
        last = self._last.get(channel.name)
        self._last[channel.name] = reading
        if channel.unit == "J":
            return reading.value - (last.value if last is not None else 0.0)
        if last is None:
            return 0.0
        return (reading.value + last.value) / 2 * (reading.time_s - last.time_s)


def _chosen(channels: Sequence[Channel], names: Sequence[str]) -> list[Channel]:
    """Those named; else the whole node, else its packages and memory, joules before watts."""
    by_name = {channel.name: channel for channel in channels}
    for name in names:
        if name not in by_name:
            raise InputError(f"the sensor has no channel '{name}'; it has: {', '.join(by_name)}")
    chosen = [by_name[name] for name in names]
    for domains in (("node",), ("package", "memory")):
        for unit in ("J", "W"):
            chosen = chosen or [each for each in channels
                                if each.domain in domains and each.unit == unit]
    if not chosen:
        raise InputError("the sensor has no channel of a node or of packages; name those that are "
                         "to be added up (sensor.channels)")
    if len({channel.unit for channel in chosen}) > 1:
        raise InputError("channels in watts and in joules cannot be added up (sensor.channels)")
    # Several boards that each give the whole node would count it twice.
    return chosen[:1] if not names and chosen[0].domain == "node" else chosen
