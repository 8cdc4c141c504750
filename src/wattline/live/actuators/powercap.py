"""Power limits of processors by the Linux kernel's powercap tree: the long-term constraint.

Short peaks above it, within the constraint's time window, are what the hardware allows.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

from wattline.live.actuator import Knob
from wattline.live.actuators.settable import KnobSetting, Settable
from wattline.live.devices.files import number_in, text_in, write_number
from wattline.live.devices.zones import FOLDER, channel_name, domain_of, zones_of
from wattline.model.errors import InputError

LIMITED: dict[str, Literal["node", "package", "memory"]] = {
    "node": "node", "package": "package", "memory": "memory"}
LEAST_W = 1.0
"""Where a zone states no least power."""


class PowercapLimit(Settable):
    """A knob per package, memory and whole board that can be limited."""

    def __init__(self, folder: str | Path = FOLDER) -> None:
        found = [_setting(zone, limit) for zone in zones_of(Path(folder))
                 if domain_of(zone) in LIMITED and (limit := _long_term(zone))]
        if not found:
            raise InputError(f"{folder} has no zone with a long-term power limit")
        super().__init__(found)


def _long_term(zone: Path) -> str:
    """The beginning of the names of the constraint's files; empty where there is none."""
    for file in sorted(zone.glob("constraint_*_name")):
        if text_in(file) == "long_term":
            return file.name.removesuffix("name")
    return ""


def _setting(zone: Path, constraint: str) -> KnobSetting:
    limit, enabled = zone / f"{constraint}power_limit_uw", zone / "enabled"
    low_w, high_w = (_stated(zone / f"{constraint}{bound}_power_uw") for bound in ("min", "max"))

    def is_on() -> bool:
        return not enabled.exists() or number_in(enabled) != 0

    def write(value_w: float) -> None:
        write_number(limit, 1e6 * value_w)
        if not is_on():
            write_number(enabled, 1)

    def put_back(found: tuple[float, bool]) -> None:
        limit_uw, was_on = found
        write_number(limit, limit_uw)
        if not was_on:
            write_number(enabled, 0)

    knob = Knob(channel_name(zone), "W", LIMITED[domain_of(zone)], low_w or LEAST_W,
                high_w or math.inf)
    return KnobSetting(knob, lambda: number_in(limit) / 1e6 if is_on() else math.inf, write,
                   lambda: (number_in(limit), is_on()), put_back, rounding=0.5)


def _stated(file: Path) -> float:
    """0 where nothing is stated, as the kernel says it too."""
    try:
        return number_in(file) / 1e6
    except (OSError, ValueError):
        return 0.0
