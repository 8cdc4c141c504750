"""Power of a whole node from its management controller by Redfish."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from wattline.live.devices.http import HttpError
from wattline.live.devices.redfish import PATIENCE_S, Found, Redfish, at
from wattline.live.sensor import Channel, Quality, Reading, missing
from wattline.model.errors import InputError


class RedfishPower:
    """What a chassis says that it draws; a controller that does not answer is a gap.

    Where the power stands is looked for at the first reading that gets an answer.
    """

    def __init__(
        self, place: str, clock: Callable[[], float] = time.monotonic, *,
        timeout_s: float = PATIENCE_S,
    ) -> None:
        if not place:
            raise InputError("a Redfish service needs its place: https://user@host")
        self._clock = clock
        self._service = Redfish.at(place, timeout_s)
        self._found: Found | None = None

    def channels(self) -> Sequence[Channel]:
        return [Channel("power", "W", "node")]

    def read(self) -> Sequence[Reading]:
        try:
            power_w = self._power_w()
        except HttpError as error:
            return [missing("power", self._clock(), str(error))]
        return [Reading("power", self._clock(), power_w, Quality.GOOD)]

    def _power_w(self) -> float:
        exchange = self._service.begin()
        self._found = self._found or exchange.look("power")
        said = at(exchange.get(self._found.path).body, self._found.variant.power)
        if isinstance(said, bool) or not isinstance(said, (int, float)):
            raise HttpError("it says no power")
        if not said > 0:
            raise HttpError(f"it says {said} W, which no node draws")
        return float(said)
