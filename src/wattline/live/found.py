"""Which sensors this machine has. A new kind of sensor is named here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wattline.live.powercap import FOLDER, Powercap
from wattline.live.sensor import Quality, Reading, Sensor
from wattline.model.errors import InputError

KINDS: Mapping[str, tuple[Callable[[Path], Sensor], Path]] = {
    "powercap": (Powercap, FOLDER),
}
"""Name of a kind: how to open it, and where it is found on an ordinary machine."""


def open_sensor(kind: str, place: Path | None = None) -> Sensor:
    """Open a sensor by name, at its usual place or another."""
    if kind not in KINDS:
        raise InputError(f"there is no kind of sensor '{kind}'; there are: {', '.join(KINDS)}")
    make, usual = KINDS[kind]
    return make(place or usual)


def sensors_here() -> dict[str, Sensor]:
    """The sensors that can be opened on this machine."""
    found = {}
    for kind in KINDS:
        try:
            found[kind] = open_sensor(kind)
        except InputError:
            continue  # this machine has none of that kind
    return found


def read_sensors(
    kind: str | None = None, place: str | Path | None = None, *, seconds: float = 1.0
) -> list[dict[str, Any]]:
    """Read the sensors of this machine twice, so long apart: what it draws now, a row per channel.

    `kind` asks for one kind of sensor, `place` for where to look for it.

    >>> import wattline as wl
    >>> try:
    ...     drawn_w = [row["power_w"] for row in wl.read_sensors(seconds=0.1)]
    ... except wl.InputError as error:  # this machine has no sensor
    ...     drawn_w = []
    """
    if place is not None and kind is None:
        raise InputError("a place needs the kind of sensor to look for there")
    sensors = (sensors_here() if kind is None
               else {kind: open_sensor(kind, None if place is None else Path(place))})
    if not sensors:
        raise InputError(f"no sensor was found on this machine (looked for: {', '.join(KINDS)})")
    earlier = {name: list(sensor.read()) for name, sensor in sensors.items()}
    time.sleep(seconds)
    return [row for name, sensor in sensors.items() for row in _rows(name, sensor, earlier[name])]


def _rows(name: str, sensor: Sensor, earlier: Sequence[Reading]) -> list[dict[str, Any]]:
    rows = []
    for channel, before, now in zip(sensor.channels(), earlier, sensor.read(), strict=True):
        good = now.quality is Quality.GOOD
        power_w = now.value if good else None
        if good and channel.unit == "J":
            power_w = (now.value - before.value) / (now.time_s - before.time_s)
        rows.append({"sensor": name, "channel": channel.name, "domain": channel.domain,
                     "power_w": power_w, "quality": now.quality.value, "reason": now.reason})
    return rows
