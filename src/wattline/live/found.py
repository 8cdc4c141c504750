"""Which sensors and actuators there are, as data. A new kind is named here.

`open_sensor` and `open_actuator` are the two ways in: a kind and a place, both text.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.live.actuator import Actuator
from wattline.live.sensor import Sensor
from wattline.model.errors import InputError


@dataclass(frozen=True)
class Kind:
    """A kind of device: what opens it, and where it is found on an ordinary machine."""

    maker: str
    """`module:Class`, imported when it is asked for: an agent pays for what it uses."""
    place: str
    """Empty where there is only one, or where it must be said."""
    waits: bool = False
    """Whether it may have to wait for an answer, and so takes a time limit."""


KINDS: Mapping[str, Kind] = {
    "pm_counters": Kind("wattline.live.sensors.pm_counters:PmCounters", "/sys/cray/pm_counters"),
    "powercap": Kind("wattline.live.sensors.powercap:Powercap", "/sys/class/powercap"),
    "redfish": Kind("wattline.live.sensors.redfish:RedfishPower", "", waits=True),
    "ipmi": Kind("wattline.live.sensors.ipmi:Ipmi", "", waits=True),
    "slurm": Kind("wattline.live.sensors.slurm:SlurmWatts", "", waits=True),
    "model": Kind("wattline.live.sensors.model:Modelled", ""),
    "nvml": Kind("wattline.live.sensors.nvml:Nvml", ""),
    "cpufreq": Kind("wattline.live.sensors.cpufreq:Cpufreq", "/sys/devices/system/cpu/cpufreq"),
}
"""Sensors, in the order in which they are believed where they measure the same."""


ACTUATORS: Mapping[str, Kind] = {
    "powercap": Kind("wattline.live.actuators.powercap:PowercapLimit", "/sys/class/powercap"),
    "redfish": Kind("wattline.live.actuators.redfish:RedfishLimit", "", waits=True),
    "ipmi": Kind("wattline.live.actuators.ipmi:IpmiLimit", "", waits=True),
    "nvml": Kind("wattline.live.actuators.nvml:NvmlLimit", ""),
    "cpufreq": Kind("wattline.live.actuators.cpufreq:CpufreqLimit",
                    "/sys/devices/system/cpu/cpufreq"),
}


def open_sensor(
    kind: str, place: str | Path | None = None, *, timeout_s: float | None = None
) -> Sensor:
    """Open a sensor by name, at its usual place or another.

    `timeout_s` is how long a reading may take where an answer must be waited for.
    """
    sensor: Sensor = _opened("sensor", KINDS, kind, place, timeout_s)
    return sensor


def open_actuator(
    kind: str, place: str | Path | None = None, *, timeout_s: float | None = None
) -> Actuator:
    """Open an actuator by name, at its usual place or another; nothing is changed by that.

    `timeout_s` is how long one exchange with a device may take that must be waited for; an order
    takes a few of them.
    """
    actuator: Actuator = _opened("actuator", ACTUATORS, kind, place, timeout_s)
    return actuator


def sensors_here() -> tuple[dict[str, Sensor], dict[str, str]]:
    """The sensors that can be opened on this machine, and why the others cannot."""
    found, absent = {}, {}
    for kind in KINDS:
        try:
            found[kind] = open_sensor(kind)
        except InputError as error:
            absent[kind] = str(error)
    return found, absent


def _opened(
    what: str, kinds: Mapping[str, Kind], kind: str, place: str | Path | None,
    timeout_s: float | None,
) -> Any:
    if kind not in kinds:
        raise InputError(f"there is no kind of {what} '{kind}'; there are: {', '.join(kinds)}")
    entry = kinds[kind]
    module, _, name = entry.maker.partition(":")
    make = getattr(importlib.import_module(module), name)
    limit = {"timeout_s": timeout_s} if entry.waits and timeout_s is not None else {}
    return make(entry.place if place is None else str(place), **limit)
