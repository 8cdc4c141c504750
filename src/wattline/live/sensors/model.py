"""Power of a node that has no meter of its own, from its parts by a fitted model.

The place is the file that `wattline sensors fit --out` wrote; it names the sensors of the parts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from wattline.live.fitting import read_model
from wattline.live.sensor import Channel, Quality, Reading, Sensor, missing
from wattline.model.errors import InputError


class Modelled:
    """Watts of the node; a gap where a part is one, or beyond what the fit has seen."""

    def __init__(
        self, place: str, clock: Callable[[], float] = time.monotonic, *,
        sensors: dict[str, Sensor] | None = None,
    ) -> None:
        if not place:
            raise InputError("a model needs its place: the file that `wattline sensors fit` wrote")
        self._clock = clock
        self._model = read_model(Path(place))
        names = {part.rpartition(" ")[0] for part in self._model.parts}
        self._sensors = sensors if sensors is not None else _opened(sorted(names))
        self._units = {f"{name} {channel.name}": channel.unit
                       for name, sensor in self._sensors.items() for channel in sensor.channels()}
        absent = [part for part in self._model.parts if part not in self._units]
        if absent:
            raise InputError(f"{place} needs '{absent[0]}', which no sensor here has")
        self._before: dict[str, Reading] = {}

    def channels(self) -> Sequence[Channel]:
        return [Channel("power", "W", "node")]

    def read(self) -> Sequence[Reading]:
        now = {f"{name} {reading.channel}": reading
               for name, sensor in self._sensors.items() for reading in sensor.read()}
        before, self._before = self._before, now
        parts_w: dict[str, float] = {}
        for part in self._model.parts:
            power_w, reason = self._power(part, before.get(part), now[part])
            if reason:
                return [missing("power", self._clock(), f"{part}: {reason}")]
            parts_w[part] = power_w
        power_w = self._model.power_w(parts_w)
        if math.isnan(power_w):
            said = ", ".join(f"{part} {watts:.0f} W" for part, watts in parts_w.items())
            return [missing("power", self._clock(), f"beyond what the fit has seen: {said}")]
        return [Reading("power", self._clock(), max(power_w, 0.0), Quality.GOOD)]

    def _power(self, part: str, before: Reading | None, now: Reading) -> tuple[float, str]:
        """Watts of a part, or why there are none."""
        if now.quality in (Quality.MISSING, Quality.RESET):
            return math.nan, now.reason
        if self._units[part] != "J":
            return now.value, ""
        if before is None or before.quality is Quality.MISSING or now.time_s <= before.time_s:
            return math.nan, "a power needs two readings of a counter"
        return (now.value - before.value) / (now.time_s - before.time_s), ""


def _opened(names: Sequence[str]) -> dict[str, Sensor]:
    from wattline.live.comparing import opened

    return opened(names, None)[0]
