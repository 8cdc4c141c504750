"""Processor energy from the Linux kernel's powercap tree (RAPL and its like).

Each zone is a folder with a counter in microjoules that wraps at a stated range. The counter is
unwrapped here, so that joules only rise. More than one wrap between two readings cannot be seen: at
200 W a range of 262 kJ lasts 22 minutes, so read more often than that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wattline.live.sensor import Channel, Quality, Reading
from wattline.model.errors import InputError

FOLDER = Path("/sys/class/powercap")

Domain = Literal["node", "package", "core", "uncore", "memory", "other"]
_DOMAINS: dict[str, Domain] = {
    "psys": "node", "package": "package", "core": "core", "uncore": "uncore", "dram": "memory",
}


@dataclass
class _Zone:
    """One counter and what it has shown so far."""

    folder: Path
    channel: Channel
    range_j: float
    last_j: float = math.nan
    total_j: float = 0.0

    def read_j(self) -> float:
        """Joules since the first reading."""
        now_j = _number(self.folder / "energy_uj") / 1e6
        if not math.isnan(self.last_j):
            passed_j = now_j - self.last_j
            self.total_j += passed_j if passed_j >= 0 else passed_j + self.range_j
        self.last_j = now_j
        return self.total_j


class Powercap:
    """All zones of a powercap tree, as joules since the first reading."""

    def __init__(self, folder: Path = FOLDER, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._zones = [_zone(each) for each in sorted(folder.glob("*")) if _is_zone(each)]
        if not self._zones:
            raise InputError(f"{folder} has no powercap zones (folders with name and energy_uj)")

    def channels(self) -> Sequence[Channel]:
        return [zone.channel for zone in self._zones]

    def read(self) -> Sequence[Reading]:
        return [self._reading(zone) for zone in self._zones]

    def counters(self) -> Mapping[str, float]:
        """Where each counter stood, for another process to `resume` from."""
        return {zone.channel.name: zone.last_j for zone in self._zones}

    def resume(self, counters: Mapping[str, float]) -> None:
        for zone in self._zones:
            zone.last_j = counters.get(zone.channel.name, zone.last_j)

    def _reading(self, zone: _Zone) -> Reading:
        first = math.isnan(zone.last_j)
        try:
            value_j = zone.read_j()
        except (OSError, ValueError) as error:
            reason = "only root may read it" if isinstance(error, PermissionError) else str(error)
            return Reading(zone.channel.name, self._clock(), math.nan, Quality.MISSING, reason)
        quality = Quality.FIRST if first else Quality.GOOD
        return Reading(zone.channel.name, self._clock(), value_j, quality)


def _is_zone(folder: Path) -> bool:
    return (folder / "energy_uj").exists() and (folder / "name").exists()


def _zone(folder: Path) -> _Zone:
    """The zone of a folder such as `intel-rapl:0:1`; its number keeps equal names apart."""
    name = (folder / "name").read_text(encoding="ascii").strip()
    number = "-".join(folder.name.replace("_COLON_", ":").split(":")[1:])
    kind = name.split("-")[0]
    channel = Channel(f"{name}@{number}" if number else name, "J", _DOMAINS.get(kind, "other"))
    return _Zone(folder, channel, _number(folder / "max_energy_range_uj") / 1e6)


def _number(file: Path) -> float:
    return float(file.read_text(encoding="ascii"))
