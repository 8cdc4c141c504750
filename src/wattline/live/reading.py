"""What the machine draws now: its sensors read twice, and the meter to believe."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.live.choice import NodeChannels, choose
from wattline.live.found import KINDS, open_sensor, sensors_here
from wattline.live.sensor import Channel, Quality, Reading, Sensor, missing
from wattline.live.sensors.counter import NEVER_STILL
from wattline.model.errors import InputError


@dataclass(frozen=True)
class Looked:
    """What was read, and what is to be known of it."""

    rows: list[dict[str, Any]]
    """One per channel; `chosen` says which together are the node's power."""
    choice: NodeChannels | None
    absent: dict[str, str] = field(default_factory=dict)
    """Kinds that cannot be read on this machine, and why."""

    @property
    def node_w(self) -> float | None:
        """The node's power by the chosen channels; None where there are none."""
        chosen = [row["power_w"] for row in self.rows if row["chosen"]]
        return sum(chosen) if chosen else None

    def to_dict(self) -> dict[str, Any]:
        return {"sensors": self.rows, "node_w": self.node_w,
                "whole_node": None if self.choice is None else self.choice.whole,
                "chosen": None if self.choice is None else self.choice.why, "absent": self.absent}


def read_sensors(
    kind: str | None = None, place: str | Path | None = None, *, seconds: float = 1.0
) -> list[dict[str, Any]]:
    """Read the sensors of this machine twice, so long apart: what it draws now, a row per channel.

    `kind` asks for one kind of sensor, `place` for where to look for it. Rows that are `chosen` are
    together the node's power; all others show parts of it, or the same once more.

    >>> import wattline as wl
    >>> try:
    ...     drawn_w = [row["power_w"] for row in wl.read_sensors(seconds=0.1)]
    ... except wl.InputError as error:  # this machine has no sensor
    ...     drawn_w = []
    """
    return look(kind, place, seconds=seconds).rows


def look(
    kind: str | None = None, place: str | Path | None = None, *, seconds: float = 1.0
) -> Looked:
    """The same, with the choice and what is not there."""
    if not 0.0 <= seconds < math.inf:
        raise InputError(f"seconds is {seconds:g}, must be a time that can be waited for")
    if place is not None and kind is None:
        raise InputError("a place needs the kind of sensor to look for there")
    sensors, absent = sensors_here() if kind is None else ({kind: open_sensor(kind, place)}, {})
    if not sensors:
        raise InputError(f"no sensor was found on this machine (looked for: {', '.join(KINDS)})")
    rows = _rows(sensors, seconds)
    choice = choose({name: [channel for channel, row in zip(sensor.channels(), _of(rows, name),
                                                            strict=True)
                            if row["power_w"] is not None]
                     for name, sensor in sensors.items()})
    for row in rows:
        row["chosen"] = choice is not None and (row["sensor"], row["channel"]) in choice.channels
    return Looked(rows, choice, absent)


def _rows(sensors: Mapping[str, Sensor], seconds: float) -> list[dict[str, Any]]:
    """Two readings of each sensor as a row per channel."""
    earlier = {name: list(sensor.read()) for name, sensor in sensors.items()}
    time.sleep(seconds)
    return [{"sensor": name, "channel": channel.name, "domain": channel.domain, "power_w": None,
             **_shown(channel, before, now), "quality": now.quality.value, "reason": now.reason}
            for name, sensor in sensors.items()
            for channel, before, now in zip(sensor.channels(), earlier[name],
                                            _later(sensor, earlier[name], seconds), strict=True)]


def _later(sensor: Sensor, before: Sequence[Reading], seconds: float) -> list[Reading]:
    """The second readings; a counter that did not move in so short a time says nothing."""
    return [missing(now.channel, now.time_s, f"the counter did not move in {seconds:g} s: read it "
                                             "for longer")
            if channel.unit == "J" and channel.domain in NEVER_STILL and now.value == first.value
            and now.quality is Quality.GOOD else now
            for channel, first, now in zip(sensor.channels(), before, sensor.read(), strict=True)]


def _of(rows: list[dict[str, Any]], sensor: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["sensor"] == sensor]


def _shown(channel: Channel, before: Reading, now: Reading) -> dict[str, float]:
    """The figure of a channel; none where it could not be read."""
    if now.quality is not Quality.GOOD:
        return {}
    if channel.unit == "J":
        return {"power_w": (now.value - before.value) / (now.time_s - before.time_s)}
    return {"power_w" if channel.unit == "W" else "frequency_hz": now.value}
