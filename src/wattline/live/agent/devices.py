"""What each device draws that an agent may cap: rates of its counter, or its power."""

from __future__ import annotations

from collections.abc import Sequence

from wattline.live.sensor import Channel, Quality, Reading, Sensor

SHORTEST_S = 0.5
"""Counters move in steps: over a shorter time they give no power worth the name."""


class DevicePowers:
    """Powers by the names of knobs, whose channels are called like them."""

    def __init__(self, sensor: Sensor, knobs: Sequence[str]) -> None:
        self._sensor = sensor
        self._knob = {channel.name: (knob, channel) for knob in knobs
                      for channel in _channels(sensor, knob)[:1]}
        self._before: dict[str, Reading] = {}
        self.powers_w: dict[str, float] = {}
        """As last read; a device that gave no answer has none."""

    def read(self) -> dict[str, float]:
        """What devices drew since the last time that was long enough ago."""
        for reading in self._sensor.read():
            if reading.channel in self._knob:
                knob, channel = self._knob[reading.channel]
                self._take(knob, channel, reading)
        return self.powers_w

    def _take(self, knob: str, channel: Channel, reading: Reading) -> None:
        before = self._before.get(knob)
        if reading.quality in (Quality.MISSING, Quality.RESET):
            self._before.pop(knob, None)
            self.powers_w.pop(knob, None)
        elif channel.unit == "W":
            self.powers_w[knob] = reading.value
        elif before is None:
            self._before[knob] = reading
        elif reading.time_s - before.time_s >= SHORTEST_S:
            self.powers_w[knob] = ((reading.value - before.value)
                                   / (reading.time_s - before.time_s))
            self._before[knob] = reading


def _channels(sensor: Sensor, knob: str) -> list[Channel]:
    """The channel of a knob, counters first: that of its name, or of its name and what it is."""
    names = (knob, f"{knob}-energy", f"{knob}-power")
    found = [channel for channel in sensor.channels() if channel.name in names]
    return sorted(found, key=lambda channel: channel.unit != "J")
