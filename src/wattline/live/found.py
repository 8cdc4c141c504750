"""Which sensors this machine has. A new kind of sensor is named here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from wattline.live.powercap import FOLDER, Powercap
from wattline.live.sensor import Sensor
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
