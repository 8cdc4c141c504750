"""Redfish: which chassis stands in which, which systems are in it, and what feeds it.

The resources are files as a service gave them out: a folder of them (a mockup, a crawl), or one
file with a resource or a list of them. Nothing is asked of a network.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import read_text
from wattline.site.lines import refuse_name

MOST_BYTES = 64 * 2**20
MOST_FILES = 200_000


@dataclass(frozen=True)
class Chassis:
    """One chassis; links are addresses of resources (`@odata.id`)."""

    id: str
    kind: str = ""
    contains: tuple[str, ...] = ()
    contained_by: str = ""
    systems: tuple[str, ...] = ()
    powered_by: tuple[str, ...] = ()
    """What feeds it from outside; its own power supplies are not among them."""


@dataclass(frozen=True)
class Redfish:
    source: str
    chassis: Mapping[str, Chassis]
    hosts: Mapping[str, str]
    """Names of systems by address, where a resource has one."""
    remarks: tuple[str, ...] = ()


def read_redfish(path: str | Path) -> Redfish:
    """Read the chassis and systems of a folder or a file."""
    chassis: dict[str, Chassis] = {}
    hosts: dict[str, str] = {}
    places: dict[str, str] = {}
    nameless: list[str] = []
    for where, resource in _resources(Path(path)):
        kind = str(resource.get("@odata.type", ""))
        is_chassis = kind.startswith("#Chassis.") or "ChassisType" in resource
        if not is_chassis and not kind.startswith("#ComputerSystem."):
            continue
        address = str(resource.get("@odata.id", "")).rstrip("/")
        if not address:
            nameless.append(where)
            continue
        if address in places:
            raise InputError(f"{where}: {address} stands in {places[address]} too; read the "
                             "resources of one service at a time")
        places[address] = where
        refuse_name(last_of(address), where)
        if is_chassis:
            chassis[address] = _chassis(address, resource)
        elif resource.get("HostName"):
            refuse_name(str(resource["HostName"]), where)
            hosts[address] = str(resource["HostName"])
    if not chassis:
        raise InputError(f"{path}: has no chassis with an @odata.id")
    remarks = (f"{path}: {len(nameless)} chassis or systems without @odata.id were left out, such "
               f"as {nameless[0]}",) if nameless else ()
    return Redfish(str(path), chassis, hosts, remarks)


def last_of(address: str) -> str:
    """What a resource is called: the last part of its address."""
    return address.rstrip("/").rsplit("/", 1)[-1]


def _resources(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not files or len(files) > MOST_FILES:
        raise InputError(f"{path}: has {len(files):,} JSON files, must be 1 to {MOST_FILES:,}")
    for file in files:
        try:
            found = json.loads(read_text(file, MOST_BYTES))
        except (ValueError, RecursionError) as error:
            at = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise InputError(f"{file}{at}: not a JSON file") from None
        if isinstance(found, dict) and isinstance(found.get("Members"), list):
            found = found["Members"]
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, dict):
                yield str(file), each


def _chassis(address: str, given: Mapping[str, Any]) -> Chassis:
    links = given.get("Links")
    links = links if isinstance(links, dict) else {}
    above = tuple(_addresses([links.get("ContainedBy")]))
    return Chassis(
        address, str(given.get("ChassisType") or ""), tuple(_addresses(links.get("Contains"))),
        above[0] if above else "", tuple(_addresses(links.get("ComputerSystems"))),
        tuple(each for each in _addresses(links.get("PoweredBy"))
              if not each.startswith(address + "/")))


def _addresses(links: Any) -> Iterable[str]:
    for link in links if isinstance(links, list) else []:
        address = link.get("@odata.id") if isinstance(link, dict) else None
        if isinstance(address, str) and address.rstrip("/"):
            yield address.rstrip("/")
