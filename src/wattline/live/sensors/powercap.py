"""Processor energy from the Linux kernel's powercap tree (RAPL and its like).

Each zone is a folder with a counter in microjoules that wraps at a stated range. It is unwrapped
here, so that joules only rise; a reset is told apart by the power that the zone can draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattline.live.devices.files import number_in, reason_of
from wattline.live.devices.zones import FOLDER, channel_name, domain_of, zones_of
from wattline.live.sensor import Channel, Reading, missing
from wattline.live.sensors.counter import Counter, CounterFile

HIGHEST_W, HIGHEST_OF_NODE_W = 1000.0, 4000.0
"""Of a zone that states no power; what is stated may be exceeded for a while, so twice that."""
LEAST_HIGHEST_W = 500.0


@dataclass(frozen=True)
class _Zone:
    """One counter and what it has shown so far."""

    folder: Path
    channel: Channel
    counter: Counter


class Powercap:
    """All zones of a powercap tree, as joules since the first reading."""

    def __init__(
        self, folder: str | Path = FOLDER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._zones = [_zone(each) for each in zones_of(Path(folder))]

    def channels(self) -> Sequence[Channel]:
        return [zone.channel for zone in self._zones]

    def read(self) -> Sequence[Reading]:
        return [self._reading(zone) for zone in self._zones]

    def counters(self) -> Mapping[str, float]:
        """Where each counter stood, for another process to `resume` from."""
        return {zone.channel.name: zone.counter.stands_at_j for zone in self._zones}

    def resume(self, counters: Mapping[str, float], passed_s: float) -> None:
        for zone in self._zones:
            if zone.channel.name in counters:
                zone.counter.resume(counters[zone.channel.name], self._clock() - passed_s)

    def files(self) -> Mapping[str, CounterFile]:
        """Where others can read the counters too."""
        return {zone.channel.name: CounterFile(zone.folder / "energy_uj", 1e-6, zone.counter)
                for zone in self._zones}

    def _reading(self, zone: _Zone) -> Reading:
        try:
            now_j = number_in(zone.folder / "energy_uj") / 1e6
        except (OSError, ValueError) as error:
            return missing(zone.channel.name, self._clock(), reason_of(error))
        return zone.counter.take(self._clock(), now_j)


def _zone(folder: Path) -> _Zone:
    channel = Channel(channel_name(folder), "J", domain_of(folder))
    range_j = number_in(folder / "max_energy_range_uj") / 1e6
    return _Zone(folder, channel, Counter(channel.name, _highest_w(folder, channel), range_j,
                                          domain=channel.domain))


def _highest_w(folder: Path, channel: Channel) -> float:
    """What the zone can draw: twice the highest power that its constraints state."""
    stated_w = 0.0
    for file in folder.glob("constraint_*_max_power_uw"):
        try:
            stated_w = max(stated_w, number_in(file) / 1e6)
        except (OSError, ValueError):
            continue  # not every constraint states one
    if stated_w > 0.0:
        return max(2 * stated_w, LEAST_HIGHEST_W)
    return HIGHEST_OF_NODE_W if channel.domain == "node" else HIGHEST_W
