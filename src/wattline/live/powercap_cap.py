"""Caps through the Linux kernel's powercap tree: the long-term limit of each zone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wattline.live.actuator import Actuator, Held, Knob
from wattline.live.powercap import FOLDER
from wattline.model.errors import InputError

_DOMAINS: Mapping[str, Literal["node", "package", "memory"]] = {
    "psys": "node", "package": "package", "dram": "memory",
}
LONG_TERM = "long_term"


@dataclass(frozen=True)
class _Zone:
    """One limit of one zone."""

    knob: Knob
    limit: Path
    enabled: Path

    def read_w(self) -> float:
        return float(self.limit.read_text(encoding="ascii")) / 1e6


class PowercapCap:
    """All zones of a powercap tree that have a long-term limit."""

    def __init__(self, folder: Path = FOLDER) -> None:
        zones = [zone for each in sorted(folder.glob("*")) if (zone := _zone(each)) is not None]
        if not zones:
            raise InputError(f"{folder} has no powercap zone with a long-term limit")
        self._zones = {zone.knob.name: zone for zone in zones}
        self._found: dict[str, float] = {}

    def knobs(self) -> Sequence[Knob]:
        return [zone.knob for zone in self._zones.values()]

    def held(self) -> Sequence[Held]:
        return [self._held(zone) for zone in self._zones.values()]

    def found(self) -> Mapping[str, float]:
        return dict(self._found)

    def remember(self, found: Mapping[str, float]) -> None:
        self._found = {name: value for name, value in found.items() if name in self._zones}

    def apply(self, knob: str, value: float) -> Held:
        zone = self._zones.get(knob)
        if zone is None:
            return Held(knob, math.nan, False, f"there is no knob {knob}")
        if not zone.knob.low <= value <= zone.knob.high:
            return self._held(zone, f"{value:g} W is outside of {zone.knob.low:g} to "
                                    f"{zone.knob.high:g} W")
        before = self._held(zone)
        if not before.ok:
            return before
        if zone.enabled.exists() and zone.enabled.read_text(encoding="ascii").strip() == "0":
            return self._held(zone, "limits of this zone are switched off (enabled is 0)")
        self._found.setdefault(knob, before.value)
        return self._set(zone, value)

    def restore(self) -> Sequence[Held]:
        done = [self._set(self._zones[name], value) for name, value in self._found.items()]
        self._found = {held.knob: self._found[held.knob] for held in done if not held.ok}
        return done

    def _set(self, zone: _Zone, value_w: float) -> Held:
        try:
            zone.limit.write_text(f"{round(value_w * 1e6)}\n", encoding="ascii")
        except OSError as error:
            return self._held(zone, error.strerror or str(error))
        held = self._held(zone)
        # Hardware rounds to steps of a fraction of a watt.
        if held.ok and abs(held.value - value_w) > 1.0:
            return self._held(zone, f"{value_w:g} W was asked for, {held.value:g} W holds")
        return held

    def _held(self, zone: _Zone, reason: str = "") -> Held:
        try:
            return Held(zone.knob.name, zone.read_w(), not reason, reason)
        except (OSError, ValueError) as error:
            return Held(zone.knob.name, math.nan, False, reason or str(error))


def open_actuator(kind: str, place: Path | None = None) -> Actuator:
    """Open what sets limits, by name, at its usual place or another."""
    if kind != "powercap":
        raise InputError(f"there is no kind of actuator '{kind}'; there are: powercap")
    return PowercapCap(place or FOLDER)


def _zone(folder: Path) -> _Zone | None:
    """The zone of a folder such as `intel-rapl:0`, named as the sensor names it."""
    constraint = next((file for file in sorted(folder.glob("constraint_*_name"))
                       if file.read_text(encoding="ascii").strip() == LONG_TERM), None)
    if constraint is None or not (folder / "name").exists():
        return None
    name = (folder / "name").read_text(encoding="ascii").strip()
    domain = _DOMAINS.get(name.split("-")[0])
    if domain is None:
        return None
    number = "-".join(folder.name.replace("_COLON_", ":").split(":")[1:])
    begin = constraint.name.removesuffix("_name")
    high_w = _watts(folder / f"{begin}_max_power_uw")
    knob = Knob(f"{name}@{number}" if number else name, "W", domain,
                _watts(folder / f"{begin}_min_power_uw"), high_w if high_w > 0 else math.inf)
    return _Zone(knob, folder / f"{begin}_power_limit_uw", folder / "enabled")


def _watts(file: Path) -> float:
    """What a file says; 0 where the kernel has none or does not know."""
    try:
        return float(file.read_text(encoding="ascii")) / 1e6
    except (OSError, ValueError):
        return 0.0
