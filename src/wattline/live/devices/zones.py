"""The zones of a powercap tree: folders such as `intel-rapl:0:1`."""

from __future__ import annotations

from pathlib import Path

from wattline.live.devices.files import text_in
from wattline.live.sensor import Domain
from wattline.model.errors import InputError

FOLDER = Path("/sys/class/powercap")

_DOMAINS: dict[str, Domain] = {
    "psys": "node", "package": "package", "core": "core", "uncore": "uncore", "dram": "memory",
}


def zones_of(folder: Path) -> list[Path]:
    """Every zone of a tree, in a fixed order."""
    found = [each for each in sorted(folder.glob("*")) if _is_zone(each)]
    if not found:
        raise InputError(f"{folder} has no powercap zones (folders with name and energy_uj)")
    return found


def channel_name(zone: Path) -> str:
    """What the zone calls itself; its number keeps equal names apart."""
    name = text_in(zone / "name")
    number = "-".join(zone.name.replace("_COLON_", ":").split(":")[1:])
    return f"{name}@{number}" if number else name


def domain_of(zone: Path) -> Domain:
    return _DOMAINS.get(text_in(zone / "name").split("-")[0], "other")


def _is_zone(folder: Path) -> bool:
    return (folder / "energy_uj").exists() and (folder / "name").exists()
