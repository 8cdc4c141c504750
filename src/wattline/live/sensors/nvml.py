"""Energy and power of NVIDIA cards.

The counter of joules is the one to believe: the power is an average over the last second, late by
more than half of one, and says nothing of what happened between two readings. Cards without a
counter have only the power.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from wattline.live.devices.nvml import Card, cards_of, library
from wattline.live.sensor import Channel, Quality, Reading, missing
from wattline.live.sensors.counter import Counter

HIGHEST_W = 4000.0
"""No card draws more; a counter that rises faster has jumped."""


class Nvml:
    """Every card, or those whose numbers are the place (`0,2`)."""

    def __init__(
        self, place: str = "", clock: Callable[[], float] = time.monotonic, *,
        nvml: Any | None = None,
    ) -> None:
        self._nvml = nvml or library()
        self._clock = clock
        self._sources = [source for card in cards_of(self._nvml, str(place))
                         for source in self._of(card)]

    def channels(self) -> Sequence[Channel]:
        return [channel for channel, _ in self._sources]

    def read(self) -> Sequence[Reading]:
        return [self._reading(channel.name, ask) for channel, ask in self._sources]

    def _of(self, card: Card) -> list[tuple[Channel, Callable[[], Reading]]]:
        """The counter where the card has one, and the power."""
        nvml = self._nvml
        power, energy = f"{card.name}-power", f"{card.name}-energy"
        counter = Counter(energy, HIGHEST_W)

        def read_power() -> Reading:
            power_w = nvml.nvmlDeviceGetPowerUsage(card.handle) / 1e3
            return Reading(power, self._clock(), power_w, Quality.GOOD)

        def read_energy() -> Reading:
            now_j = nvml.nvmlDeviceGetTotalEnergyConsumption(card.handle) / 1e3
            return counter.take(self._clock(), now_j)

        found = [(Channel(power, "W", "gpu"), read_power)]
        try:
            nvml.nvmlDeviceGetTotalEnergyConsumption(card.handle)
        except nvml.NVMLError_NotSupported:
            return found
        except nvml.NVMLError:
            pass  # it has one, and cannot be read now
        return [(Channel(energy, "J", "gpu"), read_energy), *found]

    def _reading(self, channel: str, ask: Callable[[], Reading]) -> Reading:
        try:
            return ask()
        except self._nvml.NVMLError as error:
            return missing(channel, self._clock(), str(error))
