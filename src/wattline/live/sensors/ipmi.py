"""Power of a whole node from its management controller, by `ipmitool dcmi power reading`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from wattline.live.devices.ipmitool import PATIENCE_S, IpmiError, Ipmitool, watts_of
from wattline.live.sensor import Channel, Quality, Reading, missing

READING = "instantaneous power reading"


class Ipmi:
    """What DCMI says that the node draws; a controller that does not answer is a gap."""

    def __init__(
        self, place: str = "", clock: Callable[[], float] = time.monotonic, *,
        timeout_s: float = PATIENCE_S,
    ) -> None:
        self._clock = clock
        self._tool = Ipmitool.at(place, timeout_s)

    def channels(self) -> Sequence[Channel]:
        return [Channel("power", "W", "node")]

    def read(self) -> Sequence[Reading]:
        try:
            said = self._tool.ask("dcmi", "power", "reading")
            power_w = watts_of(said, READING)
        except IpmiError as error:
            return [missing("power", self._clock(), str(error))]
        if said.get("power reading state is") != "activated":
            return [missing("power", self._clock(), "its power measurement is not activated")]
        if power_w == 0.0:
            return [missing("power", self._clock(), "it says 0 W, which no node draws")]
        return [Reading("power", self._clock(), power_w, Quality.GOOD)]
